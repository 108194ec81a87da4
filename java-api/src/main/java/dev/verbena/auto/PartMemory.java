package dev.verbena.auto;

import dev.verbena.memory.OffHeapMemory;
import org.agrona.concurrent.UnsafeBuffer;

/** Memory of the first part as the others register it; the region sees to it that it stays. */
record PartMemory(long address, long length) implements OffHeapMemory {
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
