package dev.verbena.shm;

import java.net.URI;

/** The parts of {@code shm://job/name?incarnation=hex}. */
record ShmAddress(String job, String name, long incarnation) {
    private static final String QUERY = "incarnation=";
    private static final int HEX = 16;

    /**
     * Takes a URI apart.
     *
     * @throws IllegalArgumentException naming what is wrong with it
     */
    static ShmAddress of(URI uri) {
        String path = uri.getPath();
        if (!ShmTransportProvider.SCHEME.equals(uri.getScheme())
                || uri.getAuthority() == null
                || path == null
                || !path.matches("/[A-Za-z0-9._-]{1,63}")) {
            throw new IllegalArgumentException(
                    "'" + uri + "' is not of the form shm://job/name?incarnation=hex");
        }
        long incarnation = 0;
        String query = uri.getQuery();
        if (query != null) {
            if (!query.matches(QUERY + "[0-9a-f]{1,16}")) {
                throw new IllegalArgumentException(
                        "'%s': the query must be incarnation=, up to 16 hexadecimal digits"
                                .formatted(uri));
            }
            incarnation = Long.parseUnsignedLong(query.substring(QUERY.length()), HEX);
        }
        return new ShmAddress(uri.getAuthority(), path.substring(1), incarnation);
    }

    URI uri() {
        return URI.create(
                "shm://" + job + "/" + name + "?" + QUERY + Long.toHexString(incarnation));
    }
}
