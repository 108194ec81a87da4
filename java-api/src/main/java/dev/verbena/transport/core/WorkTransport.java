package dev.verbena.transport.core;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Operation;
import dev.verbena.transport.TransferVector;
import dev.verbena.transport.TransportLimits;
import java.net.URI;

/**
 * A {@link RecordTransport} over an interface that reports the end of an operation later: each
 * operation that is accepted becomes a {@link RecordWork}. A provider checks regions and
 * connections, and starts the work.
 *
 * @param <C> the provider's connection
 * @param <R> the provider's region
 * @param <W> the provider's operation
 */
public abstract class WorkTransport<
                C extends TableConnection, R extends TransportRegion, W extends RecordWork<C, R>>
        extends RecordTransport {
    /** For providers. */
    protected WorkTransport(URI uri, TransportLimits limits) {
        super(uri, limits, thread -> {});
    }

    /**
     * The region, if it is this transport's.
     *
     * @throws IllegalArgumentException if it is not, or the range is not inside
     * @throws IllegalStateException if it is closed
     */
    protected abstract R own(RegisteredRegion region, long offset, long length);

    /** Whether this process itself may only read the region's memory. */
    protected abstract boolean isReadOnly(R region);

    /** The connection, or null if nothing can be posted on it. */
    protected abstract C usable(long connection);

    /** Whether no more operations can be outstanding. */
    protected abstract boolean isFull();

    /** Whether the peer has a place for one more message or notification. */
    protected abstract boolean hasCredit(C c);

    /** Whether a message can be sent now. */
    protected boolean canSend(C c) {
        return hasCredit(c);
    }

    /** Whether there are atomics. */
    protected boolean hasAtomics() {
        return true;
    }

    /** A work that is free; there is one. */
    protected abstract W take();

    /** What {@link #sendAtOnce} answers where a message needs a work. */
    protected static final int NEEDS_WORK = 1;

    /**
     * Sends a message whose bytes nobody needs afterwards, and adds its completion. It saves a
     * short message the making and the end of a work. Answers as {@code send}, or {@link
     * #NEEDS_WORK}.
     */
    protected int sendAtOnce(C c, R region, long offset, long length, long context) {
        return NEEDS_WORK;
    }

    /** Sends the message that is the work's only range; false: not now. */
    protected abstract boolean send(W w);

    /** Starts a transfer; answers as the contract's operations do. */
    protected abstract int start(W w, RemoteDescriptor remote);

    /** Starts an atomic. */
    protected abstract void startAtomic(
            W w, RemoteDescriptor target, long offset, long operand, long update);

    /**
     * A get stores into its region, also with plain stores of ours: those would end the process.
     */
    private R own(int operation, RegisteredRegion region, long offset, long length) {
        R own = own(region, offset, length);
        if (operation == Operation.GET && isReadOnly(own)) {
            throw new IllegalArgumentException(
                    region + " is memory that may only be read: a get would write it");
        }
        return own;
    }

    /** Whether an operation can be accepted: there is a place for it, and a fence is kept. */
    private boolean canStart(C c, int flags) {
        if ((flags & FENCE) != 0 && c.inFlight() > 0) {
            takeEvents();
            if (c.inFlight() > 0) {
                return false;
            }
        }
        return !isFull() && c.state == TableConnection.CONNECTED;
    }

    private W begin(C c, int operation, long context) {
        W w = take();
        w.begin(c, operation, context);
        return w;
    }

    @Override
    public final int send(
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
            R region = own(source, offset, length);
            C c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            if (length > c.messageLengthMax) {
                return TOO_LONG;
            }
            if (!canStart(c, flags) || !canSend(c)) {
                return BACK_PRESSURED;
            }
            int answer = sendAtOnce(c, region, offset, length, context);
            if (answer != NEEDS_WORK) {
                return answer;
            }
            W w = begin(c, Operation.SEND, context);
            w.add(region, offset, 0, length);
            if (!send(w)) {
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
            R region = own(operation, local, offset, length);
            C c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            boolean isNotifying = operation == Operation.PUT_NOTIFY;
            // The event at the target takes a credit, so that its mailbox cannot overrun.
            if (!canStart(c, flags) || isNotifying && !hasCredit(c)) {
                return BACK_PRESSURED;
            }
            W w = begin(c, operation, context);
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
                own(operation, vector.region(i), vector.offset(i), vector.length(i));
            }
            C c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            if (!canStart(c, flags)) {
                return BACK_PRESSURED;
            }
            W w = begin(c, operation, context);
            for (int i = 0; i < vector.count(); i++) {
                R region = own(vector.region(i), vector.offset(i), vector.length(i));
                w.add(region, vector.offset(i), vector.remoteOffset(i), vector.length(i));
            }
            return start(w, remote);
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
            if (!hasAtomics()) {
                return NOT_SUPPORTED;
            }
            C c = usable(connection);
            if (c == null) {
                return NOT_CONNECTED;
            }
            Ranges.requireAligned(target, targetOffset);
            if (!canStart(c, flags)) {
                return BACK_PRESSURED;
            }
            W w = begin(c, operation, context);
            startAtomic(w, target, targetOffset, operand, update);
            return ACCEPTED;
        } finally {
            guard.exit();
        }
    }
}
