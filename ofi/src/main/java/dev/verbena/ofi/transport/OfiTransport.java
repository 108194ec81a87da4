package dev.verbena.ofi.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.ofi.OfiLibrary;
import dev.verbena.transport.Capability;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.RecordInbox;
import dev.verbena.transport.core.SharedKey;
import dev.verbena.transport.core.TransportPart;
import java.net.URI;
import org.agrona.CloseHelper;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The transport {@code ofi://}; see the package for how the contract's words become calls of
 * libfabric. Opened by {@link OfiTransportProvider}.
 */
final class OfiTransport extends OfiOperations implements TransportPart {
    private static final long FAREWELL_NS = 200_000_000L;

    /**
     * First sleep of an await, unless arrivals are sure to end it; each is twice the one before.
     */
    private static final long SLEEP_MIN_NS = 50_000L;

    private final OfiResources resources;
    private final Inbox inbox;
    private final String explanation;

    /** Null: the owner's calls alone make progress. */
    private final ProgressThread progress;

    /** How long the next sleep may be. */
    private long sleepNs;

    OfiTransport(
            TransportContext context,
            OfiResources resources,
            boolean hasAtomics,
            boolean hasProgressThread,
            String reason) {
        super(context, resources, uri(context, resources), hasAtomics);
        this.resources = resources;
        this.inbox = new Inbox(parts, connections);
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
                | (hasAtomics() ? Capability.ATOMICS : 0);
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
                + (hasAtomics() ? "" : " It has no atomics.")
                + (resources.hasDescriptor()
                        ? ""
                        : " One cannot sleep at its queue: await looks every 2 ms.");
    }

    // ---- as a part of several ----

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights, SharedKey key) {
        return whileOpen(() -> parts.regions.register(memory, rights, key.number()));
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
        return parts.regions.isOutstanding(own(region, 0, 0));
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
    protected RecordInbox<?, ?> inbox() {
        return inbox;
    }

    @Override
    protected void listenForPeers() {
        connections.listen();
    }

    @Override
    protected long connectTo(URI peer, byte[] privateData, long context, long deadlineNs) {
        return connections.connect(OfiAddress.of(peer), peer, privateData, context, deadlineNs);
    }

    @Override
    protected boolean awaitEvents(long deadlineNs) {
        sleepNs = SLEEP_MIN_NS;
        return super.awaitEvents(deadlineNs);
    }

    @Override
    protected void sleep(int bell, long ns) {
        long maxNs = resources.sleepMaxNs();
        resources.await(maxNs == Long.MAX_VALUE ? ns : Math.min(ns, sleepNs));
        sleepNs = Math.min(2 * sleepNs, maxNs);
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
            connections.leave();
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
