package dev.verbena.auto;

import dev.verbena.memory.OffHeapMemory;
import org.agrona.concurrent.UnsafeBuffer;

/** Memory of the first part as the others register it; the region sees to it that it stays. */
final class PartMemory implements OffHeapMemory {
    private final long address;
    private final long length;

    PartMemory(long address, long length) {
        this.address = address;
        this.length = length;
    }

    @Override
    public long length() {
        return length;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public UnsafeBuffer buffer(long offset, int length) {
        return new UnsafeBuffer(address + offset, length);
    }

    @Override
    public void acquire(String user) {}

    @Override
    public void release(String user) {}

    @Override
    public boolean isClosed() {
        return false;
    }

    @Override
    public void close() {}
}
