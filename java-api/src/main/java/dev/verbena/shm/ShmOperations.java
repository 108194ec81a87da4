package dev.verbena.shm;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.softnic.bindings.Layout;
import dev.verbena.softnic.bindings.softnic;
import dev.verbena.transport.Operation;
import dev.verbena.transport.Status;
import dev.verbena.transport.TransferSum;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportLimits;
import dev.verbena.transport.core.GuardedTransport;
import dev.verbena.transport.core.Ranges;
import java.net.URI;
import java.util.Objects;
import org.agrona.UnsafeApi;

/**
 * The data path of {@link ShmTransport}: every operation that can be posted. A superclass and not a
 * part that the transport holds, so that a put finds what it needs one load away.
 */
abstract class ShmOperations extends GuardedTransport {
    final NativeScratch scratch;
    final CompletionRing completions;
    final ShmConnections connections;

    /** Sums cost next to nothing while softnic copies. */
    final boolean hasSums = softnic.snic_sums_are_fast() == 1;

    ShmOperations(
            URI uri,
            TransportLimits limits,
            NativeScratch scratch,
            CompletionRing completions,
            ShmConnections connections) {
        super("shm transport " + uri, uri, limits);
        this.scratch = scratch;
        this.completions = completions;
        this.connections = connections;
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
            ShmRegion region = own(source);
            long from = region.range(offset, length);
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (length > limits.messageLengthMax() || length > to.messageLengthMax()) {
                return TOO_LONG;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            int result = post(to, Layout.SHM_KIND_MESSAGE, 0, from, (int) length);
            if (result == ACCEPTED) {
                region.onPosted(
                        completions.add(connection, Operation.SEND, context, Status.OK, length));
            }
            return result;
        } finally {
            guard.exit();
        }
    }

    /** Posts a message; a peer that wrote nonsense into its credits loses the connection. */
    private int post(ShmConnection to, int kind, int tag, long from, int length) {
        int credit = to.credit();
        if (credit == ShmConnection.AVAILABLE) {
            to.post(kind, tag, from, length);
            return ACCEPTED;
        }
        if (credit == ShmConnection.CORRUPT) {
            connections.corrupt(to, "its credits make no sense");
            return NOT_CONNECTED;
        }
        return BACK_PRESSURED;
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
            ShmRegion region = own(local);
            long address = region.range(offset, length);
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            boolean isNotifying = operation == Operation.PUT_NOTIFY;
            if (completions.isFull() || isNotifying && to.credit() == ShmConnection.NO_CREDIT) {
                return BACK_PRESSURED;
            }
            int status =
                    operation == Operation.PUT && (flags & STREAMED) != 0
                            ? to.putStreamed(address, remote, remoteOffset, length)
                            : to.transfer(
                                    operation != Operation.GET,
                                    address,
                                    remote,
                                    remoteOffset,
                                    length);
            if (isNotifying && status == Status.OK) {
                int result = tell(to, remote, remoteOffset, length, tag);
                if (result != ACCEPTED) {
                    return result;
                }
            }
            region.onPosted(
                    completions.add(
                            connection,
                            operation,
                            context,
                            status,
                            status == Status.OK ? length : 0));
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    @Override
    public final int transferSummed(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            TransferSum sum,
            long context,
            int flags) {
        if (!hasSums || length <= ShmPeerMemory.COPY_MAX) {
            return super.transferSummed(
                    operation,
                    connection,
                    local,
                    offset,
                    remote,
                    remoteOffset,
                    length,
                    sum,
                    context,
                    flags);
        }
        Objects.requireNonNull(sum, "sum");
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            ShmRegion region = own(local);
            long address = region.range(offset, length);
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            boolean isPut = operation == Operation.PUT;
            boolean isStreamed = (flags & STREAMED) != 0;
            int status =
                    to.transferSummed(isPut, isStreamed, address, remote, remoteOffset, length);
            long moved = 0;
            sum.begin(local, offset, length);
            if (status == Status.OK) {
                sum.known(UnsafeApi.getInt(null, scratch.result));
                moved = length;
            }
            region.onPosted(completions.add(connection, operation, context, status, moved));
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    /** Posts the notification of a put that is placed. */
    private int tell(ShmConnection to, RemoteDescriptor target, long offset, long length, int tag) {
        long notify = scratch.notify;
        UnsafeApi.putInt(null, notify + Layout.NOTIFY_SLOT, (int) target.keyLow());
        UnsafeApi.putInt(null, notify + Layout.NOTIFY_GENERATION, target.generation());
        UnsafeApi.putLong(null, notify + Layout.NOTIFY_OFFSET, target.base() + offset);
        UnsafeApi.putLong(null, notify + Layout.NOTIFY_LENGTH, length);
        return post(to, Layout.SHM_KIND_NOTIFY, tag, notify, Layout.NOTIFY_SIZE);
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
                own(vector.region(i)).range(vector.offset(i), vector.length(i));
            }
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            int worst = Status.OK;
            long moved = 0;
            for (int i = 0; i < vector.count(); i++) {
                long local = own(vector.region(i)).range(vector.offset(i), vector.length(i));
                int status =
                        to.transfer(
                                operation == Operation.PUT,
                                local,
                                remote,
                                vector.remoteOffset(i),
                                vector.length(i));
                moved += status == Status.OK ? vector.length(i) : 0;
                worst = Math.max(worst, status);
            }
            long number = completions.add(connection, operation, context, worst, moved);
            for (int i = 0; i < vector.count(); i++) {
                own(vector.region(i)).onPosted(number);
            }
            return ACCEPTED;
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
        if (!guard.enter()) {
            return CLOSED;
        }
        try {
            Ranges.requireAligned(target, targetOffset);
            ShmConnection to = connections.open(connection);
            if (to == null) {
                return NOT_CONNECTED;
            }
            if (completions.isFull()) {
                return BACK_PRESSURED;
            }
            int status =
                    to.atomic(
                            operation == Operation.FETCH_ADD,
                            target,
                            targetOffset,
                            operand,
                            update);
            long before = status == Status.OK ? UnsafeApi.getLong(null, scratch.result) : 0;
            completions.add(connection, operation, context, status, before);
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }

    final ShmRegion own(RegisteredRegion region) {
        if (region instanceof ShmRegion own && own.transport() == this) {
            return own;
        }
        throw new IllegalArgumentException(region + " is not a region of " + this);
    }
}
