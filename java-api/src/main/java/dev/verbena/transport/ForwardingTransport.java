package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.nio.file.Path;
import org.agrona.DirectBuffer;

/**
 * Hands every call to another transport; the decorators change what they are about.
 *
 * <p>Every operation passes {@link #refusal} on its way there and {@link #posted} on its way back.
 */
abstract class ForwardingTransport extends TransferTransport {
    /** The transport that does the work. */
    protected final Transport delegate;

    ForwardingTransport(Transport delegate) {
        this.delegate = delegate;
    }

    /**
     * Asked before an operation is posted.
     *
     * @return {@link #ACCEPTED} to post it, otherwise what it answers instead
     */
    int refusal(long connection) {
        return ACCEPTED;
    }

    /**
     * Is notified of each operation that was posted.
     *
     * @param answer of the transport within
     * @param operation of {@link Operation}
     * @return what the operation answers
     */
    int posted(int answer, long connection, int operation, long context) {
        return answer;
    }

    @Override
    public URI uri() {
        return delegate.uri();
    }

    @Override
    public long capabilities() {
        return delegate.capabilities();
    }

    @Override
    public TransportLimits limits() {
        return delegate.limits();
    }

    @Override
    public RegisteredRegion allocate(long length, int rights) {
        return delegate.allocate(length, rights);
    }

    @Override
    public RegisteredRegion register(OffHeapMemory memory, int rights) {
        return delegate.register(memory, rights);
    }

    @Override
    public OffHeapMemory mapFile(Path file, long length) {
        return delegate.mapFile(file, length);
    }

    @Override
    public void listen() {
        delegate.listen();
    }

    @Override
    public long connect(
            URI peer,
            DirectBuffer privateData,
            int offset,
            int length,
            long context,
            long timeoutNs) {
        return delegate.connect(peer, privateData, offset, length, context, timeoutNs);
    }

    @Override
    public int accept(long connection, long context) {
        return delegate.accept(connection, context);
    }

    @Override
    public int reject(long connection) {
        return delegate.reject(connection);
    }

    @Override
    public int disconnect(long connection) {
        return delegate.disconnect(connection);
    }

    @Override
    public int send(
            long connection,
            RegisteredRegion source,
            long offset,
            long length,
            long context,
            int flags) {
        int refusal = refusal(connection);
        return refusal != ACCEPTED
                ? refusal
                : posted(
                        delegate.send(connection, source, offset, length, context, flags),
                        connection,
                        Operation.SEND,
                        context);
    }

    @Override
    protected int transfer(
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
        int refusal = refusal(connection);
        if (refusal != ACCEPTED) {
            return refusal;
        }
        int answer =
                switch (operation) {
                    case Operation.PUT ->
                            delegate.put(
                                    connection,
                                    local,
                                    offset,
                                    remote,
                                    remoteOffset,
                                    length,
                                    context,
                                    flags);
                    case Operation.PUT_NOTIFY ->
                            delegate.putNotify(
                                    connection,
                                    local,
                                    offset,
                                    remote,
                                    remoteOffset,
                                    length,
                                    tag,
                                    context,
                                    flags);
                    default ->
                            delegate.get(
                                    connection,
                                    local,
                                    offset,
                                    remote,
                                    remoteOffset,
                                    length,
                                    context,
                                    flags);
                };
        return posted(answer, connection, operation, context);
    }

    @Override
    public int transferSummed(
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
        int refusal = refusal(connection);
        if (refusal != ACCEPTED) {
            return refusal;
        }
        int answer;
        if (operation == Operation.PUT) {
            answer =
                    delegate.putSummed(
                            connection,
                            local,
                            offset,
                            remote,
                            remoteOffset,
                            length,
                            sum,
                            context,
                            flags);
        } else {
            answer =
                    delegate.getSummed(
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
        return posted(answer, connection, operation, context);
    }

    @Override
    protected int transfer(
            int operation,
            long connection,
            TransferVector vector,
            RemoteDescriptor remote,
            long context,
            int flags) {
        int refusal = refusal(connection);
        if (refusal != ACCEPTED) {
            return refusal;
        }
        int answer =
                operation == Operation.PUT
                        ? delegate.put(connection, vector, remote, context, flags)
                        : delegate.get(connection, vector, remote, context, flags);
        return posted(answer, connection, operation, context);
    }

    @Override
    protected int atomic(
            int operation,
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long operand,
            long update,
            long context,
            int flags) {
        int refusal = refusal(connection);
        if (refusal != ACCEPTED) {
            return refusal;
        }
        int answer =
                operation == Operation.FETCH_ADD
                        ? delegate.fetchAdd(
                                connection, target, targetOffset, operand, context, flags)
                        : delegate.compareSwap(
                                connection, target, targetOffset, operand, update, context, flags);
        return posted(answer, connection, operation, context);
    }

    @Override
    public void retain(long messageToken) {
        delegate.retain(messageToken);
    }

    @Override
    public void release(long messageToken) {
        delegate.release(messageToken);
    }

    @Override
    public boolean await(long deadlineNs) {
        return delegate.await(deadlineNs);
    }

    @Override
    public void wakeup() {
        delegate.wakeup();
    }

    @Override
    public long nanoTime() {
        return delegate.nanoTime();
    }

    @Override
    public void close() {
        delegate.close();
    }
}
