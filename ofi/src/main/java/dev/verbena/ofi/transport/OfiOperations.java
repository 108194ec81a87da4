package dev.verbena.ofi.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.ofi.bindings.fabric;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.ControlHeader;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.RecordConnections;
import dev.verbena.transport.core.RegionTable;
import dev.verbena.transport.core.WorkTransport;
import java.net.URI;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The data path of {@link OfiTransport}: what can be posted, and the parts that it needs. A
 * superclass and not a part, so that an operation finds them one load away.
 */
abstract class OfiOperations extends WorkTransport<OfiConnection, OfiRegion, Work> {
    final Parts parts;
    final Connections connections;
    final Engine engine;
    private final WorkPool works;
    private final EventRing ring;
    private final FabricPosts posts;
    private final boolean hearsFirst;
    private final boolean hasAtomics;

    OfiOperations(TransportContext context, OfiResources resources, URI uri, boolean hasAtomics) {
        super(uri, limits(context, context.connectionsMax(), ControlHeader.PRIVATE_MAX));
        this.parts = new Parts(context, resources, guard);
        this.works = parts.works;
        this.ring = parts.ring;
        this.posts = new FabricPosts(resources);
        this.engine = parts.engine;
        this.connections = new Connections(parts, context, SystemNanoClock.INSTANCE.nanoTime());
        engine.arrivals(new Records(parts, connections, context));
        // Where a key that is gone does harm, what the peer says of keys is heard before each use.
        this.hearsFirst = resources.info.usesVirtualAddresses();
        this.hasAtomics = hasAtomics;
    }

    @Override
    protected final RegionTable<?> regions() {
        return parts.regions;
    }

    @Override
    protected final RecordConnections<?> connections() {
        return connections;
    }

    @Override
    protected final OfiRegion own(RegisteredRegion region, long offset, long length) {
        if (!(region instanceof OfiRegion own) || own.regions != parts.regions) {
            throw new IllegalArgumentException(region + " is not a region of " + uri);
        }
        own.range(offset, length);
        return own;
    }

    @Override
    protected final boolean isReadOnly(OfiRegion region) {
        return region.isReadOnly;
    }

    @Override
    protected final OfiConnection usable(long connection) {
        OfiConnection c = connections.find(connection);
        return c != null && c.state == OfiConnection.CONNECTED ? c : null;
    }

    @Override
    protected final boolean isFull() {
        return works.isEmpty(ring.valueCount());
    }

    @Override
    protected final boolean hasCredit(OfiConnection c) {
        return c.hasCredit();
    }

    @Override
    protected final boolean hasAtomics() {
        return hasAtomics;
    }

    @Override
    protected final Work take() {
        return works.take();
    }

    @Override
    protected final void takeEvents() {
        engine.takeEvents();
    }

    @Override
    protected final int sendAtOnce(
            OfiConnection c, OfiRegion region, long offset, long length, long context) {
        int answer = posts.inject(c, region.begin() + offset, length);
        if (answer != 0) {
            return answer == -fabric.VFI_EAGAIN ? BACK_PRESSURED : NEEDS_WORK;
        }
        c.onSent();
        region.onPosted(ring.add(c.handle, Operation.SEND, context, Status.OK, length));
        return ACCEPTED;
    }

    @Override
    protected final boolean send(Work w) {
        long descriptor = w.regions[0].descriptor;
        return engine.send(w, w.connection, w.localAddress(), (int) w.lengths[0], descriptor);
    }

    @Override
    protected final int start(Work w, RemoteDescriptor remote) {
        hear();
        engine.start(w, remote);
        return ACCEPTED;
    }

    @Override
    protected final void startAtomic(
            Work w, RemoteDescriptor target, long offset, long operand, long update) {
        hear();
        engine.startAtomic(w, target, offset, operand, update);
    }

    private void hear() {
        if (hearsFirst) {
            engine.takeEvents();
        }
    }
}
