package dev.verbena.dart.client;

import dev.verbena.dart.DartStatistics;
import dev.verbena.dart.TimeHistogram;

/** Counted by the client's thread. */
final class ClientStatistics implements DartStatistics {
    private final TimeHistogram headerTime;
    private final TimeHistogram waitTime;
    private final TimeHistogram totalTime;
    private long messageCount;
    private long byteCount;
    private long blockedCount;
    private long headerResendCount;
    private long failedCount;

    ClientStatistics(boolean isDistribution) {
        headerTime = new TimeHistogram(isDistribution);
        waitTime = new TimeHistogram(isDistribution);
        totalTime = new TimeHistogram(isDistribution);
    }

    /** A message of this length was accepted. */
    void accepted(long length) {
        messageCount++;
        byteCount += length;
    }

    void blocked() {
        blockedCount++;
    }

    void headerResent() {
        headerResendCount++;
    }

    void failed() {
        failedCount++;
    }

    @Override
    public TimeHistogram headerTime() {
        return headerTime;
    }

    @Override
    public TimeHistogram waitTime() {
        return waitTime;
    }

    @Override
    public TimeHistogram totalTime() {
        return totalTime;
    }

    @Override
    public long messageCount() {
        return messageCount;
    }

    @Override
    public long byteCount() {
        return byteCount;
    }

    @Override
    public long blockedCount() {
        return blockedCount;
    }

    @Override
    public long headerResendCount() {
        return headerResendCount;
    }

    @Override
    public long failedCount() {
        return failedCount;
    }
}
