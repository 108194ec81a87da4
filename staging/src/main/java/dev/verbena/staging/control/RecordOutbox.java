package dev.verbena.staging.control;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Registered memory for outgoing control records. A record occupies its slot until its send has
 * completed. Never waits, allocates nothing after it was made. Owned by the transport's thread.
 */
public final class RecordOutbox implements AutoCloseable {
    private final Transport transport;
    private final RegisteredRegion region;
    private final UnsafeBuffer buffer;
    private final int slotLength;
    private final long contextBase;
    private final int[] free;
    private int freeCount;

    /**
     * Makes and registers all slots.
     *
     * @param slotLength of the longest record, bytes
     * @param contextBase contexts of its sends begin here, one for each slot
     */
    public RecordOutbox(Transport transport, int slotCount, int slotLength, long contextBase) {
        this.transport = transport;
        this.slotLength = slotLength;
        this.contextBase = contextBase;
        this.region = transport.allocate((long) slotCount * slotLength, 0);
        this.buffer = region.buffer(0, slotCount * slotLength);
        this.free = new int[slotCount];
        for (int i = 0; i < slotCount; i++) {
            free[i] = i;
        }
        freeCount = slotCount;
    }

    /** Where the record that is sent next is to be written in {@link #buffer}; -1: not now. */
    public int next() {
        return freeCount == 0 ? -1 : free[freeCount - 1] * slotLength;
    }

    /** Memory of all slots. */
    public UnsafeBuffer buffer() {
        return buffer;
    }

    /**
     * Sends the record at {@link #next}.
     *
     * @return the transport's answer; if it does not accept, the slot is free for another record
     */
    public int send(long connection, int length) {
        int slot = free[freeCount - 1];
        int answer =
                transport.send(
                        connection,
                        region,
                        (long) slot * slotLength,
                        length,
                        contextBase + slot,
                        0);
        if (answer == Transport.ACCEPTED) {
            freeCount--;
        }
        return answer;
    }

    /** A send has completed; false: of another sender. */
    public boolean onCompletion(long context) {
        long slot = context - contextBase;
        if (slot < 0 || slot >= free.length) {
            return false;
        }
        free[freeCount++] = (int) slot;
        return true;
    }

    /** Nothing is being sent. */
    public boolean isIdle() {
        return freeCount == free.length;
    }

    /** Gives the memory back; nothing may be outstanding. */
    @Override
    public void close() {
        region.close();
    }
}
