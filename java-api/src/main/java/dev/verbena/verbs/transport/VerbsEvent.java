package dev.verbena.verbs.transport;

/**
 * Something about a connection that waits for {@code poll}.
 *
 * @param after number of the completion that must be delivered before
 * @param privateData of a request, else null
 */
record VerbsEvent(
        Kind kind,
        VerbsConnection connection,
        long after,
        int status,
        String reason,
        byte[] privateData) {
    /** Which method of the handler. */
    enum Kind {
        REQUEST,
        CONNECTED,
        FAILED,
        DISCONNECTED,
        LOST
    }
}
