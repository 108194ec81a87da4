package dev.verbena.verbs;

import dev.verbena.memory.Leaks;
import java.lang.invoke.VarHandle;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;

/**
 * One object of libibverbs: made by its parent, closed by exactly one call, and only when nothing
 * that was made from it is open.
 *
 * <p>Making and closing happen under the device's lock and may be done by any thread, unless a
 * subclass says otherwise.
 */
public abstract class VerbsObject implements AutoCloseable {
    private final String what;
    private final DestroyCall destroyCall;
    private final List<VerbsObject> parents;

    /**
     * The device or connection channel that it belongs to: control calls are made under its lock.
     */
    private final VerbsObject root;

    private final Set<VerbsObject> children = new LinkedHashSet<>();
    private final Leaks.Watch watch;
    private volatile long address;
    private volatile boolean isClosing;
    private int waiting;

    /**
     * @param parents of one device or connection channel; none: this is one. Nulls and repetitions
     *     do not count
     */
    VerbsObject(String what, long address, DestroyCall destroyCall, List<VerbsObject> parents) {
        this.what = what;
        this.address = address;
        this.destroyCall = destroyCall;
        this.parents = parents.stream().filter(Objects::nonNull).distinct().toList();
        this.root = this.parents.isEmpty() ? this : this.parents.get(0).root;
        this.watch = Leaks.watch(this, what);
        for (VerbsObject parent : this.parents) {
            parent.children.add(this);
        }
    }

    /**
     * The Java object of what C has just made for it. If that cannot be made, what C made is
     * destroyed, and nothing of it stays with its parents. Under the lock.
     *
     * @param parent one of its parents; null if it has none
     */
    static <T extends VerbsObject> T adopt(
            VerbsObject parent, long made, DestroyCall destroyCall, LongFunction<T> maker) {
        try {
            return maker.apply(made);
        } catch (RuntimeException | Error e) {
            if (parent != null) {
                parent.abandonChild(made);
            }
            destroyCall.destroy(made);
            throw e;
        }
    }

    /** A constructor that failed may have come as far as to enter its object here. */
    private void abandonChild(long made) {
        for (VerbsObject child : List.copyOf(children)) {
            if (child.address == made) {
                child.address = 0;
                child.parents.forEach(parent -> parent.children.remove(child));
                child.watch.closed();
            }
        }
    }

    /**
     * Makes an object from this one, by a C call that writes its address to the given place.
     *
     * @throws VerbsException if the call fails
     */
    final <T extends VerbsObject> T create(
            String call,
            LongToIntFunction creation,
            DestroyCall destroyCall,
            LongFunction<T> maker) {
        CallMemory memory = device().memory();
        synchronized (lock()) {
            device().check(call, creation.applyAsInt(memory.out()));
            return adopt(this, memory.made(), destroyCall, maker);
        }
    }

    /** The one that all control calls of a device are made under. */
    final Object lock() {
        return root;
    }

    /** The device; of all but connection channels and their identifiers. */
    RdmaDevice device() {
        return (RdmaDevice) root;
    }

    final void checkOf(RdmaDevice device) {
        if (device() != device) {
            throw new IllegalArgumentException(this + " is not of " + device);
        }
    }

    /** What subclasses look at before; throws if it may not be closed now. */
    void checkMayClose() {}

    /** Of what only one thread uses; null for others. */
    ThreadClaim claim() {
        return null;
    }

    /** What closing needs alone: its own claim first, and others that the driver does not lock. */
    List<ThreadClaim> claimsToClose() {
        return claim() == null ? List.of() : List.of(claim());
    }

    /**
     * After a successful close.
     *
     * @param formerAddress of the C structure
     */
    void onClosed(long formerAddress) {}

    /** Address of the C structure; 0 after close. Hot paths. */
    final long addressOrZero() {
        return address;
    }

    /** Address of the C structure. */
    final long address() {
        long now = address;
        if (now == 0) {
            throw new IllegalStateException("closed: " + what);
        }
        return now;
    }

    /** A number of the C structure, for any thread. */
    final int field(int offset) {
        synchronized (lock()) {
            return CallMemory.getInt(address() + offset);
        }
    }

    /**
     * False from the moment on that a thread tries to close it. A thread that notes a use, makes a
     * full fence and then reads true is seen by the one that closes.
     */
    final boolean isUsable() {
        return address != 0 && !isClosing;
    }

    final Iterable<VerbsObject> children() {
        return children;
    }

    final VerbsException failure(String call, int result, String remedy) {
        return new VerbsException(call, -result, what, remedy);
    }

    final void check(String call, int result) {
        check(call, result, "");
    }

    /** Throws what the result of a call about this object says, if that is no success. */
    final void check(String call, int result, String remedy) {
        VerbsException.check(call, result, what, remedy);
    }

    /** True after {@link #close()}. */
    public final boolean isClosed() {
        return address == 0;
    }

    /**
     * Destroys the object. Idempotent.
     *
     * @throws IllegalStateException while objects made from it are open, naming them, or while its
     *     kind forbids it; nothing is freed then
     * @throws VerbsException if libibverbs refuses; the object stays open then
     */
    @Override
    public final void close() {
        synchronized (lock()) {
            long now = address;
            if (now == 0) {
                return;
            }
            if (!children.isEmpty()) {
                throw new IllegalStateException(
                        what + " cannot be closed before " + children + "; close them first");
            }
            if (waiting > 0) {
                throw new IllegalStateException("a thread waits at " + what + "; let it end first");
            }
            exclusively(() -> closeClaimed(now));
            if (claim() != null && !claim().isShared()) {
                claim().giveBack(null); // the next thread will see that it is closed
            }
        }
    }

    /** While no other thread uses what closing needs alone. Under the lock. */
    final void exclusively(Runnable action) {
        ThreadClaim.holding(claimsToClose(), action);
    }

    /** Before a sleep outside of the lock: a file closed meanwhile would never end it. */
    final void beginWaiting() {
        synchronized (lock()) {
            address();
            waiting++;
        }
    }

    final void endWaiting() {
        synchronized (lock()) {
            waiting--;
        }
    }

    /** Threads that wait. */
    final int waiting() {
        synchronized (lock()) {
            return waiting;
        }
    }

    private void closeClaimed(long now) {
        keepFromUse(
                () -> {
                    checkMayClose();
                    check(destroyCall.nameInC(), destroyCall.destroy(now));
                    address = 0;
                });
        forget(now);
    }

    /** While it runs, a thread that notes a use finds that it is being closed. Under the lock. */
    final void keepFromUse(Runnable action) {
        isClosing = true;
        VarHandle.fullFence();
        try {
            action.run();
        } finally {
            isClosing = false;
        }
    }

    /** Closed for Java; what C has lives on under another object, or is gone. Under the lock. */
    final void abandon() {
        long formerAddress = address;
        address = 0;
        forget(formerAddress);
    }

    private void forget(long formerAddress) {
        for (VerbsObject parent : parents) {
            parent.children.remove(this);
        }
        onClosed(formerAddress);
        watch.closed();
    }

    @Override
    public final String toString() {
        return what + (isClosed() ? ", closed" : "");
    }
}
