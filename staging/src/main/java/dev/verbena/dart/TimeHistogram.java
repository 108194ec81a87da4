package dev.verbena.dart;

import dev.verbena.staging.Durations;

/**
 * Distribution of times in nanoseconds: 32 buckets to each doubling, so values are kept to about 3
 * %. Fixed size, no allocation to record. One thread.
 */
public final class TimeHistogram {
    private final Durations durations;

    /** Empty. */
    public TimeHistogram() {
        this(true);
    }

    /**
     * @param isDistribution false: count, sum and largest value only, in 15 KiB less
     */
    public TimeHistogram(boolean isDistribution) {
        durations = new Durations(isDistribution);
    }

    /** Counts one value; a negative one counts as 0. */
    public void record(long valueNs) {
        durations.record(valueNs);
    }

    /** Number of values. */
    public long count() {
        return durations.count();
    }

    /** Sum of all values, ns. */
    public long totalNs() {
        return durations.totalNs();
    }

    /** Largest value, ns; 0 if there is none. */
    public long maxNs() {
        return durations.maxNs();
    }

    /** Mean, ns; 0 if there is no value. */
    public double meanNs() {
        return durations.meanNs();
    }

    /**
     * The value that this share of all values does not exceed, to about 3 %; without a distribution
     * ({@link DartClient.Context#distributions}) the largest.
     *
     * @param percentile 0 to 100
     */
    public long percentileNs(double percentile) {
        return durations.percentileNs(percentile);
    }

    /** Forgets everything. */
    public void reset() {
        durations.reset();
    }
}
