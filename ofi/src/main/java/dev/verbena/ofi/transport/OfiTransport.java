package dev.verbena.ofi.transport;

import dev.verbena.agent.internal.Deadlines;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.ofi.OfiLibrary;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.SharedKey;
import dev.verbena.transport.core.TransportPart;
import java.net.URI;
import org.agrona.CloseHelper;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The transport {@code ofi://}; see the package for how the contract's words become calls of
 * libfabric. Opened by {@link OfiTransportProvider}.
 */
final class OfiTransport extends OfiOperations implements TransportPart {
    private static final long FAREWELL_NS = 200_000_000L;

    /** Where one cannot sleep at the completion queue, one looks this often. */
    private static final long LOOK_MIN_NS = 50_000L;

    private static final long LOOK_MAX_NS = 2_000_000L;

    private final OfiResources resources;
    private final Inbox inbox;
    private final boolean hasAtomics;
    private final String explanation;

    /** Null: the owner's calls alone make progress. */
    private final ProgressThread progress;

    OfiTransport(
            TransportContext context,
            OfiResources resources,
            boolean hasAtomics,
            boolean hasProgressThread,
            String reason) {
        super(context, resources, uri(context, resources), hasAtomics);
        this.resources = resources;
        this.inbox = new Inbox(parts, connections);
        this.hasAtomics = hasAtomics;
        try {
            progress = hasProgressThread ? new ProgressThread(guard, parts, inbox, context) : null;
        } catch (RuntimeException | Error e) {
            parts.heartbeats.close();
            throw e;
        }
        this.explanation = explanation(reason);
    }

    private static URI uri(TransportContext context, OfiResources resources) {
        return OfiAddress.of(
                        resources.name,
                        resources.hasSocketAddresses(),
                        context.name(),
                        OfiResources.shortName(resources.info.provider()),
                        resources.incarnation)
                .uri();
    }

    @Override
    public long capabilities() {
        return Capability.PUT_NOTIFY
                | Capability.FOREIGN_MEMORY
                | (hasAtomics ? Capability.ATOMICS : 0);
    }

    @Override
    public String explain() {
        return explanation;
    }

    private String explanation(String reason) {
        return "libfabric "
                + OfiLibrary.version()
                + ", provider "
                + resources.info.provider()
                + " on "
                + resources.info.domainName()
                + ": "
                + uri
                + ". "
                + reason
                + " Puts complete when they are placed (FI_DELIVERY_COMPLETE). "
                + (resources.info.isProgressAutomatic()
                        ? "The provider works by itself. "
                        : "The provider works only inside calls. ")
                + (progress != null
                        ? "A thread of the transport makes them while its owner does not poll."
                        : "As a target its owner must poll or await (ofi.progress=caller).")
                + (hasAtomics ? "" : " It has no atomics.")
                + (resources.hasDescriptor()
                        ? ""
                        : " One cannot sleep at its queue: await looks every 2 ms.");
    }

    // ---- as a part of several ----

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights, SharedKey key) {
        enterOpen();
        try {
            return parts.regions.register(memory, rights, key.number());
        } finally {
            guard.exit();
        }
    }

    @Override
    public void translate(long connection, RemoteDescriptor shared, RemoteDescriptor own) {
        OfiConnection c = connections.find(connection);
        own.set(
                shared.kind() == RemoteDescriptor.KIND_AUTO ? RemoteDescriptor.KIND_OFI : 0,
                shared.rights(),
                shared.generation(),
                shared.base(),
                shared.length(),
                SharedKey.number(shared),
                c == null ? 0 : c.peerIncarnation);
    }

    @Override
    public boolean isOutstanding(RegisteredRegion region) {
        return own(region, 0, 0).isInUse();
    }

    @Override
    public boolean isStillReachable(RegisteredRegion region) {
        return ((OfiRegion) region).isReachable();
    }

    @Override
    public boolean hasProcessorAtomics() {
        return OfiResources.shortName(resources.info.provider()).equals("tcp");
    }

    @Override
    public boolean ringWhileAway(Runnable bell) {
        if (progress != null) {
            progress.ring(bell);
        }
        return progress != null;
    }

    // ---- the hooks of the shell ----

    @Override
    protected RegisteredRegion allocateRegion(long length, int rights) {
        return parts.regions.allocate(length, rights);
    }

    @Override
    protected RegisteredRegion registerRegion(OffHeapMemory memory, int rights) {
        return parts.regions.register(memory, rights);
    }

    @Override
    protected String openRegions(boolean isOwnerOutside) {
        return parts.regions.names();
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
        OfiAddress address = OfiAddress.of(peer);
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
        long lookNs = LOOK_MIN_NS;
        while (true) {
            if (takeWakeup()) {
                return true;
            }
            long nowNs = nanoTime();
            connections.onTime(nowNs);
            // In this order: looking for work may put events into the ring.
            if (inbox.hasWork() || !parts.ring.isEmpty() || guard.isClosed()) {
                return true;
            }
            if (deadlineNs - nowNs <= 0) {
                return false;
            }
            long leftNs = Math.min(deadlineNs - nowNs, connections.nextTimerNs() - nowNs);
            if (!resources.hasDescriptor()) {
                leftNs = Math.min(leftNs, lookNs);
                lookNs = Math.min(2 * lookNs, LOOK_MAX_NS);
            }
            resources.await(Math.max(leftNs, 0));
        }
    }

    @Override
    protected void ringBell() {
        resources.ring();
    }

    @Override
    protected void free() {
        CloseHelper.close(progress);
        try {
            engine.takeEvents();
            connections.closeAll();
            long endNs = SystemNanoClock.INSTANCE.nanoTime() + FAREWELL_NS;
            while (!(parts.controls.isIdle() && parts.outbox.isEmpty())
                    && SystemNanoClock.INSTANCE.nanoTime() - endNs < 0) {
                engine.takeEvents();
            }
        } finally {
            parts.heartbeats.close();
            parts.peers.close();
            parts.regions.deregisterRetired();
            resources.close();
            parts.regions.close();
        }
    }
}
