package dev.verbena.staging;

/**
 * Whether a peer still answers: after a while of silence it is asked, and when it does not answer
 * the question for the whole time limit it counts as dead. Only time in which this side looks for
 * answers and finds none counts, so that a process that computed for an hour blames nobody. One
 * thread.
 */
public final class Heartbeat {
    private final long timeoutNs;
    private long intervalNs;
    private long lastHeardNs;
    private long askedNs;
    private boolean isWaiting;

    public Heartbeat(long timeoutNs) {
        this.timeoutNs = timeoutNs;
    }

    /** A new peer; an interval of 0: it is never asked. */
    public void begin(long now, long interval) {
        intervalNs = interval;
        heard(now);
    }

    public void heard(long now) {
        lastHeardNs = now;
        isWaiting = false;
    }

    public void asked(long now) {
        askedNs = now;
        isWaiting = true;
    }

    /** The peer was silent and is to be asked now. */
    public boolean isDue(long now) {
        return intervalNs > 0 && !isWaiting && now - lastHeardNs - intervalNs >= 0;
    }

    /** The peer was asked and has not answered in time. */
    public boolean isOver(long now) {
        return isWaiting && now - askedNs - timeoutNs >= 0;
    }

    public long timeoutNs() {
        return timeoutNs;
    }

    /** Nanoseconds until one of the two becomes true. */
    public long untilNs(long now) {
        if (intervalNs == 0) {
            return Long.MAX_VALUE;
        }
        long deadline = isWaiting ? askedNs + timeoutNs : lastHeardNs + intervalNs;
        return Math.max(0, deadline - now);
    }
}
