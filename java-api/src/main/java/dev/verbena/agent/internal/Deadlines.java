package dev.verbena.agent.internal;

/**
 * When time limits end. Any limit is legal: one of 0 or less has ended, and one that is too long to
 * be reckoned with ends in 146 years. Deadlines are compared by their difference.
 */
public final class Deadlines {
    /** Sums and differences of deadlines that are no further away than this do not overflow. */
    private static final long FAR_NS = Long.MAX_VALUE / 2;

    private static final long NS_PER_MS = 1_000_000;

    private Deadlines() {}

    /** When a limit ends that begins now. */
    public static long after(long nowNs, long limitNs) {
        return nowNs + Math.max(0, Math.min(limitNs, FAR_NS));
    }

    /** The one of two that comes first. */
    public static long earlier(long aNs, long bNs) {
        return aNs - bNs < 0 ? aNs : bNs;
    }

    /**
     * A limit in whole milliseconds, rounded up, at least 0; what an {@code int} can hold of it.
     */
    public static int toMs(long limitNs) {
        long ms = limitNs / NS_PER_MS + (limitNs % NS_PER_MS > 0 ? 1 : 0);
        return (int) Math.max(0, Math.min(Integer.MAX_VALUE, ms));
    }
}
