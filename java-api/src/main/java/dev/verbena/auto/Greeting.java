package dev.verbena.auto;

import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What stands before a connect's private data: who asks.
 *
 * <pre>
 * 0  1  version (1)
 * 1  1  length of the address
 * 2     the address of the transport that asks
 * </pre>
 */
final class Greeting {
    private static final byte VERSION = 1;
    private static final int ADDRESS = 2;
    private static final int BYTE = 0xFF;

    private Greeting() {}

    /** Bytes before the private data. */
    static int length(URI address) {
        return ADDRESS + address.toString().length();
    }

    /** Writes it; answers its length. */
    static int write(MutableDirectBuffer buffer, URI address) {
        byte[] text = address.toString().getBytes(StandardCharsets.US_ASCII);
        buffer.putByte(0, VERSION);
        buffer.putByte(1, (byte) text.length);
        buffer.putBytes(ADDRESS, text);
        return ADDRESS + text.length;
    }

    /** Who asks, or null if that is no transport of {@code auto}. */
    static URI address(DirectBuffer buffer, int offset, int length) {
        if (length < ADDRESS || buffer.getByte(offset) != VERSION) {
            return null;
        }
        int size = buffer.getByte(offset + 1) & BYTE;
        if (size > length - ADDRESS) {
            return null;
        }
        byte[] text = new byte[size];
        buffer.getBytes(offset + ADDRESS, text);
        try {
            return AutoAddress.of(URI.create(new String(text, StandardCharsets.US_ASCII))).uri();
        } catch (IllegalArgumentException e) {
            return null;
        }
    }
}
