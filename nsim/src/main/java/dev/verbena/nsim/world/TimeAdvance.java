package dev.verbena.nsim.world;

import dev.verbena.nsim.engine.Engine;

/**
 * Advances virtual time for a thread that polls or waits outside of a run. Belongs to the world,
 * whose monitor callers hold.
 */
final class TimeAdvance {
    /** Virtual time of a poll that finds nothing; less if several threads poll. */
    private static final long TICK_PS = 20_000_000;

    private static final long SHARED_TICK_PS = 200_000;
    private static final long SHARED_AWAIT_NS = 1_000_000;

    /** The longest wait in one call. */
    private static final long AWAIT_MAX_NS = 3_600_000_000_000L;

    private final World world;
    private final Engine engine;
    private final int kind;
    private long ticks;
    private long ticksSeen;
    private Thread firstOwner;
    private boolean isShared;

    TimeAdvance(World world, int kind) {
        this.world = world;
        this.engine = world.engine;
        this.kind = kind;
        engine.handler(kind, (time, target, argument) -> ticksSeen = argument);
    }

    /** A thread has begun to use a transport. */
    void owned(Thread thread) {
        isShared |= firstOwner != null && firstOwner != thread;
        firstOwner = thread;
    }

    /** Lets a moment pass, or less if there is something for this transport. */
    void pass(SimulatedTransport transport) {
        pass(transport, isShared ? SHARED_TICK_PS : TICK_PS);
    }

    private void pass(SimulatedTransport transport, long picoseconds) {
        engine.schedule(engine.nowPs() + picoseconds, 0, 0, kind, ++ticks);
        long mine = ticks;
        while (ticksSeen < mine && !transport.hasNews()) {
            world.runEvent(Long.MAX_VALUE);
        }
    }

    /** Lets time pass until there is something for this transport, or a time is over. */
    void await(SimulatedTransport transport, long nanoseconds) {
        long ns = Math.min(nanoseconds, AWAIT_MAX_NS);
        if (isShared) {
            // Others may be about to do something: no faster than the real time.
            ns = Math.min(ns, SHARED_AWAIT_NS);
            try {
                world.wait(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
        pass(transport, ns * 1000);
    }
}
