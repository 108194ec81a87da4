package dev.verbena.flesnet.dfs;

import java.util.Arrays;

/**
 * Which timeslices an interval has: whole rounds, one interval after the other (section 5.1). After
 * compute nodes have failed, intervals that begin with the new assignment have shorter rounds. One
 * thread.
 */
public final class IntervalRanges {
    private final int perInterval;
    private long[] firstIntervals = {0};
    private long[] firstTimeslices = {0};
    private int[] actives;

    /** For so many compute nodes. */
    public IntervalRanges(int timeslicesPerInterval, int active) {
        perInterval = timeslicesPerInterval;
        actives = new int[] {active};
    }

    /** Rounds of an interval with so many compute nodes. */
    public static int rounds(int timeslicesPerInterval, int active) {
        return Math.max(1, timeslicesPerInterval / active);
    }

    /**
     * From the first interval on that begins at this timeslice or later, rounds have another
     * length.
     */
    public void change(long timeslice, int active) {
        long interval = intervalOf(timeslice);
        if (first(interval) < timeslice) {
            interval++;
        }
        long first = first(interval);
        int keep = actives.length;
        while (keep > 1 && firstIntervals[keep - 1] >= interval) {
            keep--;
        }
        boolean isFirst = interval == 0;
        int n = isFirst ? 0 : keep;
        firstIntervals = Arrays.copyOf(firstIntervals, n + 1);
        firstTimeslices = Arrays.copyOf(firstTimeslices, n + 1);
        actives = Arrays.copyOf(actives, n + 1);
        firstIntervals[n] = interval;
        firstTimeslices[n] = first;
        actives[n] = active;
    }

    private int piece(long interval) {
        int i = actives.length - 1;
        while (i > 0 && firstIntervals[i] > interval) {
            i--;
        }
        return i;
    }

    /** Rounds of an interval. */
    public int rounds(long interval) {
        return rounds(perInterval, active(interval));
    }

    /** Compute nodes that a round of this interval visits. */
    public int active(long interval) {
        return actives[piece(interval)];
    }

    /** Timeslices of an interval. */
    public int length(long interval) {
        return rounds(interval) * active(interval);
    }

    /** First timeslice of an interval. */
    public long first(long interval) {
        int i = piece(interval);
        int length = rounds(perInterval, actives[i]) * actives[i];
        return firstTimeslices[i] + (interval - firstIntervals[i]) * length;
    }

    /** Last timeslice of an interval. */
    public long last(long interval) {
        return first(interval) + length(interval) - 1;
    }

    /** The interval that has a timeslice. */
    public long intervalOf(long timeslice) {
        int i = actives.length - 1;
        while (i > 0 && firstTimeslices[i] > timeslice) {
            i--;
        }
        int length = rounds(perInterval, actives[i]) * actives[i];
        return firstIntervals[i] + (timeslice - firstTimeslices[i]) / length;
    }
}
