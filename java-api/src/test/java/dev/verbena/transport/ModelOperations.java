package dev.verbena.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.core.Ranges;
import org.agrona.concurrent.UnsafeBuffer;

/** What a transport of the model can be asked to move. */
abstract class ModelOperations extends ModelConnections {
    ModelOperations(ModelNetwork network, String name, TransportContext context) {
        super(network, name, context);
    }

    static ModelRegion local(
            ModelTransport user, RegisteredRegion region, long offset, long length) {
        if (region.isClosed()) {
            throw new IllegalStateException(region + " is closed");
        }
        if (!(region instanceof ModelRegion mine) || mine.transport() != user) {
            throw new IllegalArgumentException(region + " is of another transport");
        }
        if (length < 0 || offset < 0 || offset > region.length() - length) {
            throw new IllegalArgumentException(
                    "range " + offset + " + " + length + " is outside " + region);
        }
        return mine;
    }

    @Override
    public int send(
            long handle,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags) {
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            int refusal = refusal(connection, true);
            if (refusal == CLOSED || refusal == NOT_CONNECTED) {
                return refusal;
            }
            ModelRegion from = local(self(), source, offset, length);
            if (length > limits.messageLengthMax()) {
                return TOO_LONG;
            }
            ModelTransport target = connection.peer;
            if (refusal != ACCEPTED
                    || connection.inFlight == target.limits.creditsPerConnection()
                    || target.slotsUsed == target.limits.receiveSlotCount()) {
                return BACK_PRESSURED;
            }
            Connection theirs = target.connections.get(connection.peerHandle);
            Event message = target.event(MESSAGE, theirs);
            if (message.payload == null || message.payload.capacity() < limits.messageLengthMax()) {
                message.payload = new UnsafeBuffer(new byte[limits.messageLengthMax()]);
            }
            message.payload.putBytes(0, from.bytes, (int) offset, (int) length);
            message.length = length;
            connection.inFlight++;
            target.slotsUsed++;
            target.deliver(message);
            complete(connection, Operation.SEND, context, from, Status.OK, length);
            return ACCEPTED;
        }
    }

    /** Finds what a descriptor names: a status; the region is left in {@link #found}. */
    int find(Connection connection, RemoteDescriptor d, long offset, long length, int right) {
        found = connection.peer.regions.get(d.keyLow());
        if (found == null
                || d.keyHigh() != connection.peer.incarnation
                || d.kind() != RemoteDescriptor.KIND_SIM) {
            return Status.STALE_KEY;
        }
        if ((d.rights() & right) == 0 || (found.rights() & right) == 0) {
            return Status.ACCESS;
        }
        boolean fits =
                offset >= 0
                        && offset <= d.length() - length
                        && d.base() >= 0
                        && d.base() <= found.length()
                        && d.length() <= found.length() - d.base();
        return fits ? Status.OK : Status.BOUNDS;
    }

    ModelRegion found;

    int move(
            Connection connection,
            ModelRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            boolean isPut) {
        int right = isPut ? RemoteDescriptor.REMOTE_WRITE : RemoteDescriptor.REMOTE_READ;
        int status = find(connection, remote, remoteOffset, length, right);
        if (status == Status.OK) {
            int at = (int) (remote.base() + remoteOffset);
            if (isPut) {
                found.bytes.putBytes(at, local.bytes, (int) offset, (int) length);
            } else {
                local.bytes.putBytes((int) offset, found.bytes, at, (int) length);
            }
        }
        return status;
    }

    @Override
    protected int transfer(
            int operation,
            long handle,
            RegisteredRegion region,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            int tag,
            long context,
            int flags) {
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            int refusal = refusal(connection, true);
            if (refusal == CLOSED || refusal == NOT_CONNECTED) {
                return refusal;
            }
            ModelRegion local = local(self(), region, offset, length);
            if (refusal != ACCEPTED) {
                return refusal;
            }
            boolean isPut = operation != Operation.GET;
            int status = move(connection, local, offset, remote, remoteOffset, length, isPut);
            if (status == Status.OK && operation == Operation.PUT_NOTIFY) {
                ModelTransport target = connection.peer;
                Event event = target.event(NOTIFY, target.connections.get(connection.peerHandle));
                event.operation = tag;
                event.value = found.id();
                event.offset = remote.base() + remoteOffset;
                event.length = length;
                target.deliver(event);
            }
            complete(
                    connection,
                    operation,
                    context,
                    local,
                    status,
                    status == Status.OK ? length : 0);
            return ACCEPTED;
        }
    }

    @Override
    protected int transfer(
            int operation,
            long handle,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            int flags) {
        boolean isPut = operation == Operation.PUT;
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            int refusal = refusal(connection, true);
            if (refusal == CLOSED || refusal == NOT_CONNECTED) {
                return refusal;
            }
            for (int i = 0; i < vector.count(); i++) {
                local(self(), vector.region(i), vector.offset(i), vector.length(i));
            }
            if (refusal != ACCEPTED) {
                return refusal;
            }
            int worst = Status.OK;
            long moved = 0;
            for (int i = 0; i < vector.count(); i++) {
                ModelRegion local = (ModelRegion) vector.region(i);
                int status =
                        move(
                                connection,
                                local,
                                vector.offset(i),
                                remote,
                                vector.remoteOffset(i),
                                vector.length(i),
                                isPut);
                worst = Math.max(worst, status);
                moved += status == Status.OK ? vector.length(i) : 0;
            }
            complete(connection, operation, context, null, worst, moved);
            ModelRegion[] used = new ModelRegion[vector.count()];
            for (int i = 0; i < used.length; i++) {
                used[i] = (ModelRegion) vector.region(i);
                used[i].outstanding++;
            }
            events.peekLast().more = used;
            return ACCEPTED;
        }
    }

    @Override
    protected int atomic(
            int operation,
            long handle,
            RemoteDescriptor target,
            long offset,
            long first,
            long second,
            long context,
            int flags) {
        own();
        synchronized (network) {
            Connection connection = connection(handle);
            int refusal = refusal(connection, true);
            if (refusal == CLOSED || refusal == NOT_CONNECTED) {
                return refusal;
            }
            Ranges.requireAligned(target, offset);
            if (refusal != ACCEPTED) {
                return refusal;
            }
            int status = find(connection, target, offset, 8, RemoteDescriptor.REMOTE_ATOMIC);
            long before = 0;
            if (status == Status.OK) {
                int at = (int) (target.base() + offset);
                before = found.bytes.getLong(at);
                if (operation == Operation.FETCH_ADD) {
                    found.bytes.putLong(at, before + first);
                } else if (before == first) {
                    found.bytes.putLong(at, second);
                }
            }
            complete(connection, operation, context, null, status, before);
            return ACCEPTED;
        }
    }
}
