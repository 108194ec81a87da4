package dev.verbena.auto;

import dev.verbena.transport.core.TransportPart;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The owner's sleep, for several transports at once: in the first one. The others wake it by a
 * thread of theirs; one that has none is looked at, more and more rarely. The owner's thread.
 */
final class Sleeper {
    private static final long LOOK_MIN_NS = 50_000L;
    private static final long LOOK_MAX_NS = 2_000_000L;

    /** Parts that ring have timers of their own, which are looked at this often. */
    private static final long TIMERS_NS = 20_000_000L;

    private final TransportPart[] parts;
    private final Runnable bell = this::ring;
    private final AtomicBoolean isRung = new AtomicBoolean();
    private long lookNs;

    Sleeper(TransportPart[] parts) {
        this.parts = parts;
    }

    /** Ends a present or the next sleep. Any thread. */
    void ring() {
        isRung.set(true);
        parts[0].wakeup();
    }

    /** Begins a sleep of several parts. */
    void begin() {
        lookNs = LOOK_MIN_NS;
    }

    /**
     * Sleeps once.
     *
     * @param untilNs of the parts' clock, which is one
     * @return whether there may be something to poll
     */
    boolean sleep(long nowNs, long untilNs) {
        if (!sleepAtFirst(nowNs, untilNs)) {
            return false;
        }
        // A ring may be of an event that was polled since.
        return !isRung.getAndSet(false) || hasEvents(nowNs);
    }

    private boolean hasEvents(long nowNs) {
        for (TransportPart part : parts) {
            if (part.await(nowNs)) {
                return true;
            }
        }
        return false;
    }

    private boolean sleepAtFirst(long nowNs, long untilNs) {
        if (parts.length == 1) {
            return parts[0].await(untilNs);
        }
        long pauseNs = TIMERS_NS;
        try {
            for (int i = 1; i < parts.length; i++) {
                if (!parts[i].ringWhileAway(bell)) {
                    pauseNs = Math.min(pauseNs, lookNs);
                }
                // After the bell is known: what comes between rings.
                if (parts[i].await(nowNs)) {
                    return true;
                }
            }
            lookNs = Math.min(2 * lookNs, LOOK_MAX_NS);
            return parts[0].await(untilNs - nowNs > pauseNs ? nowNs + pauseNs : untilNs);
        } finally {
            for (int i = 1; i < parts.length; i++) {
                parts[i].ringWhileAway(null);
            }
        }
    }
}
