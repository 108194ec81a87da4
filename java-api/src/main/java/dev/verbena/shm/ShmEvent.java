package dev.verbena.shm;

/**
 * An event about a connection that waits for {@code poll}.
 *
 * @param kind what happened
 * @param connection to which it happened
 * @param after number of the completion that must be delivered first
 * @param status a {@code Status}, for {@code FAILED} and {@code LOST}
 * @param reason in words; empty without a failure
 * @param privateData of a request; null for the others
 */
record ShmEvent(
        Kind kind,
        ShmConnection connection,
        long after,
        int status,
        String reason,
        byte[] privateData) {
    enum Kind {
        REQUEST,
        CONNECTED,
        FAILED,
        DISCONNECTED,
        LOST
    }
}
