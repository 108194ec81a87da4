package dev.verbena.agent;

/**
 * What happens to messages and peers, one call each, for a recorder. {@link RealEnvironment} hands
 * it to JDK Flight Recorder; nothing is written, and nothing allocated, while no recording wants
 * it.
 *
 * <p>Times are nanoseconds, lengths bytes. Any thread.
 */
public interface StagingEvents {
    /** Drops everything. */
    StagingEvents NONE = new StagingEvents() {};

    /**
     * A client has handed over a message.
     *
     * @param waitNs what the call waited for an earlier message
     * @param callNs what the call took
     */
    default void sent(int client, long length, long waitNs, long callNs) {}

    /** A server has read a part of a message out of a client's memory. */
    default void pulled(int client, long sequence, long length, long pullNs) {}

    /**
     * A server's buffer is free again: the receiver has acknowledged the part.
     *
     * @param queueNs from the end of its pull until its first byte was written
     * @param streamNs from then until it was acknowledged
     */
    default void streamed(int client, long sequence, long length, long queueNs, long streamNs) {}

    /** A server has put a part onto its own disk, because the receiver does not take it. */
    default void spilled(int client, long sequence, long length) {}

    /** A receiver has a whole message; with a folder, on its disk. */
    default void received(int client, long sequence, long length) {}

    /** A client is registered with the server that serves it. */
    default void registered(int client, int server) {}

    /**
     * A peer died, froze or went.
     *
     * @param who for people
     */
    default void peerLost(String who, String reason) {}

    /** Something went to the error handler. */
    default void error(Throwable error) {}
}
