package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import java.net.URI;
import org.agrona.DirectBuffer;

/** Hands every call to another transport; the decorators change what they are about. */
abstract class ForwardingTransport implements Transport {
    /** The transport that does the work. */
    protected final Transport delegate;

    ForwardingTransport(Transport delegate) {
        this.delegate = delegate;
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
        return delegate.send(connection, source, offset, length, context, flags);
    }

    @Override
    public int put(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            long context,
            int flags) {
        return delegate.put(
                connection, source, offset, target, targetOffset, length, context, flags);
    }

    @Override
    public int putNotify(
            long connection,
            RegisteredRegion source,
            long offset,
            RemoteDescriptor target,
            long targetOffset,
            long length,
            int tag,
            long context,
            int flags) {
        return delegate.putNotify(
                connection, source, offset, target, targetOffset, length, tag, context, flags);
    }

    @Override
    public int get(
            long connection,
            RegisteredRegion destination,
            long offset,
            RemoteDescriptor source,
            long sourceOffset,
            long length,
            long context,
            int flags) {
        return delegate.get(
                connection, destination, offset, source, sourceOffset, length, context, flags);
    }

    @Override
    public int put(
            long connection,
            TransferVector vector,
            RemoteDescriptor target,
            long context,
            int flags) {
        return delegate.put(connection, vector, target, context, flags);
    }

    @Override
    public int get(
            long connection,
            TransferVector vector,
            RemoteDescriptor source,
            long context,
            int flags) {
        return delegate.get(connection, vector, source, context, flags);
    }

    @Override
    public int fetchAdd(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long delta,
            long context,
            int flags) {
        return delegate.fetchAdd(connection, target, targetOffset, delta, context, flags);
    }

    @Override
    public int compareSwap(
            long connection,
            RemoteDescriptor target,
            long targetOffset,
            long expected,
            long update,
            long context,
            int flags) {
        return delegate.compareSwap(
                connection, target, targetOffset, expected, update, context, flags);
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
