package dev.verbena.flesnet.input;

/**
 * For what a connection waits, and how long it did (section 4). At any moment it waits for one
 * thing or none. One thread; allocates nothing.
 */
final class StallClock {
    /** It sends, or the scheduler holds it back. */
    static final int NONE = 0;

    /** Data are missing. */
    static final int INPUT = 1;

    /** The transport takes no write. */
    static final int WRITE = 2;

    /** There is no ticket. */
    static final int CREDIT = 3;

    private final long[] totals = new long[CREDIT + 1];
    private int state;
    private long sinceNs;

    StallClock(long nowNs) {
        sinceNs = nowNs;
    }

    void enter(int next, long nowNs) {
        if (next != state) {
            totals[state] += nowNs - sinceNs;
            state = next;
            sinceNs = nowNs;
        }
    }

    int state() {
        return state;
    }

    /** Nanoseconds in a state, until the last change. */
    long totalNs(int of) {
        return totals[of];
    }
}
