package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** Prepared receives for a queue pair or a shared queue: {@code struct ibv_recv_wr}. */
public final class ReceiveRequests extends Requests {
    private final MemoryRegion[][] regions;
    private final long[] ids;
    private final int[] segments;

    ReceiveRequests(ProtectionDomain domain, int capacity, int segmentsMax) {
        super(
                domain,
                capacity,
                segmentsMax,
                VerbsLayout.RECV_WR_SIZEOF,
                VerbsLayout.RECV_WR_NEXT,
                0);
        regions = new MemoryRegion[capacity][segmentsMax];
        ids = new long[capacity];
        segments = new int[capacity];
        for (int i = 0; i < capacity; i++) {
            buffer.putLong(offsetOf(i) + VerbsLayout.RECV_WR_SG_LIST, segmentsAddress(i));
        }
    }

    /**
     * A receive into one piece of memory.
     *
     * @param id what its completion will say
     * @throws IndexOutOfBoundsException for a range outside the region
     * @throws IllegalArgumentException for a region of another domain
     * @throws IllegalStateException after close
     */
    public ReceiveRequests set(int index, long id, MemoryRegion region, long from, int bytes) {
        checkIndex(index);
        setSegment(index, 0, regions[index], region, from, bytes);
        return segments(index, 1).id(index, id);
    }

    /** One of several pieces of memory; {@link #segments} says how many. */
    public ReceiveRequests segment(
            int index, int number, MemoryRegion region, long from, int bytes) {
        checkIndex(index);
        setSegment(index, number, regions[index], region, from, bytes);
        return this;
    }

    /** How many pieces of memory are used; 0 receives messages without bytes. */
    public ReceiveRequests segments(int index, int count) {
        checkIndex(index);
        checkSegments(regions[index], count);
        segments[index] = count;
        buffer.putInt(offsetOf(index) + VerbsLayout.RECV_WR_NUM_SGE, count);
        return this;
    }

    /** What its completion will say. */
    public ReceiveRequests id(int index, long id) {
        checkIndex(index);
        ids[index] = id;
        return this;
    }

    /** 0, or why it cannot be posted now. */
    int check(int index) {
        for (int i = 0; i < segments[index]; i++) {
            if (regions[index][i].addressOrZero() == 0) {
                return Post.REGION_CLOSED;
            }
        }
        return 0;
    }

    void note(int index, WorkLog log) {
        buffer.putLong(offsetOf(index) + VerbsLayout.RECV_WR_WR_ID, log.nextId());
        log.note(ids[index], regions[index], segments[index]);
    }

    long idOf(int index) {
        return buffer.getLong(offsetOf(index) + VerbsLayout.RECV_WR_WR_ID);
    }
}
