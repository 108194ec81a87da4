package dev.verbena.transport.core;

import dev.verbena.softnic.bindings.softnic;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets the calls of a native library follow each other that a transport's owner and a thread of its
 * own make: the frequent side calls at any time, the rare side now and then, also while the owner
 * is inside the transport or in a handler. So the library needs no locks.
 *
 * <p>The frequent side announces a call by a store and then looks whether the rare side has a turn;
 * the rare side takes a turn and then looks whether a call is running. The two must not both miss
 * each other, which needs a full fence on each side; as in {@link OwnerGuard} the rare side makes
 * it for both with {@code membarrier(2)}, and where the kernel has none, the frequent side's store
 * is a volatile one. What either wrote in its turn is seen by the other in the next. Allocates
 * nothing.
 */
public final class Turns {
    private static final boolean HAS_BARRIER = softnic.vna_barrier_register() == 0;
    private static final VarHandle INSIDE;
    private static final VarHandle TAKEN;
    private static final int SPINS = 200;

    /** A call that pins memory takes long. */
    private static final long PAUSE_NS = 20_000L;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            INSIDE = lookup.findVarHandle(Turns.class, "isInside", boolean.class);
            TAKEN = lookup.findVarHandle(Turns.class, "isTaken", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private boolean isInside;
    private boolean isTaken;

    /** Nobody has a turn. */
    public Turns() {}

    /**
     * Before a call of the frequent side: the thread that has the transport. Does not nest. Waits
     * while the rare side has a turn.
     */
    public void enter() {
        announce();
        if ((boolean) TAKEN.getVolatile(this)) {
            enterLater();
        }
    }

    private void announce() {
        if (HAS_BARRIER) {
            INSIDE.setOpaque(this, true);
        } else {
            INSIDE.setVolatile(this, true);
        }
    }

    private void enterLater() {
        do {
            exit();
            for (int spins = 0; (boolean) TAKEN.getAcquire(this); spins++) {
                if (spins < SPINS) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield();
                }
            }
            announce();
        } while ((boolean) TAKEN.getVolatile(this));
    }

    /** After a call of the frequent side. */
    public void exit() {
        INSIDE.setRelease(this, false);
    }

    /** Before a call of the rare side, one thread at a time. Waits while a call is running. */
    public void take() {
        TAKEN.setVolatile(this, true);
        if (HAS_BARRIER) {
            softnic.vna_barrier();
        }
        for (int spins = 0; (boolean) INSIDE.getAcquire(this); spins++) {
            if (spins < SPINS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(this, PAUSE_NS);
            }
        }
    }

    /** After a call of the rare side. */
    public void giveBack() {
        TAKEN.setRelease(this, false);
    }
}
