package dev.verbena.agent;

import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.NanoClock;

/** A clock that moves only when it is advanced. One writer; any thread may read. */
public final class VirtualClock implements NanoClock, EpochClock {
    private final long epochMs;
    private volatile long nowNs;

    /** A clock that stands at {@code nowNs}, and whose wall clock started at {@code epochMs}. */
    public VirtualClock(long nowNs, long epochMs) {
        this.nowNs = nowNs;
        this.epochMs = epochMs;
    }

    /** A clock that stands at 0. */
    public VirtualClock() {
        this(0, 0);
    }

    @Override
    public long nanoTime() {
        return nowNs;
    }

    /** Wall clock: the start plus what has passed. */
    @Override
    public long time() {
        return epochMs + nowNs / 1_000_000;
    }

    /**
     * Moves on.
     *
     * @throws IllegalArgumentException for a negative step
     */
    public void advanceNs(long stepNs) {
        if (stepNs < 0) {
            throw new IllegalArgumentException("step " + stepNs + " ns is negative");
        }
        nowNs = nowNs + stepNs;
    }
}
