package dev.verbena.cli.experiment;

/**
 * A token bucket: bytes may pass at a rate, and a little more after a pause. Thread-safe; one
 * bucket may limit several connections together.
 */
final class RateLimit {
    private static final double BURST_SECONDS = 0.02;

    private double rate;
    private double tokens;
    private long lastNs;

    /**
     * A bucket.
     *
     * @param rate bytes per second; 0: no limit
     */
    RateLimit(double rate, long nowNs) {
        this.rate = rate;
        this.lastNs = nowNs;
    }

    /** How many of these bytes may pass now; they have to be reported by {@link #passed}. */
    synchronized int allowed(int wanted, long nowNs) {
        if (rate <= 0) {
            return wanted;
        }
        tokens = Math.min(rate * BURST_SECONDS, tokens + rate * (nowNs - lastNs) / 1e9);
        lastNs = nowNs;
        return (int) Math.max(0, Math.min(wanted, tokens));
    }

    synchronized void passed(int bytes) {
        tokens -= Math.max(0, bytes);
    }

    /** From now on everything passes. */
    synchronized void lift() {
        rate = 0;
    }
}
