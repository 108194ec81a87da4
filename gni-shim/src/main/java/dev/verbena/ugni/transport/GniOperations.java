package dev.verbena.ugni.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.EventRing;
import dev.verbena.transport.core.GuardedTransport;
import dev.verbena.transport.core.Ranges;
import dev.verbena.transport.core.ReadyList;
import java.net.URI;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The data path of {@link GniTransport}: what can be posted, and the parts that it needs. A
 * superclass and not a part, so that an operation finds them one load away.
 */
abstract class GniOperations extends GuardedTransport {
    final GniResources resources;
    final EventRing ring;
    final Registrations registrations;
    final Connections connections;
    final ReadyList ready;
    final Engine engine;
    private final WorkPool works;

    GniOperations(TransportContext context, GniResources resources, URI uri, long fmaMax) {
        super(
                uri.toString(),
                uri,
                limits(context, context.connectionsMax(), ControlRecord.PRIVATE_MAX));
        this.resources = resources;
        this.ring = new EventRing(context.outstandingMax(), context.connectionsMax());
        this.registrations = new Registrations(guard, resources);
        this.ready = new ReadyList(context.connectionsMax());
        this.works = new WorkPool(resources, context.outstandingMax());
        long nowNs = SystemNanoClock.INSTANCE.nanoTime();
        this.connections = new Connections(resources, ring, ready, context, nowNs);
        this.engine = new Engine(resources, ring, works, connections, fmaMax);
        connections.drain(engine::takeEvents);
    }

    private GniRegion own(RegisteredRegion region, long offset, long length) {
        if (!(region instanceof GniRegion own) || own.registrations() != registrations) {
            throw new IllegalArgumentException(region + " is not a region of " + uri);
        }
        own.range(offset, length);
        return own;
    }

    /**
     * A get stores into its region, also with plain stores of ours: those would end the process.
     */
    private static void requireWritable(int operation, GniRegion region) {
        if (operation == Operation.GET && region.isReadOnly()) {
            throw new IllegalArgumentException(
                    region + " is memory that may only be read: a get would write it");
        }
    }

    private GniConnection usable(long connection) {
        GniConnection c = connections.find(connection);
        return c != null && c.state == GniConnection.CONNECTED && c.endpoint != 0 ? c : null;
    }

    /** Whether an operation can be accepted: there is a place for it, and a fence is kept. */
    private boolean canStart(GniConnection c, int flags) {
        if ((flags & FENCE) != 0 && c.inFlight() > 0) {
            engine.takeEvents();
            if (c.inFlight() > 0) {
                return false;
            }
        }
        return !works.isEmpty() && c.state == GniConnection.CONNECTED;
    }

    @Override
    public int send(
            long connection,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            GniRegion region = own(source, offset, length);
            GniConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            if (length > c.messageLengthMax) {
                return TOO_LONG;
            }
            if (!canStart(c, flags) || c.isSendingLong() || !connections.hasCredit(c)) {
                return BACK_PRESSURED;
            }
            Work w = works.take();
            w.begin(c, Operation.SEND, context);
            w.add(region, offset, 0, length);
            if (!engine.send(w, c, w.localAddress(), (int) length)) {
                works.release(w);
                return BACK_PRESSURED;
            }
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    @Override
    protected final int transfer(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            int tag,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            GniRegion region = own(local, offset, length);
            requireWritable(operation, region);
            GniConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            boolean isNotifying = operation == Operation.PUT_NOTIFY;
            // The event at the target takes a credit, so that its mailbox cannot overrun.
            if (!canStart(c, flags) || (isNotifying && !connections.hasCredit(c))) {
                return BACK_PRESSURED;
            }
            Work w = works.take();
            w.begin(c, operation, context);
            w.add(region, offset, remoteOffset, length);
            if (isNotifying) {
                w.tag(tag);
                w.holdCredit();
                c.onCreditUsed();
            }
            return start(w, remote);
        } finally {
            guard.exit();
        }
    }

    @Override
    protected final int transfer(
            int operation,
            long connection,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            for (int i = 0; i < vector.count(); i++) {
                GniRegion region = own(vector.region(i), vector.offset(i), vector.length(i));
                requireWritable(operation, region);
            }
            GniConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            if (!canStart(c, flags)) {
                return BACK_PRESSURED;
            }
            Work w = works.take();
            w.begin(c, operation, context);
            for (int i = 0; i < vector.count(); i++) {
                w.add(vector.region(i), vector.offset(i), vector.remoteOffset(i), vector.length(i));
            }
            return start(w, remote);
        } finally {
            guard.exit();
        }
    }

    private int start(Work w, RemoteDescriptor remote) {
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
    protected final int atomic(
            int operation,
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long operand,
            long update,
            long context,
            int flags) {
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            GniConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            Ranges.requireAligned(target, targetOffset);
            if (!canStart(c, flags)) {
                return BACK_PRESSURED;
            }
            Work w = works.take();
            w.begin(c, operation, context);
            engine.startAtomic(w, target, targetOffset, operand, update);
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }
}
