package dev.verbena.nessie.service;

import dev.verbena.staging.Arguments;

/**
 * How a server works.
 *
 * @param place number of this server among all, from 0
 * @param places number of servers that the arrays are spread over, 1 to 1024
 * @param memoryMax bytes of memory for pieces; those beyond move to disk
 * @param pieceMax longest piece, bytes, at most {@code memoryMax} and 1 GiB
 * @param versionsKept sealed versions of an array that stay, the newest; 0: all; one more at
 *     servers that are not sealed last
 * @param host where the listener for TCP listens
 * @param port its port; 0: any free one; -1: there is none
 */
public record ArrayServerOptions(
        int place,
        int places,
        long memoryMax,
        long pieceMax,
        int versionsKept,
        String host,
        int port) {
    private static final long PIECE_MAX = 1L << 30;

    /** One server, 1 GiB, pieces up to 256 MiB, all versions stay, no TCP. */
    public static final ArrayServerOptions DEFAULT =
            new ArrayServerOptions(0, 1, 1L << 30, 1L << 28, 0, "127.0.0.1", -1);

    /**
     * See the parameters.
     *
     * @throws IllegalArgumentException naming the value that is out of range
     */
    public ArrayServerOptions {
        Arguments.range("places", places, 1, 1024);
        Arguments.range("place", place, 0, places - 1);
        Arguments.range("memoryMax", memoryMax, 1, Long.MAX_VALUE);
        Arguments.range("pieceMax", pieceMax, 1, Math.min(memoryMax, PIECE_MAX));
        Arguments.range("versionsKept", versionsKept, 0, Integer.MAX_VALUE);
        Arguments.range("port", port, -1, 65_535);
    }

    /** Another place. */
    public ArrayServerOptions withPlace(int index, int count) {
        return new ArrayServerOptions(index, count, memoryMax, pieceMax, versionsKept, host, port);
    }

    /** Another bound of memory; pieces may be as long, up to 1 GiB. */
    public ArrayServerOptions withMemory(long bytes) {
        return new ArrayServerOptions(
                place, places, bytes, Math.min(bytes, PIECE_MAX), versionsKept, host, port);
    }

    /** Keeps so many sealed versions of each array. */
    public ArrayServerOptions withVersionsKept(int count) {
        return new ArrayServerOptions(place, places, memoryMax, pieceMax, count, host, port);
    }

    /** With a listener for TCP. */
    public ArrayServerOptions withDoor(String newHost, int newPort) {
        return new ArrayServerOptions(
                place, places, memoryMax, pieceMax, versionsKept, newHost, newPort);
    }
}
