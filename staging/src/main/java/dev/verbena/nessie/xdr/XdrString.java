package dev.verbena.nessie.xdr;

import java.nio.charset.StandardCharsets;

/**
 * A string; its bound and {@link #count} are in bytes. RFC 4506 has ASCII; other characters are
 * encoded as UTF-8.
 */
public class XdrString extends XdrOpaque {
    /** An empty string of at most so many bytes. */
    public XdrString(int countMax) {
        super(false, countMax);
    }

    /**
     * Replaces the text. ASCII is encoded without garbage.
     *
     * @throws IllegalArgumentException if it has more bytes than the bound
     */
    public final void text(String text) {
        int length = text.length();
        for (int i = 0; i < length; i++) {
            if (text.charAt(i) > 0x7F) {
                set(text.getBytes(StandardCharsets.UTF_8));
                return;
            }
        }
        resize(length);
        elements.putStringWithoutLengthAscii(0, text);
    }

    /** The text, a new string; malformed UTF-8 becomes U+FFFD. */
    public final String text() {
        return new String(toArray(), StandardCharsets.UTF_8);
    }

    @Override
    protected final void xdrDescribe(StringBuilder text) {
        text.append('"').append(text()).append('"');
    }
}
