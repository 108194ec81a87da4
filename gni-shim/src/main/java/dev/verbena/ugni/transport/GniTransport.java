package dev.verbena.ugni.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.TransportLimits;
import java.net.URI;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The transport {@code gni://}; see the package for how the contract's words become uGNI calls.
 * Opened by {@link GniTransportProvider}.
 */
public final class GniTransport extends GniOperations {
    private static final long CLOSE_TIMEOUT_NS = 10_000_000_000L;

    /** 73 years: a deadline that sums do not wrap around. */
    private static final long CONNECT_TIMEOUT_MAX_NS = Long.MAX_VALUE / 4;

    private static final int FOREIGN_PROBE_LENGTH = 64;

    private final TransportLimits limits;
    private final Inbox inbox;
    private final long capabilities;
    private final long fmaMax;
    private boolean isPolling;
    private volatile boolean isWoken;

    GniTransport(TransportContext context, Card card, long fmaMax) {
        super(context, card, fmaMax);
        this.fmaMax = fmaMax;
        this.limits =
                new TransportLimits(
                        context.messageLengthMax(),
                        context.receiveSlotCount(),
                        context.creditsPerConnection(),
                        context.outstandingMax(),
                        context.connectionsMax(),
                        ControlRecord.PRIVATE_MAX);
        this.inbox = new Inbox(card, ring, news, engine, connections, registrations, context);
        this.capabilities =
                Capability.ATOMICS
                        | Capability.PUT_NOTIFY
                        | Capability.APPLICATION_BYPASS
                        | (reachesForeignMemory() ? Capability.FOREIGN_MEMORY : 0);
    }

    private boolean reachesForeignMemory() {
        UnsafeBuffer probe =
                new UnsafeBuffer(
                        BufferUtil.allocateDirectAligned(
                                FOREIGN_PROBE_LENGTH, FOREIGN_PROBE_LENGTH));
        try {
            card.register(probe.addressOffset(), FOREIGN_PROBE_LENGTH, 0, false);
            card.deregister(card.handleLow(), card.handleHigh());
            return true;
        } catch (GniFailure e) {
            return false;
        }
    }

    @Override
    public URI uri() {
        return uri;
    }

    @Override
    public long capabilities() {
        return capabilities;
    }

    @Override
    public TransportLimits limits() {
        return limits;
    }

    @Override
    public String explain() {
        return "uGNI, emulated over the software NIC: "
                + uri
                + ". Messages are short messages (SMSG) to a mailbox for each connection. Up to "
                + fmaMax
                + " bytes move by FMA, more by BTE. Memory from allocate is mapped by peers; other"
                + " memory is "
                + ((capabilities & Capability.FOREIGN_MEMORY) != 0
                        ? "reached with cross-memory attach."
                        : "refused by this kernel.");
    }

    /**
     * Counters of what was posted.
     *
     * @throws IllegalStateException after close
     */
    public GniStatistics statistics() {
        enterOpen();
        try {
            return engine.statistics();
        } finally {
            guard.exit();
        }
    }

    // ---- memory ----

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        enterOpen();
        try {
            return registrations.allocate(length, rights);
        } finally {
            guard.exit();
        }
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        enterOpen();
        try {
            return registrations.register(memory, rights);
        } finally {
            guard.exit();
        }
    }

    private void enterOpen() {
        if (!guard.enter()) {
            throw new IllegalStateException("closed: " + uri);
        }
    }

    // ---- connections ----

    @Override
    public void listen() {
        enterOpen();
        try {
            connections.listen();
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
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            GniAddress address = GniAddress.of(peer);
            if (length < 0 || length > ControlRecord.PRIVATE_MAX) {
                throw new IllegalArgumentException(
                        "private data of "
                                + length
                                + " bytes is outside 0 to "
                                + ControlRecord.PRIVATE_MAX);
            }
            byte[] copy = new byte[length];
            if (length > 0) {
                privateData.getBytes(offset, copy);
            }
            long deadlineNs = nanoTime() + Math.min(timeoutNs, CONNECT_TIMEOUT_MAX_NS);
            return connections.connect(address, peer, copy, context, deadlineNs);
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
            engine.takeEvents();
            return connections.disconnect(connection);
        } finally {
            guard.exit();
        }
    }

    // ---- events ----

    @Override
    public void retain(long messageToken) {
        enterOpen();
        try {
            inbox.retain(messageToken);
        } finally {
            guard.exit();
        }
    }

    @Override
    public void release(long messageToken) {
        if (!guard.enter()) {
            return; // its slot went with the transport
        }
        try {
            inbox.release(messageToken);
        } finally {
            guard.exit();
        }
    }

    @Override
    public int poll(TransportHandler handler, int limit) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            if (isPolling) {
                throw new IllegalStateException("poll called by a handler of " + uri);
            }
            isPolling = true;
            try {
                return inbox.poll(handler, limit);
            } finally {
                isPolling = false;
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public boolean await(long deadlineNs) {
        if (!guard.enter()) {
            return true;
        }
        try {
            connections.credits.tellAll();
            while (true) {
                int bell = card.bell();
                if (isWoken) {
                    isWoken = false;
                    return true;
                }
                long nowNs = nanoTime();
                connections.onTime(nowNs);
                // In this order: looking for work may put events into the ring.
                if (inbox.hasWork() || !ring.isEmpty() || guard.isClosed()) {
                    return true;
                }
                if (deadlineNs - nowNs <= 0) {
                    return false;
                }
                long leftNs = Math.min(deadlineNs - nowNs, connections.nextTimerNs() - nowNs);
                card.await(bell, Math.max(leftNs, 0));
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public void wakeup() {
        isWoken = true;
        card.ring();
    }

    @Override
    public long nanoTime() {
        return SystemNanoClock.INSTANCE.nanoTime();
    }

    @Override
    public synchronized void close() {
        if (card.isClosed()) {
            return;
        }
        if (guard.isInsideOnThisThread()) {
            throw new IllegalStateException("close called by a handler of " + uri);
        }
        if (!guard.close(CLOSE_TIMEOUT_NS, card::ring)) {
            throw new IllegalStateException("the owner's thread does not leave " + uri);
        }
        if (registrations.count() > 0) {
            String open = registrations.names();
            guard.reopen();
            throw new IllegalStateException(uri + " has open regions: " + open);
        }
        engine.takeEvents();
        connections.closeAll();
        card.close();
    }
}
