package dev.verbena.nsim.world;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.core.Ranges;

/** What a simulated transport can be asked to move. */
abstract class TransportOperations extends TransportConnections {
    TransportOperations(SimulatedProcess process, String name, TransportContext context) {
        super(process, name, context);
    }

    private Connection open(long handle) {
        Connection connection = byHandle.get(handle);
        return connection == null || !connection.isOpen || connection.isEnding ? null : connection;
    }

    private SimulatedRegion local(RegisteredRegion region, long offset, long length) {
        if (!(region instanceof SimulatedRegion mine) || mine.transport != this) {
            throw new IllegalArgumentException(region + " is of another transport");
        }
        if (mine.isClosed()) {
            throw new IllegalStateException(region + " is closed");
        }
        if (!Ranges.isInside(offset, length, mine.length())) {
            throw new IllegalArgumentException(
                    "offset " + offset + " length " + length + " is outside " + region);
        }
        return mine;
    }

    /** Why nothing can be posted now. */
    private int refusal() {
        if (outstanding >= limits.outstandingMax()) {
            return BACK_PRESSURED;
        }
        if (process.refusesOneIn > 0 && world.random.nextInt(process.refusesOneIn) == 0) {
            world.trace("refused", process);
            world.wake(process);
            return BACK_PRESSURED;
        }
        return ACCEPTED;
    }

    private Work begin(int kind, Connection connection, long context, int flags) {
        Work work = world.work(kind, self(), connection.peer.owner);
        work.post(connection, context, (flags & FENCE) != 0);
        return work;
    }

    private int post(Work work) {
        posted();
        for (int i = 0; i < work.segments; i++) {
            work.locals[i].use();
        }
        Connection connection = work.connection;
        connection.add(work);
        if (!connection.waiting.isEmpty() || work.isFenced && connection.unplaced > 0) {
            connection.waiting.add(work);
        } else {
            world.deliveries.startAfter(process.post(), work);
        }
        return ACCEPTED;
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
        synchronized (world) {
            Connection connection = open(handle);
            if (isClosed || connection == null) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            SimulatedRegion from = local(source, offset, length);
            if (length > limits.messageLengthMax()
                    || length > connection.peer.owner.limits.messageLengthMax()) {
                return TOO_LONG;
            }
            if (connection.inFlight >= connection.peer.granted || refusal() != ACCEPTED) {
                return BACK_PRESSURED;
            }
            Work work = begin(Operation.SEND, connection, context, flags);
            work.payload(from.bytes, (int) offset, (int) length);
            work.segment(from, offset, 0, 0); // all is copied, but its region is in use
            work.message(connection.nextSequence());
            connection.takeSlot();
            return post(work);
        }
    }

    @Override
    protected int transfer(
            int kind,
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
        synchronized (world) {
            Connection connection = open(handle);
            if (isClosed || connection == null) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            SimulatedRegion local = local(region, offset, length);
            int refusal = refusal();
            if (refusal != ACCEPTED) {
                return refusal;
            }
            Work work = begin(kind, connection, context, flags);
            work.remote(remote);
            work.segment(local, offset, remoteOffset, length);
            work.notify(tag);
            return post(work);
        }
    }

    @Override
    protected int transfer(
            int kind,
            long handle,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            int flags) {
        own();
        synchronized (world) {
            Connection connection = open(handle);
            if (isClosed || connection == null) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            for (int i = 0; i < vector.count(); i++) {
                local(vector.region(i), vector.offset(i), vector.length(i));
            }
            int refusal = refusal();
            if (refusal != ACCEPTED) {
                return refusal;
            }
            Work work = begin(kind, connection, context, flags);
            work.remote(remote);
            for (int i = 0; i < vector.count(); i++) {
                SimulatedRegion local = (SimulatedRegion) vector.region(i);
                work.segment(local, vector.offset(i), vector.remoteOffset(i), vector.length(i));
            }
            return post(work);
        }
    }

    @Override
    protected int atomic(
            int kind,
            long handle,
            RemoteDescriptor target,
            long targetOffset,
            long first,
            long second,
            long context,
            int flags) {
        own();
        synchronized (world) {
            Connection connection = open(handle);
            if (isClosed || connection == null) {
                return isClosed ? CLOSED : NOT_CONNECTED;
            }
            Ranges.requireAligned(target, targetOffset);
            int refusal = refusal();
            if (refusal != ACCEPTED) {
                return refusal;
            }
            Work work = begin(kind, connection, context, flags);
            work.remote(target);
            work.atomic(targetOffset, first, second);
            return post(work);
        }
    }
}
