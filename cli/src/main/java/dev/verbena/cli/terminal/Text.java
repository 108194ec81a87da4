package dev.verbena.cli.terminal;

import java.util.Locale;

/** Text that is the same in every country: a point, never a comma, before decimals. */
public final class Text {
    private Text() {}

    /** As {@link String#format(String, Object...)}, whatever the user's locale. */
    public static String format(String pattern, Object... values) {
        return String.format(Locale.ROOT, pattern, values);
    }
}
