package dev.verbena.cli.perftest;

/**
 * A time for which is measured: from its begin some seconds on which nothing is counted, then the
 * sample, then once more as many seconds as at first. One thread.
 */
final class PerftestDuration {
    /** Never over; counts nothing. */
    static final PerftestDuration WITHOUT_TIME = new PerftestDuration(0, 0);

    private static final long NS_PER_SECOND = 1_000_000_000L;

    private final long durationNs;
    private final long marginNs;
    private long beginNs;
    private boolean hasBegun;
    private long counted;

    PerftestDuration(int durationSeconds, int marginSeconds) {
        durationNs = durationSeconds * NS_PER_SECOND;
        marginNs = marginSeconds * NS_PER_SECOND;
    }

    void begin(long nowNs) {
        beginNs = nowNs;
        hasBegun = durationNs > 0;
    }

    boolean isOver() {
        return hasBegun && System.nanoTime() - beginNs >= durationNs;
    }

    /** Messages that are complete now. */
    void count(long messages) {
        if (hasBegun) {
            long sinceNs = System.nanoTime() - beginNs;
            if (sinceNs >= marginNs && sinceNs < durationNs - marginNs) {
                counted += messages;
            }
        }
    }

    /** Messages in the sample. */
    long counted() {
        return counted;
    }

    long sampleNs() {
        return durationNs - 2 * marginNs;
    }
}
