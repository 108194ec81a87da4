package dev.verbena.ugni.transport;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import java.net.URI;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The transport {@code gni://}; see the package for how the contract's words become uGNI calls.
 * Opened by {@link GniTransportProvider}.
 */
public final class GniTransport extends GniOperations {
    private static final int FOREIGN_PROBE_LENGTH = 64;

    private final Inbox inbox;
    private final long capabilities;
    private final long fmaMax;

    GniTransport(TransportContext context, GniResources resources, long fmaMax) {
        super(context, resources, AddressResolver.uri(resources), fmaMax);
        this.fmaMax = fmaMax;
        this.inbox = new Inbox(resources, ring, ready, engine, connections, registrations, context);
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
            resources.register(probe.addressOffset(), FOREIGN_PROBE_LENGTH, 0, false);
            resources.deregister(resources.handleLow(), resources.handleHigh());
            return true;
        } catch (GniFailure e) {
            return false;
        }
    }

    @Override
    public long capabilities() {
        return capabilities;
    }

    @Override
    public String explain() {
        return ("uGNI, emulated over the software NIC: %s. Messages are short messages "
                        + "(SMSG) to a mailbox for each connection. Up to %s bytes move by FMA, "
                        + "more by BTE. Memory from allocate is mapped by peers; other memory is %s")
                .formatted(
                        uri,
                        fmaMax,
                        (capabilities & Capability.FOREIGN_MEMORY) != 0
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

    // ---- the hooks of the shell ----

    @Override
    protected RegisteredRegion allocateRegion(long length, int rights) {
        return registrations.allocate(length, rights);
    }

    @Override
    protected RegisteredRegion registerRegion(OffHeapMemory memory, int rights) {
        return registrations.register(memory, rights);
    }

    @Override
    protected String openRegions(boolean isOwnerOutside) {
        return registrations.names();
    }

    @Override
    protected void listenForPeers() {
        connections.listen();
    }

    @Override
    protected long connectTo(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        GniAddress address = GniAddress.of(peer);
        byte[] copy = new byte[length];
        if (length > 0) {
            privateData.getBytes(offset, copy);
        }
        long deadlineNs = Deadlines.after(nanoTime(), timeoutNs);
        return connections.connect(address, peer, copy, context, deadlineNs);
    }

    @Override
    protected int acceptPeer(long connection, long context) {
        return connections.accept(connection, context);
    }

    @Override
    protected int rejectPeer(long connection) {
        return connections.reject(connection);
    }

    @Override
    protected int disconnectPeer(long connection) {
        engine.takeEvents();
        return connections.disconnect(connection);
    }

    @Override
    protected void retainMessage(long messageToken) {
        inbox.retain(messageToken);
    }

    @Override
    protected void releaseMessage(long messageToken) {
        inbox.release(messageToken);
    }

    @Override
    protected int deliver(TransportHandler handler, int limit) {
        return inbox.poll(handler, limit);
    }

    @Override
    protected boolean awaitEvents(long deadlineNs) {
        connections.credits().tellAll();
        while (true) {
            int bell = resources.bell();
            if (takeWakeup()) {
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
            resources.await(bell, Math.max(leftNs, 0));
        }
    }

    @Override
    protected void ringBell() {
        resources.ring();
    }

    @Override
    protected void free() {
        try {
            engine.takeEvents();
            connections.closeAll();
        } finally {
            resources.close();
        }
    }
}
