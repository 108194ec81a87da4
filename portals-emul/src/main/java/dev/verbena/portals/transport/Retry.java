package dev.verbena.portals.transport;

import org.agrona.concurrent.NanoClock;

/**
 * When a try that failed is made again: later than it took, so that an owner whose tries wait for a
 * lock has time for other things. Looks at the clock only where there is something to try. One
 * thread.
 */
final class Retry {
    /** A try that takes as long waits for somebody. */
    private static final long WAIT_NS = 1_000_000L;

    /** Three lists may wait for one lock, each by itself. */
    private static final int PAUSE_FACTOR = 4;

    /** So long a peer may well be stopped, and nothing is wrong. */
    private static final long TELL_NS = 2_000_000_000L;

    private final NanoClock clock;
    private boolean isFailing;
    private boolean isTold;
    private long sinceNs;
    private long beganNs;
    private long tookNs;

    Retry(NanoClock clock) {
        this.clock = clock;
    }

    /** Whether to try now. If so, the try begins. */
    boolean isDue() {
        long nowNs = clock.nanoTime();
        long pauseNs = PAUSE_FACTOR * Math.max(WAIT_NS, tookNs);
        if (isFailing && nowNs - beganNs - tookNs < pauseNs) {
            return false;
        }
        beganNs = nowNs;
        return true;
    }

    /** It has succeeded. */
    void succeeded() {
        isFailing = false;
        isTold = false;
    }

    /** It has failed; answers, once, whether it has for so long that somebody should know. */
    boolean failed() {
        tookNs = clock.nanoTime() - beganNs;
        if (!isFailing) {
            isFailing = true;
            sinceNs = beganNs;
        }
        boolean isToBeTold = !isTold && beganNs - sinceNs >= TELL_NS;
        isTold |= isToBeTold;
        return isToBeTold;
    }

    /** Whether the try that failed has waited, as for a lock. */
    boolean hasWaited() {
        return tookNs >= WAIT_NS;
    }
}
