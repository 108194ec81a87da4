package dev.verbena.shm;

import dev.verbena.memory.Leaks;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportException;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import dev.verbena.transport.internal.OwnerGuard;
import java.net.URI;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.DirectBuffer;
import org.agrona.UnsafeApi;

/**
 * One software NIC with the shm personality. Every operation is done when its call returns; {@code
 * FENCE} therefore has nothing left to do.
 */
final class ShmTransport extends ShmOperations {
    /** Messages taken from one ring before the next ring has its turn. */
    private static final int MESSAGES_PER_RING = 16;

    private static final int CLOCK_POLLS_MAX = 256;
    private static final long CLOCK_SHORT_NS = 20_000L;
    private static final long LOOK_MIN_NS = 1_000_000L;
    private static final long LOOK_MAX_NS = 50_000_000L;
    private static final long CLOSE_TIMEOUT_NS = 10_000_000_000L;

    private final TransportContext context;
    private final ShmRegions regions;
    private final ShmInbox inbox;
    private final Object closeLock = new Object();
    private final Object bellLock = new Object();
    private boolean isFreed;
    private final AtomicBoolean isWoken = new AtomicBoolean();
    private final Leaks.Watch watch;
    private final URI uri;
    private final boolean isBounce;
    private final long shm;
    private final long nic;
    private final long controlBell;
    private final long lookNs;

    private boolean isPolling;
    private int bellSeen;
    private int pollsUntilClock;
    private int clockPolls = 1;
    private long lastClockNs;
    private long lookDueNs;

    private ShmTransport(
            TransportContext context,
            TransportLimits limits,
            NativeScratch scratch,
            CompletionRing completions,
            ShmConnections connections,
            URI uri,
            long shm,
            boolean isBounce) {
        super(new OwnerGuard(text(uri)), limits, scratch, completions, connections);
        this.context = context;
        this.uri = uri;
        this.shm = shm;
        this.isBounce = isBounce;
        this.nic = softnic.shm_nic(shm);
        this.controlBell = softnic.snic_area(nic) + Layout.AREA_CONTROL_BELL;
        this.regions = new ShmRegions(this, nic, scratch, completions, context.peerTimeoutNs());
        this.inbox = new ShmInbox(connections, regions);
        this.lookNs = Math.max(LOOK_MIN_NS, Math.min(LOOK_MAX_NS, context.peerTimeoutNs() / 8));
        this.lookDueNs = lastClockNs = System.nanoTime();
        this.watch = Leaks.watch(this, toString());
    }

    static ShmTransport open(TransportContext context, boolean isBounce) {
        NativeScratch scratch = new NativeScratch();
        long shm;
        try {
            shm = ShmCreation.create(context, scratch, isBounce);
        } catch (RuntimeException e) {
            scratch.close();
            throw e;
        }
        long nic = softnic.shm_nic(shm);
        int connectionsMax = softnic.shm_connections_max(shm);
        TransportLimits limits =
                new TransportLimits(
                        context.messageLengthMax(),
                        context.receiveSlotCount(),
                        context.creditsPerConnection(),
                        context.outstandingMax(),
                        connectionsMax,
                        Layout.SHM_PRIVATE_MAX);
        CompletionRing completions = new CompletionRing(context.outstandingMax());
        String name = NativeScratch.text(softnic.snic_name(nic), Layout.SNIC_NAME_MAX);
        return new ShmTransport(
                context,
                limits,
                scratch,
                completions,
                new ShmConnections(shm, scratch, completions, context, connectionsMax),
                new ShmAddress(context.job(), name, softnic.snic_incarnation(nic)).uri(),
                shm,
                isBounce);
    }

    private static String text(URI uri) {
        return "shm transport " + uri;
    }

    @Override
    public URI uri() {
        return uri;
    }

    @Override
    public long capabilities() {
        long all = Capability.ATOMICS | Capability.PUT_NOTIFY | Capability.FOREIGN_MEMORY;
        return isBounce ? all : all | Capability.APPLICATION_BYPASS;
    }

    @Override
    public TransportLimits limits() {
        return limits;
    }

    @Override
    public String explain() {
        return "shm: software NIC "
                + uri
                + ". Peers are processes of this user on this host. Toolkit memory is mapped by"
                + " peers and reached by plain loads and stores; other memory is reached "
                + (isBounce
                        ? "through a helper thread of its owner (foreignMemory=bounce)."
                        : "by cross-memory attach, one system call each.");
    }

    @Override
    public String toString() {
        return text(uri);
    }

    // ---- memory ----

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        enterControl();
        try {
            return regions.allocate(length, rights);
        } finally {
            guard.exit();
        }
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        enterControl();
        try {
            return regions.register(memory, rights);
        } finally {
            guard.exit();
        }
    }

    void closeRegion(ShmRegion region) {
        enterControl();
        try {
            regions.close(region);
        } finally {
            guard.exit();
        }
    }

    // ---- connections ----

    @Override
    public void listen() {
        enterControl();
        try {
            int result = softnic.shm_listen(shm);
            if (result < 0) {
                throw Errno.exception("shm_listen", result, "");
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        ShmAddress address = ShmAddress.of(peer);
        if (length < 0 || length > Layout.SHM_PRIVATE_MAX) {
            throw new IllegalArgumentException(
                    "private data of "
                            + length
                            + " bytes; 0 to "
                            + Layout.SHM_PRIVATE_MAX
                            + " work");
        }
        if (length > 0) {
            privateData.boundsCheck(offset, length);
        }
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.connect(address, privateData, offset, length, context, timeoutNs);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int accept(long connection, long context) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.accept(connection, context);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int reject(long connection) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.reject(connection);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int disconnect(long connection) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            return connections.disconnect(connection);
        } finally {
            guard.exit();
        }
    }

    // ---- messages ----

    @Override
    public void retain(long messageToken) {
        inbox.retain(messageToken);
    }

    @Override
    public void release(long messageToken) {
        if (!guard.enter()) {
            return;
        }
        try {
            inbox.release(messageToken);
        } finally {
            guard.exit();
        }
    }

    // ---- events ----

    @Override
    public int poll(TransportHandler handler, int limit) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            checkNotPolling("poll");
            return deliver(handler, limit);
        } finally {
            guard.exit();
        }
    }

    private int deliver(TransportHandler handler, int limit) {
        isPolling = true;
        try {
            int count = 0;
            for (long end = completions.lastNumber();
                    count < limit && completions.hasUpTo(end);
                    count++) {
                completions.deliver(handler);
            }
            lookAtControl();
            if (connections.hasEvents()) {
                count += connections.deliverEvents(handler, limit - count);
            }
            count += connections.deliverMessages(inbox, handler, limit - count, MESSAGES_PER_RING);
            return count;
        } finally {
            isPolling = false;
        }
    }

    private void checkNotPolling(String call) {
        if (isPolling) {
            throw new IllegalStateException(call + " from inside a handler of " + this);
        }
    }

    /** Asks softnic about connections when a peer rang, and now and then. */
    private void lookAtControl() {
        int bell = UnsafeApi.getIntAcquire(null, controlBell);
        if (bell == bellSeen && --pollsUntilClock > 0) {
            return;
        }
        long nowNs = System.nanoTime();
        // A clock costs as much as a put: fast pollers look at it rarely, slow ones each time.
        clockPolls =
                nowNs - lastClockNs < CLOCK_SHORT_NS
                        ? Math.min(CLOCK_POLLS_MAX, clockPolls * 2)
                        : Math.max(1, clockPolls >> 2);
        lastClockNs = nowNs;
        pollsUntilClock = clockPolls;
        if (bell != bellSeen || nowNs - lookDueNs >= 0) {
            bellSeen = bell;
            lookDueNs = nowNs + lookNs;
            connections.control();
        }
    }

    private boolean hasWork() {
        return !completions.isEmpty()
                || connections.hasEvents()
                || UnsafeApi.getIntAcquire(null, controlBell) != bellSeen
                || connections.isReadable();
    }

    @Override
    public boolean await(long deadlineNs) {
        if (!guard.enter()) {
            return true;
        }
        try {
            checkNotPolling("await");
            while (true) {
                int seen = softnic.snic_doorbell(nic);
                if (isWoken.getAndSet(false) || hasWork() || guard.isClosed()) {
                    return true;
                }
                long nowNs = System.nanoTime();
                if (nowNs - lookDueNs >= 0) {
                    lookDueNs = nowNs + lookNs;
                    connections.control();
                    if (connections.hasEvents()) {
                        return true;
                    }
                }
                long leftNs = deadlineNs - nowNs;
                if (leftNs <= 0) {
                    return false;
                }
                softnic.snic_wait(nic, seen, Math.min(leftNs, lookNs));
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public void wakeup() {
        isWoken.set(true);
        // Not the lock of close, which waits for handlers: they may call this.
        synchronized (bellLock) {
            if (!isFreed) {
                softnic.snic_ring_self(nic);
            }
        }
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    /** Enters a call of the control path, which throws where the data path answers CLOSED. */
    private void enterControl() {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: " + this);
        }
    }

    @Override
    public void close() {
        synchronized (closeLock) {
            if (guard.isClosed()) {
                return;
            }
            if (guard.isInsideOnThisThread()) {
                throw new IllegalStateException("close from inside a handler of " + this);
            }
            regions.checkNone();
            if (!guard.close(CLOSE_TIMEOUT_NS, () -> softnic.snic_ring_self(nic))) {
                throw new IllegalStateException(
                        this + ": its owner has been inside a call for too long to close it");
            }
            try {
                regions.checkNone();
            } catch (IllegalStateException e) {
                guard.reopen();
                throw e;
            }
            synchronized (bellLock) {
                isFreed = true;
            }
            int result = softnic.shm_close(shm);
            connections.forgetAll();
            scratch.close();
            watch.closed();
            if (result < 0) {
                context.errorHandler()
                        .onError(
                                new TransportException(
                                        this
                                                + ": "
                                                + Errno.exception("shm_close", result, "")
                                                        .getMessage()));
            }
        }
    }
}
