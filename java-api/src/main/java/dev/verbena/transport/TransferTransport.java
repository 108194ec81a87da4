package dev.verbena.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;

/**
 * A transport whose puts, gets and notifying puts are one kind of transfer, and whose atomics are
 * one kind of operation: a provider writes three methods for the seven of the contract. Constants
 * of {@link Operation} say which it is. Results and rules are those of {@link Transport}.
 */
public abstract class TransferTransport implements Transport {
    private Class<?> checkedHandler;

    /** For providers and decorators. */
    protected TransferTransport() {}

    /** Refuses a handler that can never be called. Cheap for a class that was seen last time. */
    protected final void requireHandler(TransportHandler handler) {
        if (handler.getClass() != checkedHandler) {
            HandlerCheck.require(handler);
            checkedHandler = handler.getClass();
        }
    }

    /**
     * Moves one range.
     *
     * @param operation {@code PUT}, {@code GET} or {@code PUT_NOTIFY}
     * @param tag of a {@code PUT_NOTIFY}, otherwise 0
     */
    protected abstract int transfer(
            int operation,
            long connection,
            RegisteredRegion local,
            long offset,
            RemoteDescriptor remote,
            long remoteOffset,
            long length,
            int tag,
            long context,
            int flags);

    /**
     * Moves several ranges, with one completion.
     *
     * @param operation {@code PUT} or {@code GET}
     */
    protected abstract int transfer(
            int operation,
            long connection,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            int flags);

    /**
     * Changes 8 bytes at the peer.
     *
     * @param operation {@code FETCH_ADD} or {@code COMPARE_SWAP}
     * @param operand what is added, or expected
     * @param update what is stored instead, of a {@code COMPARE_SWAP}
     */
    protected abstract int atomic(
            int operation,
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long operand,
            long update,
            long context,
            int flags);

    @Override
    public final int put(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            long context,
            int flags) {
        return transfer(
                Operation.PUT,
                connection,
                source,
                offset,
                target,
                targetOffset,
                length,
                0,
                context,
                flags);
    }

    @Override
    public final int putNotify(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            int tag,
            long context,
            int flags) {
        return transfer(
                Operation.PUT_NOTIFY,
                connection,
                source,
                offset,
                target,
                targetOffset,
                length,
                tag,
                context,
                flags);
    }

    @Override
    public final int get(
            long connection,
            RegisteredRegion destination,
            long offset,
            RemoteDescriptor source,
            long sourceOffset,
            long length,
            long context,
            int flags) {
        return transfer(
                Operation.GET,
                connection,
                destination,
                offset,
                source,
                sourceOffset,
                length,
                0,
                context,
                flags);
    }

    @Override
    public final int put(
            long connection,
            TransferVector vector,
            RemoteDescriptor target,
            long context,
            int flags) {
        return transfer(Operation.PUT, connection, vector, target, context, flags);
    }

    @Override
    public final int get(
            long connection,
            TransferVector vector,
            RemoteDescriptor source,
            long context,
            int flags) {
        return transfer(Operation.GET, connection, vector, source, context, flags);
    }

    @Override
    public final int fetchAdd(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long delta,
            long context,
            int flags) {
        return atomic(
                Operation.FETCH_ADD, connection, target, targetOffset, delta, 0, context, flags);
    }

    @Override
    public final int compareSwap(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long expected,
            long update,
            long context,
            int flags) {
        return atomic(
                Operation.COMPARE_SWAP,
                connection,
                target,
                targetOffset,
                expected,
                update,
                context,
                flags);
    }
}
