package dev.verbena.cli.perftest;

import dev.verbena.cli.terminal.Messages;

/** Bounds a wait that polls; looks at the clock only now and then. One thread. */
final class Patience {
    private static final long PATIENCE_NS = 60_000_000_000L;
    private static final int POLLS = 1 << 12;

    private int polls;
    private boolean isRunning;
    private long deadlineNs;

    /** A wait begins, or something came. */
    void reset() {
        polls = 0;
        isRunning = false;
    }

    /**
     * Nothing came.
     *
     * @param hasSlept whether this poll took long
     * @param what did not come, for the message
     * @return true if the clock was looked at
     * @throws Messages.Failure if nothing has come for too long
     */
    boolean waited(boolean hasSlept, String what) {
        if (!hasSlept && ++polls < POLLS) {
            return false;
        }
        polls = 0;
        long nowNs = System.nanoTime();
        if (!isRunning) {
            isRunning = true;
            deadlineNs = nowNs + PATIENCE_NS;
        } else if (nowNs - deadlineNs >= 0) {
            throw new Messages.Failure(
                    "%s came for %d s; have both sides the same -n, -s and -c, and does the other"
                            + " one live?",
                    what, PATIENCE_NS / 1_000_000_000);
        }
        return true;
    }
}
