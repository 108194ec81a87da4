package dev.verbena.portals.transport;

import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.agrona.concurrent.SystemNanoClock;

/**
 * Keeps a transport to one thread, and lets another thread close it without taking memory away
 * under the owner's hands: the owner announces each call and then looks whether the transport is
 * closed; the closer sets closed and then looks whether the owner is inside. Both stores are
 * volatile, so that the two cannot miss each other.
 */
final class OwnerGuard {
    private static final long PAUSE_NS = 20_000L;

    private final AtomicReference<Thread> claimed = new AtomicReference<>();
    private final String what;
    private final Consumer<Thread> onClaim;
    private Thread owner;
    private volatile int inside;
    private volatile boolean isClosed;

    OwnerGuard(String what, Consumer<Thread> onClaim) {
        this.what = what;
        this.onClaim = onClaim;
    }

    /** The owner begins a call; nests. False if closed: then there is no {@link #exit}. */
    boolean enter() {
        if (Thread.currentThread() != owner) {
            claim();
        }
        inside = inside + 1; // one writer
        if (isClosed) {
            exit();
            return false;
        }
        return true;
    }

    void exit() {
        inside = inside - 1;
    }

    boolean isClosed() {
        return isClosed;
    }

    boolean isInsideOnThisThread() {
        return Thread.currentThread() == claimed.get() && inside > 0;
    }

    /** Refuses further calls and waits until the owner is outside. False if it did not leave. */
    boolean close(long timeoutNs, Runnable wake) {
        isClosed = true;
        long deadlineNs = SystemNanoClock.INSTANCE.nanoTime() + timeoutNs;
        while (inside != 0) {
            if (deadlineNs - SystemNanoClock.INSTANCE.nanoTime() < 0) {
                isClosed = false;
                return false;
            }
            wake.run();
            LockSupport.parkNanos(PAUSE_NS);
        }
        return true;
    }

    /** Takes a close back; the owner, if there is one, goes on. */
    void reopenForOwner(Consumer<Thread> onReturn) {
        if (claimed.get() != null) {
            onReturn.accept(claimed.get());
        }
        isClosed = false;
    }

    private void claim() {
        Thread current = Thread.currentThread();
        if (!claimed.compareAndSet(null, current)) {
            throw new IllegalStateException(
                    what
                            + " is owned by thread '"
                            + claimed.get().getName()
                            + "', which used it first; thread '"
                            + current.getName()
                            + "' may only call wakeup and close");
        }
        if (!isClosed) {
            onClaim.accept(current);
        }
        owner = current;
    }
}
