package dev.verbena.nsim.program;

/** Receives arrivals and completions of messages, in the order of virtual time. */
@FunctionalInterface
public interface MessageTrace {
    /**
     * Something happened.
     *
     * @param event {@code arrived}: all bytes are in the memory that they were meant for; {@code
     *     completed}: the initiator knows
     * @param kind {@code put} or {@code get}
     * @param from the rank that asked
     * @param to the rank at the other end
     * @param issuedPs when it was asked for
     * @param firstInPs when its first packet was in memory, or -1
     */
    void onMessage(
            long timePs,
            String event,
            String kind,
            int from,
            int to,
            long bytes,
            int tag,
            long issuedPs,
            long firstInPs);
}
