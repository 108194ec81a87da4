package dev.verbena.flesnet.dfs;

/**
 * What is measured of an interval, or proposed for it. A mutable holder, reusable without
 * allocation; times in nanoseconds on the input's clock. One thread at a time.
 */
public final class IntervalMetadata {
    private long interval;
    private int rounds;
    private long first;
    private long last;
    private long startNs;
    private long durationNs;

    /** Of nothing until it is set. */
    public IntervalMetadata() {}

    /** Sets all fields. */
    public IntervalMetadata set(
            long number,
            int roundCount,
            long firstTimeslice,
            long lastTimeslice,
            long start,
            long duration) {
        interval = number;
        rounds = roundCount;
        first = firstTimeslice;
        last = lastTimeslice;
        startNs = start;
        durationNs = duration;
        return this;
    }

    /** Number of the interval. */
    public long interval() {
        return interval;
    }

    /** Its rounds. */
    public int rounds() {
        return rounds;
    }

    /** Its first timeslice. */
    public long first() {
        return first;
    }

    /** Its last timeslice. */
    public long last() {
        return last;
    }

    /** When it began or is to begin. */
    public long startNs() {
        return startNs;
    }

    /** How long it took or is to take. */
    public long durationNs() {
        return durationNs;
    }

    /** Sets how long it took or is to take. */
    public IntervalMetadata durationNs(long value) {
        durationNs = value;
        return this;
    }
}
