package dev.verbena.dart;

/**
 * What sending cost a process. Times of the paper: th = sending the header, tw = waiting for an
 * earlier message, tt = the whole call. Live: one thread, the client's.
 */
public final class DartStatistics {
    private final TimeHistogram headerTime;
    private final TimeHistogram waitTime;
    private final TimeHistogram totalTime;
    long messageCount;
    long byteCount;
    long blockedCount;
    long headerResendCount;
    long failedCount;

    DartStatistics(boolean isDistribution) {
        headerTime = new TimeHistogram(isDistribution);
        waitTime = new TimeHistogram(isDistribution);
        totalTime = new TimeHistogram(isDistribution);
    }

    /** th: time to post the header. */
    public TimeHistogram headerTime() {
        return headerTime;
    }

    /** tw: time waiting for an earlier message; 0 is recorded for a send that did not wait. */
    public TimeHistogram waitTime() {
        return waitTime;
    }

    /** tt: time in the send call. */
    public TimeHistogram totalTime() {
        return totalTime;
    }

    /** Messages accepted. */
    public long messageCount() {
        return messageCount;
    }

    /** Payload bytes accepted. */
    public long byteCount() {
        return byteCount;
    }

    /** Sends that had to wait. */
    public long blockedCount() {
        return blockedCount;
    }

    /** Headers sent again because the server did not show that it has them. */
    public long headerResendCount() {
        return headerResendCount;
    }

    /** Messages that failed. */
    public long failedCount() {
        return failedCount;
    }
}
