package dev.verbena.verbs.transport;

import java.net.URI;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The parts of {@code verbs://host:port/job/name?incarnation=hex}. */
record VerbsAddress(String host, int port, String job, String name, long incarnation) {
    /** Longest text that a peer may call itself by. */
    static final int LENGTH_MAX = 512;

    private static final Pattern PATH =
            Pattern.compile("/([A-Za-z0-9._-]{1,63})/([A-Za-z0-9._-]{1,63})");
    private static final Pattern QUERY = Pattern.compile("incarnation=([0-9a-f]{1,16})");
    private static final Pattern NUMBERS = Pattern.compile("\\[.*]|[0-9.]+");
    private static final int HEX = 16;
    private static final int PORT_MAX = 65_535;

    /**
     * Takes a URI apart. An incarnation that is not given is 0: any.
     *
     * @throws IllegalArgumentException naming what is wrong with it
     */
    static VerbsAddress of(URI uri) {
        Matcher path = PATH.matcher(uri.getPath() == null ? "" : uri.getPath());
        if (!VerbsTransportProvider.SCHEME.equals(uri.getScheme())
                || uri.getHost() == null
                || uri.getPort() < 1
                || uri.getPort() > PORT_MAX
                || !path.matches()) {
            throw new IllegalArgumentException(
                    "'" + uri + "' is not of the form verbs://host:port/job/name?incarnation=hex");
        }
        long incarnation = 0;
        if (uri.getQuery() != null) {
            Matcher query = QUERY.matcher(uri.getQuery());
            if (!query.matches()) {
                throw new IllegalArgumentException(
                        "'%s': the query must be incarnation=, up to 16 hexadecimal digits"
                                .formatted(uri));
            }
            incarnation = Long.parseUnsignedLong(query.group(1), HEX);
        }
        return new VerbsAddress(
                uri.getHost(), uri.getPort(), path.group(1), path.group(2), incarnation);
    }

    URI uri() {
        return URI.create(
                "verbs://%s:%s/%s/%s?incarnation=%x".formatted(host, port, job, name, incarnation));
    }

    /** Whether the host is a name, which has to be looked up. */
    boolean isNamed() {
        return !NUMBERS.matcher(host).matches();
    }
}
