package dev.verbena.verbs.transport;

import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.transport.TransportHandler;
import dev.verbena.verbs.Access;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Every {@link Work} of a transport: free ones, those under way, and those that ended and wait for
 * {@code poll}, in the order in which they ended. Works are made when they are first needed, up to
 * the limit, and kept.
 */
final class WorkPool implements AutoCloseable {
    private static final int CHUNK = 256;

    private final VerbsResources resources;
    private final int capacity;
    private final List<OffHeapMemory> memories = new ArrayList<>();
    private final List<MemoryRegion> chunks = new ArrayList<>();
    private Work[] works = new Work[0];
    private Work[] free = new Work[0];
    private int freeCount;
    private int made;

    /** Ring of ended works. */
    private Work[] ended = new Work[16];

    private long head;
    private long tail;

    WorkPool(VerbsResources resources, int capacity) {
        this.resources = resources;
        this.capacity = capacity;
        grow();
    }

    /** A free work, or null: as many as may be are accepted and not polled. */
    Work take() {
        if (freeCount == 0 && !grow()) {
            return null;
        }
        return free[--freeCount];
    }

    private boolean grow() {
        int more = Math.min(CHUNK, capacity - made);
        if (more == 0) {
            return false;
        }
        MemoryRegion region = scratch((long) more * Work.SCRATCH);
        if (region == null) {
            return false;
        }
        UnsafeBuffer bytes = region.buffer(0, more * Work.SCRATCH);
        works = Arrays.copyOf(works, made + more);
        free = Arrays.copyOf(free, made + more);
        for (int i = 0; i < more; i++) {
            Work work = new Work(made + i, region, bytes, i * Work.SCRATCH);
            works[work.index] = work;
            free[freeCount++] = work;
        }
        made += more;
        while (ended.length < made) {
            growRing();
        }
        return true;
    }

    /** Memory for the NIC; null if there is no more: then what there is must do. */
    private MemoryRegion scratch(long length) {
        OffHeapMemory memory = OffHeapMemories.allocate(length);
        try {
            MemoryRegion region = resources.domain.register(memory, Access.LOCAL_WRITE);
            memories.add(memory);
            chunks.add(region);
            return region;
        } catch (VerbsException e) {
            memory.close();
            if (made == 0) {
                throw e;
            }
            return null;
        }
    }

    private void growRing() {
        Work[] larger = new Work[2 * ended.length];
        for (long i = head; i < tail; i++) {
            larger[(int) i & larger.length - 1] = ended[(int) i & ended.length - 1];
        }
        ended = larger;
    }

    Work at(int index) {
        return index >= 0 && index < made ? works[index] : null;
    }

    /** The work ended; {@code poll} will deliver it. */
    void end(Work work) {
        ended[(int) tail & ended.length - 1] = work;
        tail++;
    }

    boolean hasEnded() {
        return head != tail;
    }

    /** Number of the work that ended last. */
    long lastNumber() {
        return tail;
    }

    /** Number of the work that was delivered last. */
    long deliveredCount() {
        return head;
    }

    /** True until everything up to this number was delivered. */
    boolean isWaiting(long number) {
        return head < number;
    }

    /** Delivers the work that ended first. */
    void deliver(TransportHandler handler) {
        int at = (int) head & ended.length - 1;
        Work work = ended[at];
        ended[at] = null;
        head++;
        long handle = work.handle;
        int operation = work.operation;
        long context = work.context;
        int status = work.status;
        long value = work.value;
        work.release();
        free[freeCount++] = work;
        handler.onCompletion(handle, operation, context, status, value);
    }

    @Override
    public void close() {
        List<AutoCloseable> open = new ArrayList<>(chunks);
        open.addAll(memories);
        chunks.clear();
        memories.clear();
        CloseHelper.closeAll(open);
    }
}
