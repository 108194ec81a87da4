package dev.verbena.auto;

import org.agrona.concurrent.NanoClock;

/**
 * When a poll looks at other parts than the first, whose own poll is a system call. Where they have
 * connections and the first has been quiet for some polls: each time. Else after a time that
 * doubles with every look that finds nothing, so that those who wait for shared memory do not wait
 * for a network. A slow poller, for whom few polls are a long time, asks the clock each time. One
 * thread.
 */
final class PollSchedule {
    private static final long PERIOD_MIN_NS = 2_000L;
    private static final long PERIOD_MAX_NS = 64_000L;

    /** Polls without an event after which the first part is quiet. */
    private static final int QUIET_POLLS = 64;

    /** A clock costs as much as a poll of shared memory: fast pollers ask it rarely. */
    private static final int CLOCK_POLLS_MAX = 16;

    private static final long CLOCK_SHORT_NS = 1_000L;

    private final NanoClock clock;
    private int quietPolls = QUIET_POLLS;
    private int pollsUntilClock;
    private int clockPolls = 1;
    private long lastClockNs;
    private long lookedNs;
    private long periodNs = PERIOD_MIN_NS;
    private boolean isAsked;

    PollSchedule(NanoClock clock) {
        this.clock = clock;
        this.lastClockNs = clock.nanoTime();
        this.lookedNs = lastClockNs;
    }

    /** The first part was polled. */
    void onFirstPolled(int count) {
        quietPolls = count > 0 ? 0 : Math.min(QUIET_POLLS, quietPolls + 1);
    }

    /** The next poll looks: something is known to have happened. */
    void ask() {
        isAsked = true;
    }

    /** Whether this poll looks at the other parts. */
    boolean isDue(boolean hasConnections) {
        if (isAsked || hasConnections && quietPolls == QUIET_POLLS) {
            isAsked = false;
            return true;
        }
        return --pollsUntilClock <= 0 && isTime();
    }

    private boolean isTime() {
        long nowNs = clock.nanoTime();
        clockPolls =
                nowNs - lastClockNs < CLOCK_SHORT_NS
                        ? Math.min(CLOCK_POLLS_MAX, clockPolls * 2)
                        : Math.max(1, clockPolls >> 2);
        lastClockNs = nowNs;
        pollsUntilClock = clockPolls;
        if (nowNs - lookedNs < periodNs) {
            return false;
        }
        lookedNs = nowNs;
        return true;
    }

    /** Another part was polled. */
    void onOthersPolled(int count) {
        periodNs = count > 0 ? PERIOD_MIN_NS : Math.min(PERIOD_MAX_NS, 2 * periodNs);
    }
}
