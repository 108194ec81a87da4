package dev.verbena.auto;

import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of {@code auto://host:port/name?h=mark&o=provider&incarnation=hex}. Host and port are
 * those of {@code ofi}; short, because protocols limit addresses (DART to 80 characters).
 *
 * @param name within the job
 * @param mark see {@link HostMark}; empty: no {@code shm} there
 * @param ofi host and port of {@code ofi}; empty: there is none
 * @param provider of libfabric, with {@code :endpoint} where it has no socket addresses
 * @param use the only part that is to be used; empty: any
 * @param incarnation 0: any
 */
record AutoAddress(
        String name, String mark, String ofi, String provider, String use, long incarnation) {
    static final String FORM = "auto://host:port/name?h=mark&o=provider&incarnation=hex";
    static final String NO_HOST = "local:0";
    static final String USUAL_PROVIDER = "tcp";

    private static final int HEX = 16;
    private static final String HOST =
            "(?:[A-Za-z0-9._-]{1,255}|\\[[0-9A-Fa-f:.]{2,45}\\]):[0-9]{1,5}";
    private static final Pattern PATTERN =
            Pattern.compile(
                    "auto://("
                            + HOST
                            + ")/([A-Za-z0-9._-]{1,63})(?:\\?([a-z]+=[^&=?]+"
                            + "(?:&[a-z]+=[^&=?]+)*))?");

    /**
     * Takes a URI apart.
     *
     * @throws IllegalArgumentException naming the form, or the part that does not fit
     */
    static AutoAddress of(URI uri) {
        Matcher matcher = PATTERN.matcher(uri.toString());
        if (!matcher.matches()) {
            throw malformed(uri, "it");
        }
        String mark = "";
        String provider = USUAL_PROVIDER;
        String use = "";
        long incarnation = 0;
        String query = matcher.group(3) == null ? "" : matcher.group(3);
        for (String part : query.isEmpty() ? new String[0] : query.split("&")) {
            String value = part.substring(part.indexOf('=') + 1);
            switch (part.substring(0, part.indexOf('='))) {
                case "h" -> mark = require(uri, value, "[0-9a-f]{8}");
                case "o" -> provider = require(uri, value, "[a-z0-9_+]+(:[0-9a-f]+)?");
                case "use" -> use = require(uri, value, "shm|ofi");
                case "incarnation" ->
                        incarnation =
                                Long.parseUnsignedLong(require(uri, value, "[0-9a-f]{1,16}"), HEX);
                default -> throw malformed(uri, part);
            }
        }
        boolean hasOfi = !matcher.group(1).equals(NO_HOST) || provider.indexOf(':') >= 0;
        return new AutoAddress(
                matcher.group(2), mark, hasOfi ? matcher.group(1) : "", provider, use, incarnation);
    }

    private static String require(URI uri, String value, String form) {
        if (!value.matches(form)) {
            throw malformed(uri, value);
        }
        return value;
    }

    private static IllegalArgumentException malformed(URI uri, String what) {
        return new IllegalArgumentException(
                "'" + uri + "' is not of the form " + FORM + ": " + what + " does not fit");
    }

    /** With the address of {@code ofi}, as that provider writes it. */
    AutoAddress withOfi(URI uri) {
        String provider = USUAL_PROVIDER;
        String endpoint = "";
        for (String part : uri.getQuery().split("&")) {
            String value = part.substring(part.indexOf('=') + 1);
            if (part.startsWith("provider=")) {
                provider = value;
            } else if (part.startsWith("endpoint=")) {
                endpoint = ":" + value;
            }
        }
        return new AutoAddress(
                name, mark, uri.getAuthority(), provider + endpoint, use, incarnation);
    }

    /** Of the part {@code shm}. */
    URI shmUri(String job) {
        return URI.create("shm://" + job + "/" + name + incarnationAfter("?"));
    }

    /** Of the part {@code ofi}. */
    URI ofiUri() {
        String query = provider.replace(":", "&endpoint=");
        return URI.create(
                "ofi://" + ofi + "/" + name + "?provider=" + query + incarnationAfter("&"));
    }

    private String incarnationAfter(String mark) {
        return incarnation == 0 ? "" : mark + "incarnation=" + Long.toHexString(incarnation);
    }

    URI uri() {
        StringBuilder query = new StringBuilder();
        add(query, "h", mark);
        add(query, "o", provider.equals(USUAL_PROVIDER) ? "" : provider);
        add(query, "use", use);
        add(query, "incarnation", incarnation == 0 ? "" : Long.toHexString(incarnation));
        return URI.create("auto://" + (ofi.isEmpty() ? NO_HOST : ofi) + "/" + name + query);
    }

    private static void add(StringBuilder query, String key, String value) {
        if (!value.isEmpty()) {
            query.append(query.isEmpty() ? '?' : '&').append(key).append('=').append(value);
        }
    }
}
