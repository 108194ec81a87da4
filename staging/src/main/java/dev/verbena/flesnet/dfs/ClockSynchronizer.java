package dev.verbena.flesnet.dfs;

/**
 * What one input's clock shows beside this one (section 5.5): the offset is this clock minus the
 * input's, its drift a median. 64-bit fixed point with a resolution of 2^-32, so that replicas
 * agree. One thread; allocates nothing after it was made.
 */
public final class ClockSynchronizer {
    /** Offsets that change by more than this in one interval are no drift. */
    private static final long CHANGE_MAX = 1L << 30;

    /** An eighth. Clocks drift far less: what looks like more is how long a report travelled. */
    private static final long DRIFT_MAX = 1L << 29;

    private final long[] drifts;
    private final long[] sorted;
    private int driftCount;
    private long offset;
    private long at;
    private long drift;
    private boolean hasReport;

    /** Takes the median of so many drifts. */
    public ClockSynchronizer(int history) {
        drifts = new long[history];
        sorted = new long[history];
    }

    /** What both clocks showed at a common moment. */
    public void begin(long ownNs, long inputNs) {
        if (!hasReport) {
            offset = ownNs - inputNs;
            at = inputNs;
        }
    }

    /**
     * A report came.
     *
     * @param localNs own time at which it came
     * @param sentNs the input's time at which it was sent
     * @param latencyNs how long it travelled
     */
    public void onReport(long localNs, long sentNs, long latencyNs) {
        long next = localNs - sentNs - latencyNs;
        if (hasReport && sentNs - at > 0) {
            long change = Math.max(-CHANGE_MAX, Math.min(CHANGE_MAX, next - offset));
            long sample = (change << 32) / (sentNs - at);
            drifts[driftCount++ % drifts.length] =
                    Math.max(-DRIFT_MAX, Math.min(DRIFT_MAX, sample));
            int count = Math.min(driftCount, drifts.length);
            System.arraycopy(drifts, 0, sorted, 0, count);
            drift = Medians.of(sorted, count);
        }
        offset = next;
        at = sentNs;
        hasReport = true;
    }

    /** The offset at a moment of the input's clock. */
    public long offsetAt(long inputNs) {
        long elapsed = inputNs - at;
        long high = Math.multiplyHigh(drift, elapsed);
        return offset + (high << 32 | drift * elapsed >>> 32);
    }

    /** A moment of the input's clock in own time. */
    public long own(long inputNs) {
        return inputNs + offsetAt(inputNs);
    }

    /** A moment of own time on the input's clock. */
    public long input(long ownNs) {
        return ownNs - offsetAt(ownNs - offset);
    }

    /** The last offset, nanoseconds. */
    public long offset() {
        return offset;
    }

    /** The drift, in 2^-32. */
    public long drift() {
        return drift;
    }
}
