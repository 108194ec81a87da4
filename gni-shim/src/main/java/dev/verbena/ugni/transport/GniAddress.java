package dev.verbena.ugni.transport;

import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of {@code gni://host:port/name?ptag=n&cookie=n&incarnation=hex}. The port is the number
 * of the instance within the protection domain.
 *
 * @param name empty: whoever is there
 * @param ptag protection tag; -1: not said
 * @param cookie -1: not said
 * @param incarnation 0: any
 */
record GniAddress(String host, int port, String name, int ptag, long cookie, long incarnation) {
    static final String FORM = "gni://host:port/name?ptag=n&cookie=n&incarnation=hex";

    static final int PORT_MAX = 65_535;

    private static final Pattern PATTERN =
            Pattern.compile(
                    "gni://([A-Za-z0-9._-]{1,255}):([0-9]{1,5})(?:/([A-Za-z0-9._-]{0,63}))?"
                            + "(?:\\?([a-z]+=[0-9a-fx]+(?:&[a-z]+=[0-9a-fx]+)*))?");
    private static final int HEX = 16;

    /**
     * Takes a URI apart.
     *
     * @throws IllegalArgumentException naming the form, or the part that does not fit
     */
    static GniAddress of(URI uri) {
        Matcher matcher = PATTERN.matcher(uri.toString());
        if (!matcher.matches()) {
            throw malformed(uri, "it");
        }
        int port = Integer.parseInt(matcher.group(2));
        if (port < 1 || port > PORT_MAX) {
            throw malformed(uri, "port " + port);
        }
        int ptag = -1;
        long cookie = -1;
        long incarnation = 0;
        String query = matcher.group(4) == null ? "" : matcher.group(4);
        for (String part : query.isEmpty() ? new String[0] : query.split("&")) {
            String value = part.substring(part.indexOf('=') + 1);
            try {
                switch (part.substring(0, part.indexOf('='))) {
                    case "ptag" -> ptag = ptag(value);
                    case "cookie" -> cookie = cookie(value);
                    case "incarnation" -> incarnation = Long.parseUnsignedLong(value, HEX);
                    default -> throw malformed(uri, part);
                }
            } catch (NumberFormatException e) {
                throw malformed(uri, part);
            }
        }
        String name = matcher.group(3) == null ? "" : matcher.group(3);
        return new GniAddress(matcher.group(1), port, name, ptag, cookie, incarnation);
    }

    private static IllegalArgumentException malformed(URI uri, String what) {
        return new IllegalArgumentException(
                "'" + uri + "' is not of the form " + FORM + ": " + what + " does not fit");
    }

    /**
     * A protection tag, decimal or 0x and hexadecimal digits.
     *
     * @throws NumberFormatException if it is none
     */
    static int ptag(String text) {
        int ptag = Integer.decode(text);
        if (ptag < 0 || ptag > 255) {
            throw new NumberFormatException("ptag " + text + " is outside 0 to 255");
        }
        return ptag;
    }

    /**
     * A cookie of 32 bits, decimal or 0x and hexadecimal digits.
     *
     * @throws NumberFormatException if it is none
     */
    static long cookie(String text) {
        long cookie = Long.decode(text);
        if (cookie < 0 || cookie > 0xFFFF_FFFFL) {
            throw new NumberFormatException("cookie " + text + " is outside 0 to 4294967295");
        }
        return cookie;
    }

    URI uri() {
        return URI.create(
                "gni://"
                        + host
                        + ":"
                        + port
                        + "/"
                        + name
                        + "?ptag="
                        + ptag
                        + "&cookie="
                        + cookie
                        + "&incarnation="
                        + Long.toHexString(incarnation));
    }
}
