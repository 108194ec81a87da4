package dev.verbena.savime.server;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.CloseHelper;

/**
 * Memory through which data go to files on disk, whose own pages newer kernels refuse to pin. Made
 * when it is first needed. One thread.
 */
final class BounceBuffers implements AutoCloseable {
    /** Bytes of each. */
    final int length;

    private final int countMax;
    private final ArrayDeque<OffHeapMemory> free = new ArrayDeque<>();

    /** What could not be freed yet. */
    private final List<OffHeapMemory> held = new ArrayList<>();

    private int count;

    BounceBuffers(int length, int countMax) {
        this.length = length;
        this.countMax = countMax;
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

    /** Nobody gets it any more: its client has not said that it writes nothing more to it. */
    void drop(OffHeapMemory memory) {
        try {
            memory.close();
            count--;
        } catch (IllegalStateException e) {
            held.add(memory); // A transport says that a lost peer may still write to it.
        }
    }

    boolean hasHeld() {
        return !held.isEmpty();
    }

    /** Frees what could not be freed before. */
    void dropAgain() {
        List<OffHeapMemory> again = List.copyOf(held);
        held.clear();
        again.forEach(this::drop);
    }

    /** After the transport, which may hold some. */
    @Override
    public void close() {
        CloseHelper.closeAll(free);
        free.clear();
        dropAgain();
    }
}
