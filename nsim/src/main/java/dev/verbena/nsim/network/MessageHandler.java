package dev.verbena.nsim.network;

/**
 * Receives arrivals and completions of messages. Called while events are processed; may submit new
 * messages.
 */
public interface MessageHandler {
    /** All bytes are in the memory that they were meant for: a put's target, a get's initiator. */
    void onData(long timePs, int message);

    /**
     * The initiator knows that it is done: a put's control packet has come, a get's data are here.
     * The message's row is used again afterwards.
     */
    void onComplete(long timePs, int message);
}
