package dev.verbena.dart;

/**
 * What sending cost a process. Times of the paper: th = sending the header, tw = waiting for an
 * earlier message, tt = the whole call. Live: one thread, the client's.
 */
public interface DartStatistics {
    /** th: time to post the header. */
    TimeHistogram headerTime();

    /** tw: time waiting for an earlier message; 0 is recorded for a send that did not wait. */
    TimeHistogram waitTime();

    /** tt: time in the send call. */
    TimeHistogram totalTime();

    /** Messages accepted. */
    long messageCount();

    /** Payload bytes accepted. */
    long byteCount();

    /** Sends that had to wait. */
    long blockedCount();

    /** Headers sent again because the server did not show that it has them. */
    long headerResendCount();

    /** Messages that failed. */
    long failedCount();
}
