package dev.verbena.portals.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.portals.MemoryDescriptorContext;
import dev.verbena.portals.PortalsException;
import dev.verbena.portals.PortalsInterface;
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
 * The transport {@code portals://}; see the package for how the contract's words become Portals
 * calls. Opened by {@link PortalsTransportProvider}.
 */
public final class PortalsTransport extends PortalsOperations {
    private static final long CLOSE_TIMEOUT_NS = 10_000_000_000L;
    private static final int FOREIGN_PROBE_LENGTH = 64;

    private final TransportLimits limits;
    private final PortalsInterface ni;
    private final Inbox inbox;
    private final long capabilities;
    private boolean isPolling;
    private volatile boolean isWoken;

    PortalsTransport(TransportContext context, PortalsInterface ni, CardSizes sizes) {
        super(context, ni, sizes);
        this.ni = ni;
        this.limits =
                new TransportLimits(
                        context.messageLengthMax(),
                        context.receiveSlotCount(),
                        context.creditsPerConnection(),
                        context.outstandingMax(),
                        context.connectionsMax(),
                        ControlRecord.PRIVATE_MAX);
        this.inbox = new Inbox(card, connections, registrations, context);
        this.capabilities =
                Capability.PUT_NOTIFY
                        | Capability.APPLICATION_BYPASS
                        | (reachesForeignMemory() ? Capability.FOREIGN_MEMORY : 0);
    }

    private boolean reachesForeignMemory() {
        UnsafeBuffer probe =
                new UnsafeBuffer(
                        BufferUtil.allocateDirectAligned(
                                FOREIGN_PROBE_LENGTH, FOREIGN_PROBE_LENGTH));
        try {
            ni.bind(
                            new MemoryDescriptorContext()
                                    .region(probe.addressOffset(), FOREIGN_PROBE_LENGTH)
                                    .acceptPut(true),
                            false)
                    .close();
            return true;
        } catch (PortalsException e) {
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
        return "Portals 3.3, emulated over the software NIC: "
                + uri
                + ". Messages go to a list of "
                + ReceiveQueue.LIST_LENGTH
                + " descriptors of "
                + card.messages.bufferLength()
                + " bytes at table entry "
                + Card.MESSAGE_INDEX
                + ". Memory from allocate is mapped by peers; other memory is "
                + ((capabilities & Capability.FOREIGN_MEMORY) != 0
                        ? "reached with cross-memory attach."
                        : "refused by this kernel.")
                + " There are no atomics: Portals 3.3 has a swap only.";
    }

    /**
     * Counters of the receive queue.
     *
     * @throws IllegalStateException after close
     */
    public PortalsStatistics statistics() {
        enterOpen();
        try {
            return new PortalsStatistics(
                    card.messages.linkedCount(),
                    card.messages.unlinkCount(),
                    card.messages.replacementCount(),
                    card.messages.bufferCount(),
                    card.messages.lossCount(),
                    droppedSends());
        } finally {
            guard.exit();
        }
    }

    /** For tests: the Portals objects, on the owner's thread only. */
    Card card() {
        return card;
    }

    /**
     * A status register of the interface, for example {@code PortalsRegister.DESCRIPTORS}.
     *
     * @throws IllegalStateException after close
     */
    public long register(int register) {
        enterOpen();
        try {
            return ni.status(register);
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
            card.listen();
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
            PortalsAddress address = PortalsAddress.of(peer);
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
            return connections.connect(address, peer, copy, context, nanoTime() + timeoutNs);
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
                return inbox.poll(handler, ring, limit);
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
            connections.credits().tellAllTaken();
            while (true) {
                int seen = ni.doorbell();
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
                long leftNs = Math.min(deadlineNs - nowNs, connections.nextTimerNs() - nowNs);
                if (deadlineNs - nowNs <= 0) {
                    return false;
                }
                ni.await(seen, Math.max(leftNs, 0));
            }
        } finally {
            guard.exit();
        }
    }

    @Override
    public void wakeup() {
        isWoken = true;
        if (!guard.isClosed()) {
            ni.ring();
        }
    }

    @Override
    public long nanoTime() {
        return SystemNanoClock.INSTANCE.nanoTime();
    }

    @Override
    public synchronized void close() {
        if (ni.isClosed()) {
            return;
        }
        if (guard.isInsideOnThisThread()) {
            throw new IllegalStateException("close called by a handler of " + uri);
        }
        if (!guard.close(CLOSE_TIMEOUT_NS, ni::ring)) {
            throw new IllegalStateException("the owner's thread does not leave " + uri);
        }
        ni.moveTo(Thread.currentThread());
        if (registrations.count() > 0) {
            String open = registrations.names();
            guard.reopen(ni::moveTo);
            throw new IllegalStateException(uri + " has open regions: " + open);
        }
        connections.closeAll();
        inbox.close();
        ni.closeAll();
    }
}
