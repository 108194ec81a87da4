package dev.verbena.shm;

import dev.verbena.softnic.bindings.softnic;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Keeps a transport to one thread, and lets another thread close it without taking memory away
 * under the owner's hands.
 *
 * <p>The owner announces each call ({@link #enter}) by a store and then looks whether the transport
 * is closed; the closer sets closed and then looks whether the owner is inside. The two must not
 * both miss each other, which needs a full fence on each side. The owner's fence would cost as much
 * as a short put, so the closer makes it for both with {@code membarrier(2)}; where the kernel has
 * none, the owner's store is a volatile one.
 */
final class OwnerGuard {
    private static final boolean HAS_BARRIER = softnic.vna_barrier_register() == 0;
    private static final VarHandle INSIDE;
    private static final VarHandle CLOSED;
    private static final VarHandle OWNER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            INSIDE = lookup.findVarHandle(OwnerGuard.class, "inside", int.class);
            CLOSED = lookup.findVarHandle(OwnerGuard.class, "isClosed", boolean.class);
            OWNER = lookup.findVarHandle(OwnerGuard.class, "owner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final String what;
    private Thread owner;
    private int inside;
    private boolean isClosed;

    OwnerGuard(String what) {
        this.what = what;
    }

    /**
     * The owner begins a call. Nests.
     *
     * @return false if the transport is closed; {@link #exit} must not be called then
     * @throws IllegalStateException for another thread than the owner
     */
    boolean enter() {
        if (Thread.currentThread() != owner) {
            claim();
        }
        if (HAS_BARRIER) {
            INSIDE.setOpaque(this, inside + 1);
        } else {
            INSIDE.setVolatile(this, inside + 1);
        }
        if ((boolean) CLOSED.getOpaque(this)) {
            exit();
            return false;
        }
        return true;
    }

    void exit() {
        INSIDE.setRelease(this, inside - 1);
    }

    boolean isClosed() {
        return (boolean) CLOSED.getVolatile(this);
    }

    /** True on the owner's thread while it is inside a call. */
    boolean isInsideOnThisThread() {
        return Thread.currentThread() == (Thread) OWNER.getVolatile(this) && inside > 0;
    }

    /**
     * Refuses further calls and waits until the owner is outside. Any thread but the owner inside a
     * call.
     *
     * @return false if the owner did not leave in time; the guard is open again then
     */
    boolean close(long timeoutNs, Runnable wake) {
        CLOSED.setVolatile(this, true);
        if (HAS_BARRIER) {
            softnic.vna_barrier();
        }
        long deadlineNs = System.nanoTime() + timeoutNs;
        while ((int) INSIDE.getAcquire(this) != 0) {
            if (deadlineNs - System.nanoTime() < 0) {
                reopen();
                return false;
            }
            wake.run();
            LockSupport.parkNanos(20_000L);
        }
        return true;
    }

    void reopen() {
        CLOSED.setVolatile(this, false);
    }

    private void claim() {
        Thread current = Thread.currentThread();
        if (!OWNER.compareAndSet(this, null, current)) {
            throw new IllegalStateException(
                    what
                            + " is owned by thread '"
                            + ((Thread) OWNER.getVolatile(this)).getName()
                            + "', which used it first; thread '"
                            + current.getName()
                            + "' may only call wakeup and close");
        }
    }
}
