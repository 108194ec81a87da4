package dev.verbena.flesnet.dfs;

/**
 * Measured intervals of all inputs, and of each complete one its unified start and duration
 * (section 5.2). Intervals complete in order. Keeps the latest {@code 2 * history + 8}. One thread;
 * allocates nothing after it was made.
 */
public final class HistoryManager {
    private static final byte REPORTED = 1;

    private final int inputs;
    private final int window;
    private final long[] starts;
    private final long[] durations;
    private final byte[] reported;
    private final int[] counts;
    private final long[] unifiedStarts;
    private final long[] unifiedDurations;
    private final boolean[] isGone;
    private final long[] scratch;
    private final boolean[] isSeen;
    private int seenCount;
    private int live;
    private long base;
    private long completed = -1;

    /** For so many inputs and so many intervals of history. */
    public HistoryManager(int inputs, int history) {
        this.inputs = inputs;
        this.window = 2 * history + 8;
        starts = new long[window * inputs];
        durations = new long[window * inputs];
        reported = new byte[window * inputs];
        counts = new int[window];
        unifiedStarts = new long[window];
        unifiedDurations = new long[window];
        isGone = new boolean[inputs];
        isSeen = new boolean[inputs];
        scratch = new long[Math.max(inputs, window)];
        live = inputs;
    }

    /**
     * Takes the first report of an input for an interval; repeats, and intervals that are complete
     * or too far ahead, change nothing.
     *
     * @param startNs in own time
     * @return whether it was taken
     */
    public boolean record(int input, long interval, long startNs, long durationNs) {
        see(input, interval);
        boolean isWanted = interval > completed && hasRoom(interval);
        int at = slot(interval) * inputs + input;
        if (!isWanted || interval < base || isGone[input] || reported[at] == REPORTED) {
            return false;
        }
        reported[at] = REPORTED;
        starts[at] = startNs;
        durations[at] = durationNs;
        counts[slot(interval)]++;
        return true;
    }

    private boolean hasRoom(long interval) {
        return interval - Math.max(completed, base) < window - 1;
    }

    /** A history that begins late begins with the first interval that all inputs will report. */
    private void see(int input, long interval) {
        if (isSeen[input] || isGone[input]) {
            return;
        }
        isSeen[input] = true;
        seenCount++;
        if (completed < 0 && interval > base && interval >= 0) {
            for (long gone = base; gone < interval && gone - base < window; gone++) {
                clear(slot(gone));
            }
            base = interval;
        }
    }

    /** An input is lost: intervals are complete without it. */
    public void remove(int input) {
        if (!isGone[input]) {
            isGone[input] = true;
            live--;
            seenCount -= isSeen[input] ? 1 : 0;
            for (int slot = 0; slot < window; slot++) {
                int at = slot * inputs + input;
                counts[slot] -= reported[at];
                reported[at] = 0;
            }
        }
    }

    /** Completes the next interval, if all live inputs have reported it. */
    public boolean completeNext() {
        long next = Math.max(completed + 1, base);
        int slot = slot(next);
        if (live == 0 || seenCount < live || counts[slot] < live) {
            return false;
        }
        complete(next, slot);
        return true;
    }

    /**
     * Completes the next interval, if it was reported at all and this one has no room before: the
     * inputs that have not reported it by now have missed it (section 8).
     */
    public boolean completeMissed(int input, long interval) {
        see(input, interval);
        long next = Math.max(completed + 1, base);
        int slot = slot(next);
        if (isGone[input] || hasRoom(interval) || counts[slot] == 0) {
            return false;
        }
        complete(next, slot);
        return true;
    }

    private void complete(long next, int slot) {
        int from = slot * inputs;
        unifiedStarts[slot] = Medians.mean(scratch, gather(starts, from));
        unifiedDurations[slot] = Medians.of(scratch, gather(durations, from));
        completed = next;
        clear(slot(next + window - 1));
    }

    private int gather(long[] values, int from) {
        int count = 0;
        for (int i = 0; i < inputs; i++) {
            if (reported[from + i] == REPORTED) {
                scratch[count++] = values[from + i];
            }
        }
        return count;
    }

    private void clear(int slot) {
        counts[slot] = 0;
        for (int i = 0; i < inputs; i++) {
            reported[slot * inputs + i] = 0;
        }
    }

    private int slot(long interval) {
        return (int) Math.floorMod(interval, (long) window);
    }

    /** The last complete interval; -1: none. */
    public long completed() {
        return completed;
    }

    /** The first interval of this history. */
    public long base() {
        return base;
    }

    /** Unified start A of a complete interval, own time. */
    public long start(long interval) {
        return unifiedStarts[slot(interval)];
    }

    /** Unified duration M of a complete interval. */
    public long duration(long interval) {
        return unifiedDurations[slot(interval)];
    }

    /** Median H of the durations of up to {@code history} intervals up to this complete one. */
    public long median(long interval, int history) {
        int count = 0;
        for (long x = Math.max(base, interval - history + 1); x <= interval; x++) {
            scratch[count++] = duration(x);
        }
        return Medians.of(scratch, count);
    }
}
