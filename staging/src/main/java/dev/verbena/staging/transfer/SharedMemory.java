package dev.verbena.staging.transfer;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;

/**
 * Memory that two agents register, each with its own transport. It is freed when both have closed
 * it, in whatever order they end. Thread-safe.
 */
public final class SharedMemory implements AutoCloseable {
    private final OffHeapMemory memory;
    private int users = 2;

    /**
     * Makes it.
     *
     * @param length bytes, from 1
     * @throws OutOfMemoryError if the address space or the process's limit is exhausted
     */
    public SharedMemory(long length) {
        memory = OffHeapMemories.allocate(length);
    }

    /** The memory, to be registered by its two users. */
    public OffHeapMemory memory() {
        return memory;
    }

    /** One of the two has closed its registration. */
    @Override
    public synchronized void close() {
        users--;
        if (users == 0) {
            memory.close();
        }
    }
}
