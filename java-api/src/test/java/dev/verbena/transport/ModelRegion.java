package dev.verbena.transport;

import dev.verbena.memory.OffHeapMemory;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;

/** A region of the model. */
final class ModelRegion implements RegisteredRegion {
    private final ModelTransport transport;
    private final OffHeapMemory memory;
    private final boolean ownsMemory;
    private final List<UnsafeBuffer> windows = new ArrayList<>();
    private final long id;
    private final int rights;
    final long key;
    final UnsafeBuffer bytes;
    int outstanding;
    private boolean isClosed;

    ModelRegion(ModelTransport transport, OffHeapMemory memory, boolean ownsMemory, int rights) {
        this.transport = transport;
        this.memory = memory;
        this.ownsMemory = ownsMemory;
        this.rights = rights;
        this.id = transport.network.numbers.getAndIncrement();
        this.key = id * 0x9e3779b97f4a7c15L;
        this.bytes = memory.buffer(0, (int) memory.length());
        memory.acquire(toString());
    }

    ModelTransport transport() {
        return transport;
    }

    @Override
    public long id() {
        return id;
    }

    @Override
    public long length() {
        return memory.length();
    }

    @Override
    public int rights() {
        return rights;
    }

    @Override
    public long address() {
        if (isClosed) {
            throw new IllegalStateException(this + " is closed");
        }
        return memory.address();
    }

    @Override
    public UnsafeBuffer buffer(long offset, int length) {
        if (isClosed || offset < 0 || length < 0 || offset > length() - length) {
            throw new IndexOutOfBoundsException(offset + " + " + length + " of " + this);
        }
        UnsafeBuffer window = new UnsafeBuffer(bytes, (int) offset, length);
        windows.add(window);
        return window;
    }

    @Override
    public RemoteDescriptor describe(
            long offset, long length, int subset, RemoteDescriptor descriptor) {
        if (isClosed) {
            throw new IllegalStateException(this + " is closed");
        }
        if (offset < 0 || length < 0 || offset > length() - length) {
            throw new IllegalArgumentException("range " + offset + " + " + length + " of " + this);
        }
        if ((subset & ~rights) != 0) {
            throw new IllegalArgumentException("rights " + subset + " of " + this);
        }
        return descriptor.set(
                RemoteDescriptor.KIND_SIM,
                subset,
                (int) id,
                offset,
                length,
                key,
                transport.incarnation);
    }

    @Override
    public boolean isClosed() {
        return isClosed;
    }

    @Override
    public void close() {
        synchronized (transport.network) {
            if (isClosed) {
                return;
            }
            if (outstanding > 0) {
                throw new IllegalStateException(outstanding + " operations outstanding on " + this);
            }
            isClosed = true;
            transport.regions.remove(key);
            windows.forEach(window -> window.wrap(0, 0));
            memory.release(toString());
            if (ownsMemory) {
                memory.close();
            }
        }
    }

    @Override
    public String toString() {
        return "model region " + id;
    }
}
