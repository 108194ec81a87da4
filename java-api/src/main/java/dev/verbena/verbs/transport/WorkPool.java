package dev.verbena.verbs.transport;

import dev.verbena.transport.TransportHandler;
import dev.verbena.verbs.MemoryRegion;
import dev.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.Arrays;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Every {@link Work} of a transport: free ones, those under way, and those that ended and wait for
 * {@code poll}, in the order in which they ended. Works are made when they are first needed, up to
 * the limit, and kept.
 */
final class WorkPool implements AutoCloseable {
    private static final int CHUNK = 256;

    private final int capacity;
    private final NicMemory scratch;
    private Work[] works = new Work[0];
    private final ArrayDeque<Work> free = new ArrayDeque<>(CHUNK);
    private final ArrayDeque<Work> ended = new ArrayDeque<>(CHUNK);
    private long deliveredCount;

    WorkPool(VerbsResources resources, int capacity) {
        this.capacity = capacity;
        this.scratch = new NicMemory(resources);
        grow();
    }

    /** A free work, or null: as many as may be are accepted and not polled. */
    Work take() {
        if (free.isEmpty()) {
            grow();
        }
        return free.poll();
    }

    private void grow() {
        int made = works.length;
        int more = Math.min(CHUNK, capacity - made);
        if (more == 0) {
            return;
        }
        MemoryRegion region;
        try {
            region = scratch.add((long) more * Work.SCRATCH);
        } catch (VerbsException e) {
            if (made == 0) {
                throw e;
            }
            return; // there is no more: then what there is must do
        }
        UnsafeBuffer bytes = region.buffer(0, more * Work.SCRATCH);
        works = Arrays.copyOf(works, made + more);
        for (int i = 0; i < more; i++) {
            Work work = new Work(made + i, region, bytes, i * Work.SCRATCH);
            works[work.index] = work;
            free.push(work);
        }
    }

    Work at(int index) {
        return index >= 0 && index < works.length ? works[index] : null;
    }

    /** The work ended; {@code poll} will deliver it. */
    void end(Work work) {
        ended.add(work);
    }

    boolean hasEnded() {
        return !ended.isEmpty();
    }

    /** Number of the work that ended last. */
    long lastNumber() {
        return deliveredCount + ended.size();
    }

    /** Number of the work that was delivered last. */
    long deliveredCount() {
        return deliveredCount;
    }

    /** True until everything up to this number was delivered. */
    boolean isWaiting(long number) {
        return deliveredCount < number;
    }

    /** Delivers the work that ended first. */
    void deliver(TransportHandler handler) {
        Work work = ended.poll();
        deliveredCount++;
        long handle = work.handle;
        int operation = work.operation;
        long context = work.context;
        int status = work.status;
        long value = work.value;
        work.release();
        free.push(work);
        handler.onCompletion(handle, operation, context, status, value);
    }

    @Override
    public void close() {
        scratch.close();
    }
}
