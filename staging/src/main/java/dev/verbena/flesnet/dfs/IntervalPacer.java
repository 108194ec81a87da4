package dev.verbena.flesnet.dfs;

/**
 * Paces one sender by intervals (section 6): opens them, says when a contribution may be sent,
 * measures. Never waits for a proposal. One thread; allocates nothing after it was made.
 */
public final class IntervalPacer {
    /** {@link #dueNs} of what may not be sent before something else has happened. */
    public static final long NOT_OPEN = Long.MAX_VALUE;

    private static final int SLOTS = 8;

    private final DfsParameters parameters;
    private final IntervalRanges ranges;
    private final long[] plannedStarts = new long[SLOTS];
    private final long[] plannedDurations = new long[SLOTS];
    private final long[] actualStarts = new long[SLOTS];
    private final long[] actualDurations = new long[SLOTS];
    private final boolean[] isStarted = new boolean[SLOTS];
    private final boolean[] isImprovised = new boolean[SLOTS];
    private final int[] sent = new int[SLOTS];
    private final int[] acked = new int[SLOTS];
    private final long[] proposedIntervals = new long[SLOTS];
    private final long[] proposedStarts = new long[SLOTS];
    private final long[] proposedDurations = new long[SLOTS];
    private long open = -1;
    private long reported = -1;
    private long improvisedCount;
    private long changeCount;
    private boolean isNextAllowed;
    private boolean isStopped;

    /**
     * Nothing is open.
     *
     * @param ranges may be changed by its owner when receivers fail
     */
    public IntervalPacer(DfsParameters parameters, IntervalRanges ranges) {
        this.parameters = parameters;
        this.ranges = ranges;
        for (int i = 0; i < SLOTS; i++) {
            proposedIntervals[i] = -1;
        }
    }

    /** A proposal came; the first one for an interval that is not open yet counts. */
    public void onProposal(IntervalMetadata proposal) {
        long k = proposal.interval();
        int slot = slot(k);
        if (k <= open || k - open >= SLOTS - 1 || proposedIntervals[slot] == k) {
            return;
        }
        proposedIntervals[slot] = k;
        proposedStarts[slot] = proposal.startNs();
        proposedDurations[slot] = Math.max(0, proposal.durationNs());
    }

    /**
     * When a contribution may be sent; at or before {@code nowNs}: now.
     *
     * @param position of its receiver in this sender's round, from 0
     * @return {@link #NOT_OPEN} if its interval cannot begin yet
     */
    public long dueNs(long timeslice, int position, long nowNs) {
        if (isStopped) {
            return nowNs;
        }
        if (open < 0) {
            open(nowNs);
        }
        if (timeslice > ranges.last(open)) {
            if (timeslice > ranges.last(open + 1) || !canOpenNext()) {
                return NOT_OPEN;
            }
            open(nowNs);
        }
        long j = timeslice >= ranges.first(open) ? open : open - 1;
        if (j < 0 || timeslice < ranges.first(j)) {
            return nowNs;
        }
        int slot = slot(j);
        long duration = plannedDurations[slot];
        if (duration == 0 || nowNs - plannedStarts[slot] - duration >= 0) {
            return nowNs;
        }
        long start = isStarted[slot] ? actualStarts[slot] : plannedStarts[slot];
        int active = ranges.active(j);
        long index = (timeslice - ranges.first(j)) / active * active + position;
        return start + index * duration / ranges.length(j);
    }

    private boolean canOpenNext() {
        int slot = slot(open);
        int n = ranges.length(open);
        boolean isSent = sent[slot] >= n;
        boolean isShareAcked = 100L * acked[slot] >= (long) parameters.thetaPercent() * n;
        return isSent && isShareAcked && (open == 0 || isComplete(open - 1));
    }

    private boolean isComplete(long interval) {
        return acked[slot(interval)] >= ranges.length(interval);
    }

    private void open(long nowNs) {
        int before = slot(open);
        int slot = slot(open + 1);
        long k = open + 1;
        if (proposedIntervals[slot] == k) {
            plannedStarts[slot] = proposedStarts[slot];
            plannedDurations[slot] = proposedDurations[slot];
            isImprovised[slot] = false;
        } else {
            plannedDurations[slot] = open < 0 ? 0 : plannedDurations[before];
            plannedStarts[slot] =
                    plannedDurations[slot] == 0
                            ? nowNs
                            : plannedStarts[before] + plannedDurations[before];
            isImprovised[slot] = true;
            improvisedCount++;
        }
        isStarted[slot] = false;
        sent[slot] = 0;
        acked[slot] = 0;
        open = k;
        isNextAllowed = false;
        changeCount++;
    }

    /** Whether the next interval may begin can only have changed now. */
    private void note() {
        boolean isAllowed = open >= 0 && canOpenNext();
        if (isAllowed && !isNextAllowed) {
            changeCount++;
        }
        isNextAllowed = isAllowed;
    }

    /**
     * Another number than before: {@link #dueNs} may have another answer for contributions that
     * were not due. While it is the same, the answer changes with time only: at {@link #endNs} they
     * are due.
     */
    public long changeCount() {
        return changeCount;
    }

    /** When the planned duration of the interval of a contribution is over, which is open. */
    public long endNs(long timeslice) {
        int slot = slot(timeslice >= ranges.first(open) ? open : open - 1);
        return plannedStarts[slot] + plannedDurations[slot];
    }

    /** A contribution was posted. */
    public void onSent(long timeslice, long nowNs) {
        int slot = openSlot(timeslice);
        if (slot < 0) {
            return;
        }
        if (!isStarted[slot]) {
            isStarted[slot] = true;
            actualStarts[slot] = nowNs;
            changeCount++;
        }
        sent[slot]++;
        note();
    }

    /** A contribution was acknowledged. */
    public void onAcked(long timeslice, long nowNs) {
        int slot = openSlot(timeslice);
        if (slot < 0) {
            return;
        }
        acked[slot]++;
        actualDurations[slot] = nowNs - actualStarts[slot];
        note();
    }

    /** A contribution that was posted must be sent anew, after a receiver has failed. */
    public void onUndone(long timeslice, boolean wasAcked) {
        int slot = openSlot(timeslice);
        if (slot >= 0) {
            sent[slot]--;
            acked[slot] -= wasAcked ? 1 : 0;
            note();
        }
    }

    /** From now on everything may be sent at once, and nothing is measured. */
    public void stop() {
        isStopped = true;
    }

    /** Slot of a timeslice's interval; -1: it is not open, or was reported. */
    private int openSlot(long timeslice) {
        long j = ranges.intervalOf(timeslice);
        return isStopped || j > open || j <= reported || j < open - 1 ? -1 : slot(j);
    }

    /**
     * The next interval that was measured wholly, in order.
     *
     * @return false if there is none
     */
    public boolean takeReport(IntervalMetadata measured) {
        long j = reported + 1;
        if (j > open || !isComplete(j)) {
            return false;
        }
        int slot = slot(j);
        measured.set(
                j,
                ranges.rounds(j),
                ranges.first(j),
                ranges.last(j),
                actualStarts[slot],
                actualDurations[slot]);
        reported = j;
        return true;
    }

    private static int slot(long interval) {
        return (int) (interval & (SLOTS - 1));
    }

    /** The latest interval that was opened; -1: none. */
    public long open() {
        return open;
    }

    /** Planned start of the open interval. */
    public long plannedStartNs() {
        return plannedStarts[slot(open)];
    }

    /** Planned duration of the open interval; 0: as fast as may be. */
    public long plannedDurationNs() {
        return plannedDurations[slot(open)];
    }

    /** Planned duration of the open interval or one of the few before it. */
    public long plannedDurationNs(long interval) {
        return plannedDurations[slot(interval)];
    }

    /** Whether the open interval has no proposal. */
    public boolean isImprovised() {
        return isImprovised[slot(open)];
    }

    /** Intervals that were opened without a proposal. */
    public long improvisedCount() {
        return improvisedCount;
    }
}
