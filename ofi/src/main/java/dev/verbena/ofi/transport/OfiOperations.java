package dev.verbena.ofi.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.ControlHeader;
import dev.verbena.transport.core.GuardedTransport;
import dev.verbena.transport.core.Ranges;
import java.net.URI;
import org.agrona.concurrent.SystemNanoClock;

/**
 * The data path of {@link OfiTransport}: what can be posted, and the parts that it needs. A
 * superclass and not a part, so that an operation finds them one load away.
 */
abstract class OfiOperations extends GuardedTransport {
    final Parts parts;
    final Connections connections;
    final Engine engine;
    private final WorkPool works;
    private final boolean hearsFirst;
    private final boolean hasAtomics;

    OfiOperations(TransportContext context, OfiResources resources, URI uri, boolean hasAtomics) {
        super(
                uri.toString(),
                uri,
                limits(context, context.connectionsMax(), ControlHeader.PRIVATE_MAX));
        this.parts = new Parts(context, resources, guard);
        this.works = parts.works;
        this.engine = parts.engine;
        this.connections = new Connections(parts, context, SystemNanoClock.INSTANCE.nanoTime());
        engine.arrivals(new Records(parts, connections, context));
        // Where a key that is gone does harm, what the peer says of keys is heard before each use.
        this.hearsFirst = resources.info.usesVirtualAddresses();
        this.hasAtomics = hasAtomics;
    }

    final OfiRegion own(RegisteredRegion region, long offset, long length) {
        if (!(region instanceof OfiRegion own) || own.regions != parts.regions) {
            throw new IllegalArgumentException(region + " is not a region of " + uri);
        }
        own.range(offset, length);
        return own;
    }

    /**
     * A get stores into its region, also with plain stores of ours: those would end the process.
     */
    private static void requireWritable(int operation, OfiRegion region) {
        if (operation == Operation.GET && region.isReadOnly) {
            throw new IllegalArgumentException(
                    region + " is memory that may only be read: a get would write it");
        }
    }

    private OfiConnection usable(long connection) {
        OfiConnection c = connections.find(connection);
        return c != null && c.state == OfiConnection.CONNECTED ? c : null;
    }

    /** Whether an operation can be accepted: there is a place for it, and a fence is kept. */
    private boolean canStart(OfiConnection c, int flags) {
        if ((flags & FENCE) != 0 && c.inFlight() > 0) {
            engine.takeEvents();
            if (c.inFlight() > 0) {
                return false;
            }
        }
        return !works.isEmpty() && c.state == OfiConnection.CONNECTED;
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
            OfiRegion region = own(source, offset, length);
            OfiConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            if (length > c.messageLengthMax) {
                return TOO_LONG;
            }
            if (!canStart(c, flags) || !c.hasCredit()) {
                return BACK_PRESSURED;
            }
            Work w = works.take();
            w.begin(c, Operation.SEND, context);
            w.add(region, offset, 0, length);
            if (!engine.send(w, c, w.localAddress(), (int) length, region.descriptor)) {
                w.takeBack();
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
            OfiRegion region = own(local, offset, length);
            requireWritable(operation, region);
            OfiConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            boolean isNotifying = operation == Operation.PUT_NOTIFY;
            // The event at the target takes a credit, so that its mailbox cannot overrun.
            if (!canStart(c, flags) || (isNotifying && !c.hasCredit())) {
                return BACK_PRESSURED;
            }
            Work w = works.take();
            w.begin(c, operation, context);
            w.add(region, offset, remoteOffset, length);
            if (isNotifying) {
                w.notify(tag);
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
                OfiRegion region = own(vector.region(i), vector.offset(i), vector.length(i));
                requireWritable(operation, region);
            }
            OfiConnection c = usable(connection);
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
        if (hearsFirst) {
            engine.takeEvents();
        }
        engine.start(w, remote);
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
            if (!hasAtomics) {
                return NOT_SUPPORTED;
            }
            OfiConnection c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            Ranges.requireAligned(target, targetOffset);
            if (!canStart(c, flags)) {
                return BACK_PRESSURED;
            }
            Work w = works.take();
            w.begin(c, operation, context);
            if (hearsFirst) {
                engine.takeEvents();
            }
            engine.startAtomic(w, target, targetOffset, operand, update);
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }
}
