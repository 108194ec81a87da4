package dev.verbena.ofi.transport;

import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.OwnerGuard;
import java.util.concurrent.locks.LockSupport;
import org.agrona.ErrorHandler;

/**
 * Drives the engine while the transport's owner does not: a provider that works only inside calls
 * serves puts and gets of peers then, and they get their answers about keys. Completions and events
 * stay in the rings until the owner polls; no handler is called here.
 *
 * <p>The thread takes the transport from its owner by {@link OwnerGuard#borrow} for one round at a
 * time. While the owner polls it looks now and then whether that is still so: after each
 * millisecond, and while every look finds the owner polling after a sixteenth of that time, at most
 * 16 milliseconds, because each look interrupts the owner. Else it sleeps at the provider's
 * descriptor, or where there is none for up to a millisecond; after something has arrived it yields
 * for some rounds first. Allocates nothing per round.
 */
final class ProgressThread implements Runnable, AutoCloseable {
    /**
     * The owner is expected to poll again in this time; and the longest pause without descriptor.
     */
    private static final long PAUSE_NS = 1_000_000L;

    private static final long PAUSE_MIN_NS = 50_000L;

    /** The owner polls all the time: it is expected to do so for longer. */
    private static final long PAUSE_MAX_NS = 16_000_000L;

    /** Each pause is longer than the one before by this part. */
    private static final int GROWTH = 16;

    /** Polls in each {@link #PAUSE_NS} of an owner that polls all the time. */
    private static final long STEADY = 16;

    /** A sleep at the descriptor ends after this time in any case: some providers miss events. */
    private static final long SLEEP_MAX_NS = 32_000_000L;

    /** Rounds without a sleep after something has arrived: more of it often follows. */
    private static final int YIELDS = 30;

    private final OwnerGuard guard;
    private final OfiResources resources;
    private final Engine engine;
    private final Inbox inbox;
    private final ErrorHandler errorHandler;
    private final int bell;
    private final Thread thread;
    private volatile boolean isClosed;

    /** To be run when there is something to poll; null: the owner looks itself. */
    private volatile Runnable bellOfAway;

    private long polls;
    private long pauseNs = PAUSE_NS;
    private int idleRounds;
    private long sleepNs = PAUSE_MIN_NS;
    private boolean maySleep;
    private boolean isQuiet;

    ProgressThread(OwnerGuard guard, Parts parts, Inbox inbox, TransportContext context) {
        this.guard = guard;
        this.resources = parts.resources;
        this.engine = parts.engine;
        this.inbox = inbox;
        this.errorHandler = context.errorHandler();
        this.bell = resources.newBell();
        thread = new Thread(this, "verbena-ofi-progress-" + context.name());
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        while (!isClosed) {
            if (bellOfAway == null && isOwnerPolling() || !guard.borrow()) {
                idleRounds = YIELDS; // the owner has taken what there was: one look, then sleep
                LockSupport.parkNanos(this, bellOfAway == null ? pauseNs : PAUSE_MIN_NS);
                continue;
            }
            try {
                drive();
            } catch (RuntimeException e) {
                errorHandler.onError(e); // the next round may do better
            } finally {
                guard.giveBack();
            }
            idle();
        }
    }

    /**
     * The owner sleeps elsewhere until this is run, or is back. By the owner.
     *
     * @param bell null: the owner is back
     */
    void ring(Runnable bell) {
        boolean wasHere = bellOfAway == null;
        bellOfAway = bell;
        if (wasHere && bell != null) {
            LockSupport.unpark(thread);
        }
    }

    private boolean isOwnerPolling() {
        long polled = newPolls();
        boolean isSteady = polled >= STEADY * (pauseNs / PAUSE_NS);
        if (polled != 0 && pauseNs > PAUSE_NS && !guard.isInside()) {
            // It may have polled only at first, and compute now.
            LockSupport.parkNanos(this, PAUSE_MIN_NS);
            polled = newPolls();
            isSteady &= polled != 0;
        }
        pauseNs = isSteady ? Math.min(pauseNs + pauseNs / GROWTH, PAUSE_MAX_NS) : PAUSE_NS;
        return polled != 0;
    }

    private long newPolls() {
        long since = inbox.polls() - polls;
        polls += since;
        return since;
    }

    private void drive() {
        long events = engine.eventCount();
        engine.takeEvents();
        if (engine.eventCount() != events) {
            onActivity();
        } else {
            idleRounds++;
        }
        // Asked while the transport is borrowed: an owner that asks too must not lose its wake-up.
        maySleep = idleRounds > YIELDS && resources.maySleep();
        isQuiet = engine.isQuiet();
        Runnable bell = bellOfAway;
        if (bell != null && inbox.isWaiting()) {
            bellOfAway = null;
            bell.run();
        }
    }

    private void onActivity() {
        idleRounds = 0;
        sleepNs = PAUSE_MIN_NS;
    }

    private void idle() {
        if (idleRounds <= YIELDS) {
            Thread.yield();
        } else if (!maySleep || !resources.hasDescriptor()) {
            sleepNs = Math.min(2 * sleepNs, PAUSE_NS);
            LockSupport.parkNanos(this, sleepNs);
        } else {
            long maxNs = isQuiet ? Math.min(SLEEP_MAX_NS, resources.sleepMaxNs()) : PAUSE_NS;
            sleepNs = Math.min(2 * sleepNs, maxNs);
            if (resources.sleep(bell, sleepNs)) {
                onActivity();
            }
        }
    }

    /** Ends the thread. */
    @Override
    public void close() {
        isClosed = true;
        resources.ring(bell);
        LockSupport.unpark(thread);
        awaitEnd(thread);
    }

    /** Waits for a thread to end, and goes on waiting when interrupted. */
    static void awaitEnd(Thread thread) {
        boolean isInterrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
