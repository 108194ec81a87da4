package dev.verbena.staging;

import java.util.random.RandomGenerator;

/** When a server tries again to connect to its receiver: later and later. Owned by t3. */
public final class LinkBackOff {
    private static final long MIN_NS = 50_000_000L;

    /** A receiver that is back is not left waiting for longer than this. */
    private static final long MAX_NS = 500_000_000L;

    private final RandomGenerator jitter;
    private long nextTryNs;
    private long backOffNs = MIN_NS;

    /** The first try is due now. */
    public LinkBackOff(RandomGenerator jitter, long nowNs) {
        this.jitter = jitter;
        this.nextTryNs = nowNs;
    }

    public long nextTryNs() {
        return nextTryNs;
    }

    public void failed(long nowNs) {
        // Up to a quarter earlier: servers of a job do not come back in step.
        nextTryNs = nowNs + backOffNs - jitter.nextInt((int) (backOffNs / 4));
        backOffNs = Math.min(2 * backOffNs, MAX_NS);
    }

    /** It goes well again. */
    public void reset() {
        backOffNs = MIN_NS;
    }
}
