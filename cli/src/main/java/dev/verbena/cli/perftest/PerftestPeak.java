package dev.verbena.cli.perftest;

/** The best stretch between the start of some messages and the completion of some. */
final class PerftestPeak {
    private static final int POINTS_MAX = 2000;

    private final long[] starts = new long[POINTS_MAX];
    private final long[] startCounts = new long[POINTS_MAX];
    private final long[] ends = new long[POINTS_MAX];
    private final long[] endCounts = new long[POINTS_MAX];
    private int startCount;
    private int endCount;
    private long posted;

    void clear() {
        startCount = 0;
        endCount = 0;
        posted = 0;
    }

    /**
     * Messages are posted, on any queue.
     *
     * @param isStart a stretch may begin with them
     */
    void post(boolean isStart, int messages) {
        if (isStart && startCount < POINTS_MAX) {
            starts[startCount] = System.nanoTime();
            startCounts[startCount++] = posted;
        }
        posted += messages;
    }

    /** So many messages are complete now. */
    void noteEnd(long messages) {
        if (endCount < POINTS_MAX) {
            ends[endCount] = System.nanoTime();
            endCounts[endCount++] = messages;
        }
    }

    /**
     * The greatest rate.
     *
     * @param least messages that a stretch has
     */
    double messagesPerSecond(long least) {
        double best = 0;
        for (int i = 0; i < startCount; i++) {
            for (int j = 0; j < endCount; j++) {
                long messages = endCounts[j] - startCounts[i];
                if (messages >= least) {
                    best = Math.max(best, messages * 1e9 / (ends[j] - starts[i]));
                }
            }
        }
        return best;
    }
}
