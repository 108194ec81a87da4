package dev.verbena.savime.server;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.util.ArrayDeque;

/**
 * Memory through which data go to files on disk, whose own pages newer kernels refuse to pin. Made
 * when it is first needed. One thread.
 */
final class BounceBuffers implements AutoCloseable {
    private final int length;
    private final int countMax;
    private final ArrayDeque<OffHeapMemory> free = new ArrayDeque<>();
    private int count;

    BounceBuffers(int length, int countMax) {
        this.length = length;
        this.countMax = countMax;
    }

    /** Bytes of each. */
    int length() {
        return length;
    }

    /** Null: all are in use. */
    OffHeapMemory take() {
        if (free.isEmpty() && count < countMax) {
            count++;
            return OffHeapMemories.allocate(length);
        }
        return free.poll();
    }

    void giveBack(OffHeapMemory memory) {
        free.add(memory);
    }

    @Override
    public void close() {
        free.forEach(OffHeapMemory::close);
        free.clear();
    }
}
