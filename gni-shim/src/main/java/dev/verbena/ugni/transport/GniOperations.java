package dev.verbena.ugni.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.ReadyList;
import dev.verbena.transport.core.RecordConnections;
import dev.verbena.transport.core.RecordInbox;
import dev.verbena.transport.core.RegionTable;
import dev.verbena.transport.core.WorkTransport;
import java.net.URI;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The data path of {@link GniTransport}: what can be posted, and the parts that it needs. A
 * superclass and not a part, so that an operation finds them one load away.
 */
abstract class GniOperations extends WorkTransport<GniConnection, GniRegion, Work> {
    final GniResources resources;
    final EventRing ring;
    final Registrations registrations;
    final Connections connections;
    final Inbox inbox;
    final ReadyList ready;
    final Engine engine;
    private final WorkPool works;

    GniOperations(TransportContext context, GniResources resources, URI uri, long fmaMax) {
        super(uri, limits(context, context.connectionsMax(), ControlRecord.PRIVATE_MAX));
        this.resources = resources;
        this.ring = new EventRing(context.outstandingMax(), context.connectionsMax());
        this.registrations = new Registrations(guard, resources);
        this.ready = new ReadyList(context.connectionsMax());
        this.works = new WorkPool(resources, context.outstandingMax());
        long nowNs = SystemNanoClock.INSTANCE.nanoTime();
        this.connections = new Connections(resources, ring, ready, context, nowNs);
        this.engine = new Engine(resources, ring, works, connections, fmaMax);
        connections.drain(engine::takeEvents);
        this.inbox = new Inbox(resources, ring, ready, engine, connections, registrations, context);
    }

    @Override
    protected final RegionTable<?> regions() {
        return registrations;
    }

    @Override
    protected final RecordInbox<?, ?> inbox() {
        return inbox;
    }

    @Override
    protected final RecordConnections<?> connections() {
        return connections;
    }

    @Override
    protected final GniRegion own(RegisteredRegion region, long offset, long length) {
        if (!(region instanceof GniRegion own) || own.registrations() != registrations) {
            throw new IllegalArgumentException(region + " is not a region of " + uri);
        }
        own.range(offset, length);
        return own;
    }

    @Override
    protected final boolean isReadOnly(GniRegion region) {
        return region.isReadOnly();
    }

    @Override
    protected final GniConnection usable(long connection) {
        GniConnection c = connections.find(connection);
        return c != null && c.state == GniConnection.CONNECTED && c.endpoint != 0 ? c : null;
    }

    @Override
    protected final boolean isFull() {
        return works.isEmpty();
    }

    @Override
    protected final boolean hasCredit(GniConnection c) {
        return connections.hasCredit(c);
    }

    @Override
    protected final boolean canSend(GniConnection c) {
        return !c.isSendingLong() && connections.hasCredit(c);
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
    protected final boolean send(Work w) {
        return engine.send(w, w.connection, w.localAddress(), (int) w.lengths[0]);
    }

    @Override
    protected final int start(Work w, RemoteDescriptor remote) {
        if (w.needsBounce(remote)) {
            if (!works.hasBounce()) {
                engine.takeEvents(); // gets that are done give theirs back
            }
            if (!works.hasBounce()) {
                works.release(w);
                return BACK_PRESSURED;
            }
            works.takeBounce(w);
        }
        engine.start(w, remote);
        if (w.operation == Operation.PUT_NOTIFY) {
            // The notice follows the put's event: at once, for the caller may not poll for long.
            engine.takeEvents();
        }
        return ACCEPTED;
    }

    @Override
    protected final void startAtomic(
            Work w, RemoteDescriptor target, long offset, long operand, long update) {
        engine.startAtomic(w, target, offset, operand, update);
    }
}
