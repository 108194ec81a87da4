package dev.verbena.staging;

/**
 * Distribution of times in nanoseconds: 32 buckets to each doubling, so values are kept to about 3
 * %. Fixed size, no allocation to record. One thread.
 */
public final class Durations {
    private static final int SUB_BITS = 5;
    private static final int SUB_COUNT = 1 << SUB_BITS;

    private final long[] counts;
    private long count;
    private long total;
    private long max;

    /** Empty. */
    public Durations() {
        this(true);
    }

    /**
     * @param isDistribution false: count, sum and largest value only, in 15 KiB less
     */
    public Durations(boolean isDistribution) {
        counts = new long[isDistribution ? (64 - SUB_BITS) * SUB_COUNT + SUB_COUNT : 0];
    }

    /** Counts one value; a negative one counts as 0. */
    public void record(long valueNs) {
        long value = Math.max(0, valueNs);
        if (counts.length > 0) {
            counts[index(value)]++;
        }
        count++;
        total += value;
        max = Math.max(max, value);
    }

    /** Number of values. */
    public long count() {
        return count;
    }

    /** Sum of all values, ns. */
    public long totalNs() {
        return total;
    }

    /** Largest value, ns; 0 if there is none. */
    public long maxNs() {
        return max;
    }

    /** Mean, ns; 0 if there is no value. */
    public double meanNs() {
        return count == 0 ? 0 : (double) total / count;
    }

    /**
     * The value that this share of all values does not exceed, to about 3 %; without a distribution
     * the largest.
     *
     * @param percentile 0 to 100
     */
    public long percentileNs(double percentile) {
        if (percentile < 0 || percentile > 100) {
            throw new IllegalArgumentException("percentile " + percentile + " is outside 0 to 100");
        }
        long wanted = Math.max(1, (long) Math.ceil(count * percentile / 100));
        long seen = 0;
        for (int i = 0; i < counts.length && count > 0; i++) {
            seen += counts[i];
            if (seen >= wanted) {
                return Math.min(upper(i), max);
            }
        }
        return max;
    }

    /** Forgets everything. */
    public void reset() {
        java.util.Arrays.fill(counts, 0);
        count = 0;
        total = 0;
        max = 0;
    }

    private static int index(long value) {
        if (value < SUB_COUNT) {
            return (int) value;
        }
        int shift = 63 - Long.numberOfLeadingZeros(value) - SUB_BITS;
        return (shift + 1) * SUB_COUNT + (int) (value >>> shift) - SUB_COUNT;
    }

    private static long upper(int index) {
        if (index < SUB_COUNT) {
            return index;
        }
        int shift = index / SUB_COUNT - 1;
        return ((long) (SUB_COUNT + index % SUB_COUNT + 1) << shift) - 1;
    }
}
