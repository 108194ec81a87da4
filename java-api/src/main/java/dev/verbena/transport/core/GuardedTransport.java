package dev.verbena.transport.core;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.TransferTransport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemNanoClock;

/**
 * What every transport over a card does in the same way: it keeps to its owner's thread, answers
 * after close, refuses {@code poll} inside a handler, wakes, and closes from any thread. A provider
 * writes the hooks, which are called on the owner's thread inside {@link #guard}, with arguments
 * that were checked; where a hook has another caller, it says so. Operations of {@link
 * TransferTransport} and {@code send} are not here: they enter the guard themselves, so that
 * nothing lies between the caller and the card.
 */
public abstract class GuardedTransport extends TransferTransport {
    private static final long CLOSE_TIMEOUT_NS = 10_000_000_000L;

    /** Entered by the owner's operations. */
    protected final OwnerGuard guard;

    /** The transport's own address. */
    protected final URI uri;

    /** What was given to the constructor. */
    protected final TransportLimits limits;

    private final String name;
    private final AtomicBoolean isWoken = new AtomicBoolean();
    private final Object closeLock = new Object();
    private final Object bellLock = new Object();
    private boolean isFreed;
    private boolean isPolling;

    /**
     * For providers.
     *
     * @param name names the transport in messages and is its {@code toString()}
     */
    protected GuardedTransport(String name, URI uri, TransportLimits limits) {
        this(name, uri, limits, thread -> {});
    }

    /**
     * For providers whose parts belong to a thread, too.
     *
     * @param name names the transport in messages and is its {@code toString()}
     * @param onMove see {@link OwnerGuard#OwnerGuard(String, Consumer)}
     */
    protected GuardedTransport(
            String name, URI uri, TransportLimits limits, Consumer<Thread> onMove) {
        this.name = name;
        this.uri = uri;
        this.limits = limits;
        this.guard = new OwnerGuard(name, onMove);
    }

    /** The limits of a provider that takes everything else as the context has it. */
    protected static TransportLimits limits(
            TransportContext context, int connectionsMax, int privateDataLengthMax) {
        return new TransportLimits(
                context.messageLengthMax(),
                context.receiveSlotCount(),
                context.creditsPerConnection(),
                context.outstandingMax(),
                connectionsMax,
                privateDataLengthMax);
    }

    @Override
    public final URI uri() {
        return uri;
    }

    @Override
    public final TransportLimits limits() {
        return limits;
    }

    @Override
    public final long nanoTime() {
        return SystemNanoClock.INSTANCE.nanoTime();
    }

    @Override
    public final String toString() {
        return name;
    }

    /**
     * Enters the guard for a call that has no code to answer; it ends with {@code guard.exit()}.
     *
     * @throws IllegalStateException after close
     */
    protected final void enterOpen() {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: " + name);
        }
    }

    /**
     * Makes a call that has no code to answer, inside the guard. For calls that are rare.
     *
     * @throws IllegalStateException after close
     */
    protected final <T> T whileOpen(Supplier<T> call) {
        enterOpen();
        try {
            return call.get();
        } finally {
            guard.exit();
        }
    }

    /** Makes a call inside the guard, or answers {@code CLOSED}. For calls that are rare. */
    private long unlessClosed(LongSupplier call) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return call.getAsLong();
        } finally {
            guard.exit();
        }
    }

    /**
     * Another thread owns the transport from now on. Called while no call is running, by the thread
     * itself or by one that it has met since.
     */
    public final void moveTo(Thread next) {
        guard.moveTo(next);
    }

    // ---- memory ----

    /** As {@code allocate}. */
    protected abstract RegisteredRegion allocateRegion(long length, int rights);

    /** As {@code register}. */
    protected abstract RegisteredRegion registerRegion(OffHeapMemory memory, int rights);

    /**
     * Names the regions that keep the transport open, or null if there is none. By the thread that
     * closes.
     *
     * @param isOwnerOutside whether no call of the owner is running. A provider whose table is the
     *     owner's alone answers null otherwise; one that can be asked at any time spares the owner
     *     a close that fails
     */
    protected abstract String openRegions(boolean isOwnerOutside);

    @Override
    public final RegisteredRegion allocate(long length, int rights) {
        return whileOpen(() -> allocateRegion(length, rights));
    }

    @Override
    public final RegisteredRegion register(OffHeapMemory memory, int rights) {
        return whileOpen(() -> registerRegion(memory, rights));
    }

    // ---- connections ----

    /** As {@code listen}. */
    protected abstract void listenForPeers();

    /** As {@code connect}; the private data is in its range and not too long. */
    protected abstract long connectTo(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs);

    /** As {@code accept}. */
    protected abstract int acceptPeer(long connection, long context);

    /** As {@code reject}. */
    protected abstract int rejectPeer(long connection);

    /** As {@code disconnect}. */
    protected abstract int disconnectPeer(long connection);

    @Override
    public final void listen() {
        enterOpen();
        try {
            listenForPeers();
        } finally {
            guard.exit();
        }
    }

    @Override
    public final long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        return unlessClosed(
                () -> {
                    requirePrivateData(privateData, offset, length);
                    return connectTo(peer, privateData, offset, length, context, timeoutNs);
                });
    }

    private void requirePrivateData(DirectBuffer data, int offset, int length) {
        if (length < 0 || length > limits.privateDataLengthMax()) {
            throw new IllegalArgumentException(
                    "private data of %s bytes is outside 0 to %s"
                            .formatted(length, limits.privateDataLengthMax()));
        }
        if (length > 0) {
            data.boundsCheck(offset, length);
        }
    }

    @Override
    public final int accept(long connection, long context) {
        return (int) unlessClosed(() -> acceptPeer(connection, context));
    }

    @Override
    public final int reject(long connection) {
        return (int) unlessClosed(() -> rejectPeer(connection));
    }

    @Override
    public final int disconnect(long connection) {
        return (int) unlessClosed(() -> disconnectPeer(connection));
    }

    // ---- messages ----

    /** As {@code retain}. */
    protected abstract void retainMessage(long messageToken);

    /** As {@code release}. */
    protected abstract void releaseMessage(long messageToken);

    @Override
    public final void retain(long messageToken) {
        if (!guard.isInsideOnThisThread()) {
            // No handler is running: at most this says who may not call at all.
            enterOpen();
            guard.exit();
        }
        // Not refused because another thread closes: that one waits for this handler.
        retainMessage(messageToken);
    }

    @Override
    public final void release(long messageToken) {
        if (!guard.enter()) {
            return; // its slot went with the transport
        }
        try {
            releaseMessage(messageToken);
        } finally {
            guard.exit();
        }
    }

    // ---- events ----

    /** As {@code poll}. */
    protected abstract int deliver(TransportHandler handler, int limit);

    /**
     * As {@code await}. Looks again and again at {@link #takeWakeup} and at whether {@link #guard}
     * is closed, and sleeps so that {@link #ringBell} ends it.
     */
    protected abstract boolean awaitEvents(long deadlineNs);

    /**
     * Ends the present sleep of {@link #awaitEvents}, or the next one that began to look before
     * this call. Any thread; never after {@link #free} has begun.
     */
    protected abstract void ringBell();

    /** Whether somebody called {@code wakeup}; forgets it. */
    protected final boolean takeWakeup() {
        return isWoken.getAndSet(false);
    }

    @Override
    public final int poll(TransportHandler handler, int limit) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            requireNotPolling("poll");
            requireHandler(handler);
            isPolling = true;
            try {
                return deliver(handler, limit);
            } finally {
                isPolling = false;
            }
        } finally {
            guard.exit();
        }
    }

    private void requireNotPolling(String call) {
        if (isPolling) {
            throw new IllegalStateException(call + " from inside a handler of " + name);
        }
    }

    @Override
    public final boolean await(long deadlineNs) {
        if (!guard.enter()) {
            return true;
        }
        try {
            requireNotPolling("await");
            return awaitEvents(deadlineNs);
        } finally {
            guard.exit();
        }
    }

    @Override
    public final void wakeup() {
        isWoken.set(true);
        // Not the lock of close, which waits for handlers: they may call this.
        synchronized (bellLock) {
            if (!isFreed) {
                ringBell();
            }
        }
    }

    // ---- the end ----

    /**
     * Says farewell to peers and gives everything back. By the thread that closes, once, with the
     * owner outside for good and no region open.
     */
    protected abstract void free();

    @Override
    public final void close() {
        synchronized (closeLock) {
            if (guard.isClosed()) {
                return;
            }
            if (guard.isInsideOnThisThread()) {
                throw new IllegalStateException("close from inside a handler of " + name);
            }
            requireNoRegions(openRegions(false));
            if (!guard.close(CLOSE_TIMEOUT_NS, this::ringBell)) {
                throw new IllegalStateException(
                        name + ": its owner has been inside a call for too long to close it");
            }
            try {
                requireNoRegions(openRegions(true));
            } catch (IllegalStateException e) {
                guard.reopen();
                throw e;
            }
            synchronized (bellLock) {
                isFreed = true;
            }
            free();
        }
    }

    private void requireNoRegions(String open) {
        if (open != null) {
            throw new IllegalStateException(name + " has open regions, close them first: " + open);
        }
    }
}
