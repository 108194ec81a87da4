package dev.verbena.verbs.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportLimits;
import dev.verbena.transport.core.ConnectionTable;
import dev.verbena.transport.core.GuardedTransport;
import dev.verbena.transport.core.Ranges;
import java.net.URI;

/** The data path of {@link VerbsTransport}: every operation that can be posted. */
abstract class VerbsOperations extends GuardedTransport {
    final WorkPool works;
    final VerbsConnections connections;
    private final ConnectionTable<VerbsConnection> table;
    private final boolean hasAtomics;

    VerbsOperations(
            URI uri,
            TransportLimits limits,
            WorkPool works,
            VerbsConnections connections,
            boolean hasAtomics) {
        super("verbs transport " + uri, uri, limits);
        this.works = works;
        this.connections = connections;
        this.table = connections.table();
        this.hasAtomics = hasAtomics;
    }

    private VerbsConnection open(long handle) {
        VerbsConnection connection = table.find(handle);
        return connection != null && connection.state == VerbsConnection.OPEN ? connection : null;
    }

    /** What makes an operation end at once, or OK. */
    private static int check(
            VerbsConnection connection,
            RemoteDescriptor target,
            long offset,
            long length,
            int rights) {
        return target.keyHigh() == connection.endpoint.incarnation()
                ? Ranges.check(target, RemoteDescriptor.KIND_VERBS, rights, offset, length)
                : Status.STALE_KEY;
    }

    private int start(VerbsConnection connection, Work work) {
        boolean isRefused = work.status != Status.OK && !work.hasPieces();
        if (isRefused || work.isNothing() && !mustWait(connection, work)) {
            works.end(work);
        } else {
            connection.add(work);
            connections.post(connection);
        }
        return ACCEPTED;
    }

    /** A fence counts also where nothing is to be moved. */
    private static boolean mustWait(VerbsConnection connection, Work work) {
        return work.isFenced() && connection.hasWorks();
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
            VerbsRegion region = own(source);
            region.range(offset, length);
            VerbsConnection to = open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (length > limits.messageLengthMax() || length > to.endpoint.messageLengthMax()) {
                return TOO_LONG;
            }
            Work work = to.credits.isAny() ? works.take() : null;
            if (work == null) {
                return BACK_PRESSURED;
            }
            work.begin(to, Operation.SEND, context, (flags & FENCE) != 0);
            work.add(region, offset, 0, length);
            work.expect(length);
            return start(to, work);
        } finally {
            guard.exit();
        }
    }

    /** The NIC would refuse such a get, and break the connection over it. */
    private static void requireWritable(int operation, VerbsRegion region) {
        if (operation == Operation.GET && region.isReadOnly) {
            throw new IllegalArgumentException(
                    region + " is memory that may only be read: a get would write it");
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
            VerbsRegion region = own(local);
            region.range(offset, length);
            requireWritable(operation, region);
            VerbsConnection to = open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            int key = (int) remote.keyLow();
            boolean isRoom = operation != Operation.PUT_NOTIFY || to.credits.isAny();
            Work work = isRoom ? works.take() : null;
            if (work == null) {
                return BACK_PRESSURED;
            }
            work.begin(to, operation, context, (flags & FENCE) != 0);
            work.remote(key, tag);
            int status = check(to, remote, remoteOffset, length, Work.rights(operation));
            if (status != Status.OK) {
                work.fail(status);
            } else {
                work.add(region, offset, remote.base() + remoteOffset, length);
                work.expect(length);
            }
            return start(to, work);
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
                VerbsRegion region = own(vector.region(i));
                region.range(vector.offset(i), vector.length(i));
                requireWritable(operation, region);
            }
            VerbsConnection to = open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            int key = (int) remote.keyLow();
            Work work = works.take();
            if (work == null) {
                return BACK_PRESSURED;
            }
            work.begin(to, operation, context, (flags & FENCE) != 0);
            work.remote(key, 0);
            long moved = 0;
            for (int i = 0; i < vector.count(); i++) {
                long at = vector.remoteOffset(i);
                long length = vector.length(i);
                int status = check(to, remote, at, length, Work.rights(operation));
                // A piece that does not fit moves nothing, and its region is in use all the same.
                long fitting = status == Status.OK ? length : 0;
                work.add(own(vector.region(i)), vector.offset(i), remote.base() + at, fitting);
                work.worsen(status);
                moved += fitting;
            }
            work.expect(moved);
            return start(to, work);
        } finally {
            guard.exit();
        }
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
        if (!hasAtomics) {
            return NOT_SUPPORTED;
        }
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            Ranges.requireAligned(target, targetOffset);
            VerbsConnection to = open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            Work work = works.take();
            if (work == null) {
                return BACK_PRESSURED;
            }
            work.begin(to, operation, context, (flags & FENCE) != 0);
            work.remote((int) target.keyLow(), 0).operands(operand, update);
            int right = RemoteDescriptor.REMOTE_ATOMIC;
            int status = check(to, target, targetOffset, Long.BYTES, right);
            if (status != Status.OK) {
                work.fail(status);
            } else {
                work.add(null, 0, target.base() + targetOffset, Long.BYTES);
            }
            return start(to, work);
        } finally {
            guard.exit();
        }
    }

    final VerbsRegion own(RegisteredRegion region) {
        if (region instanceof VerbsRegion own && own.transport() == this) {
            return own;
        }
        throw new IllegalArgumentException(region + " is not a region of " + this);
    }
}
