package dev.verbena.transport.core;

import dev.verbena.softnic.bindings.softnic;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Keeps a transport to one thread, and lets another thread close it without taking memory away
 * under the owner's hands.
 *
 * <p>The owner announces each call ({@link #enter}) by a store and then looks whether the transport
 * is closed; the closer sets closed and then looks whether the owner is inside. The two must not
 * both miss each other, which needs a full fence on each side. The owner's fence would cost as much
 * as a short put, so the closer makes it for both with {@code membarrier(2)}; where the kernel has
 * none, the owner's store is a volatile one.
 *
 * <p>In the same way a thread of the transport's own may {@link #borrow} the transport while the
 * owner is outside; an owner that begins a call meanwhile waits until it is given back. What either
 * wrote inside is seen by the other.
 */
public final class OwnerGuard {
    private static final boolean HAS_BARRIER = softnic.vna_barrier_register() == 0;
    private static final VarHandle INSIDE;
    private static final VarHandle STATE;
    private static final VarHandle CLAIMANT;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            INSIDE = lookup.findVarHandle(OwnerGuard.class, "inside", int.class);
            STATE = lookup.findVarHandle(OwnerGuard.class, "state", int.class);
            CLAIMANT = lookup.findVarHandle(OwnerGuard.class, "claimant", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static final long PAUSE_NS = 20_000L;
    private static final int SPINS = 200;

    // Bits of the state; 0: the owner may enter at once.
    private static final int CLOSED = 1;
    private static final int BORROWED = 2;

    private final String what;
    private final Consumer<Thread> onMove;

    /** Who used it first, seen by all; and the same once all is ready for him, seen by him. */
    private Thread claimant;

    private Thread owner;
    private int inside;
    private int state;

    /**
     * A guard that nobody owns yet.
     *
     * @param what names the transport in messages
     */
    public OwnerGuard(String what) {
        this(what, thread -> {});
    }

    /**
     * A guard that nobody owns yet.
     *
     * @param what names the transport in messages
     * @param onMove told of the thread that may use the transport's parts from now on, on a thread
     *     that may tell it: the owner before his first call begins, unless the transport is closed
     *     then; who closes, once the owner is outside; the owner again if the close is taken back
     */
    public OwnerGuard(String what, Consumer<Thread> onMove) {
        this.what = what;
        this.onMove = onMove;
    }

    /**
     * The owner begins a call. Nests.
     *
     * @return false if the transport is closed; {@link #exit} must not be called then
     * @throws IllegalStateException for another thread than the owner
     */
    public boolean enter() {
        if (Thread.currentThread() != owner) {
            claim();
        }
        if (HAS_BARRIER) {
            INSIDE.setOpaque(this, inside + 1);
        } else {
            INSIDE.setVolatile(this, inside + 1);
        }
        // Volatile, as the store above where there is no barrier: AArch64 lets a plainer load pass
        // such a store. And what a closer that gave up has moved back is seen after it.
        return (int) STATE.getVolatile(this) == 0 || enterLater();
    }

    /**
     * The call is announced: the borrower gives the transport back, and no thread borrows it anew.
     */
    private boolean enterLater() {
        for (int spins = 0; (state() & BORROWED) != 0; spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
        if ((state() & CLOSED) != 0) {
            exit();
            return false;
        }
        return true;
    }

    private int state() {
        return (int) STATE.getAcquire(this);
    }

    /** The owner ends a call that {@link #enter} allowed. */
    public void exit() {
        INSIDE.setRelease(this, inside - 1);
    }

    /** Whether calls are refused. Any thread. */
    public boolean isClosed() {
        return ((int) STATE.getVolatile(this) & CLOSED) != 0;
    }

    /** Whether the owner is inside a call just now. Any thread. */
    public boolean isInside() {
        return (int) INSIDE.getAcquire(this) != 0;
    }

    /** True on the owner's thread while it is inside a call. */
    public boolean isInsideOnThisThread() {
        return Thread.currentThread() == (Thread) CLAIMANT.getVolatile(this) && inside > 0;
    }

    /**
     * Refuses further calls and waits until the owner is outside and nobody has borrowed the
     * transport. Any thread but the owner inside a call.
     *
     * @param timeoutNs how long it waits, in nanoseconds
     * @param wake called now and then, so that an owner that sleeps inside a call leaves it
     * @return false if the owner did not leave in time; the guard is open again then
     */
    public boolean close(long timeoutNs, Runnable wake) {
        STATE.getAndBitwiseOr(this, CLOSED);
        if (HAS_BARRIER) {
            softnic.vna_barrier();
        }
        long deadlineNs = System.nanoTime() + timeoutNs;
        while ((int) INSIDE.getAcquire(this) != 0 || (state() & BORROWED) != 0) {
            if (deadlineNs - System.nanoTime() < 0) {
                STATE.getAndBitwiseAnd(this, ~CLOSED);
                return false;
            }
            wake.run();
            LockSupport.parkNanos(PAUSE_NS);
        }
        onMove.accept(Thread.currentThread());
        return true;
    }

    /** Takes a close back that succeeded. The thread that closed. */
    public void reopen() {
        Thread returning = (Thread) CLAIMANT.getVolatile(this);
        if (returning != null) {
            onMove.accept(returning);
        }
        STATE.getAndBitwiseAnd(this, ~CLOSED);
    }

    /**
     * Makes another thread the owner. For who keeps the owner outside, and sees to it that the next
     * one sees what was written before.
     */
    public void moveTo(Thread next) {
        CLAIMANT.setVolatile(this, next);
        owner = next;
        if (!isClosed()) {
            onMove.accept(next);
        }
    }

    /**
     * Takes the transport for a short time while the owner is outside. Not for the owner.
     *
     * @return false if the owner is inside a call, another thread has it, or it is closed
     */
    public boolean borrow() {
        if ((int) INSIDE.getAcquire(this) != 0 || !STATE.compareAndSet(this, 0, BORROWED)) {
            return false;
        }
        if (HAS_BARRIER) {
            softnic.vna_barrier();
        }
        if ((int) INSIDE.getAcquire(this) != 0) {
            giveBack();
            return false;
        }
        return true;
    }

    /** Gives back what {@link #borrow} took. The thread that borrowed. */
    public void giveBack() {
        STATE.getAndBitwiseAnd(this, ~BORROWED);
    }

    private void claim() {
        Thread current = Thread.currentThread();
        if (!CLAIMANT.compareAndSet(this, null, current)) {
            throw new IllegalStateException(
                    ("%s is owned by thread '%s', which used it first; thread '%s' may only "
                                    + "call wakeup and close")
                            .formatted(
                                    what,
                                    ((Thread) CLAIMANT.getVolatile(this)).getName(),
                                    current.getName()));
        }
        if (!isClosed()) {
            onMove.accept(current);
        }
        owner = current;
    }
}
