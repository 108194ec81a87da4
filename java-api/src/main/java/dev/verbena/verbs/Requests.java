package dev.verbena.verbs;

import dev.verbena.memory.Leaks;
import dev.verbena.rdma.calls.VerbsLayout;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Native work requests that are filled once and posted as often as one likes, with small edits
 * between. What was posted may be edited at once: the library has copied it.
 *
 * <p>Made by a queue for that queue; used by one thread, the first that fills or posts, until it
 * {@linkplain #handOver hands over}. Closing frees the memory; it may be closed before or after its
 * queue.
 */
public abstract class Requests implements AutoCloseable {
    static final int SEGMENT_LENGTH = VerbsLayout.SGE_SIZEOF;
    private static final int CAPACITY_MAX = 1 << 16;

    final ProtectionDomain domain;
    final int capacity;
    final int segmentsMax;
    final UnsafeBuffer buffer = new UnsafeBuffer(0, 0);
    private final int requestLength;
    private final int nextOffset;
    private final int inlineRoom;
    private final long segments;
    private final Leaks.Watch watch;
    private final ThreadClaim claim = new ThreadClaim("a list of work requests");
    private volatile long memory;

    Requests(
            ProtectionDomain domain,
            int capacity,
            int segmentsMax,
            int requestLength,
            int nextOffset,
            int inlineRoom) {
        if (capacity < 1 || capacity > CAPACITY_MAX) {
            throw new IllegalArgumentException(
                    capacity + " requests; 1 to " + CAPACITY_MAX + " in one batch");
        }
        this.domain = domain;
        this.capacity = capacity;
        this.segmentsMax = segmentsMax;
        this.requestLength = requestLength;
        this.nextOffset = nextOffset;
        this.inlineRoom = inlineRoom;
        long bytes = (long) capacity * (requestLength + segmentsMax * SEGMENT_LENGTH + inlineRoom);
        Math.toIntExact(bytes);
        memory = UnsafeApi.allocateMemory(bytes);
        UnsafeApi.setMemory(memory, bytes, (byte) 0);
        segments = memory + (long) capacity * requestLength;
        buffer.wrap(memory, Math.toIntExact(bytes));
        watch = Leaks.watch(this, "work requests for " + domain);
    }

    /** Requests that it has. */
    public final int capacity() {
        return capacity;
    }

    /** Offset of a request in the buffer. */
    final int offsetOf(int index) {
        return index * requestLength;
    }

    final long segmentsAddress(int index) {
        return segments + (long) index * segmentsMax * SEGMENT_LENGTH;
    }

    final int segmentOffset(int index, int segment) {
        return (int) (segments - memory) + (index * segmentsMax + segment) * SEGMENT_LENGTH;
    }

    /** Sets a segment of a request, and notes its region among the request's. */
    final void setSegment(
            int index,
            int number,
            MemoryRegion[] regions,
            MemoryRegion region,
            long from,
            int bytes) {
        if (number < 0 || number >= regions.length) {
            throw new IndexOutOfBoundsException(
                    "segment " + number + "; the queue was made for " + regions.length);
        }
        region.checkOf(domain);
        check();
        region.address();
        long address = region.checkedAddress(from, bytes);
        int at = segmentOffset(index, number);
        buffer.putLong(at + VerbsLayout.SGE_ADDR, address);
        buffer.putInt(at + VerbsLayout.SGE_LENGTH, bytes);
        buffer.putInt(at + VerbsLayout.SGE_LKEY, region.localKey());
        regions[number] = region;
    }

    static void checkSegments(MemoryRegion[] regions, int count) {
        if (count < 0 || count > regions.length) {
            throw new IndexOutOfBoundsException(
                    count + " segments; the queue was made for " + regions.length);
        }
        for (int i = 0; i < count; i++) {
            if (regions[i] == null) {
                throw new IllegalStateException("segment " + i + " of " + count + " was not set");
            }
        }
    }

    /** Bytes of the first segments of a request. */
    final long length(int index, int count) {
        long length = 0;
        for (int i = 0; i < count; i++) {
            int at = segmentOffset(index, i);
            length += buffer.getInt(at + VerbsLayout.SGE_LENGTH) & 0xffff_ffffL;
        }
        return length;
    }

    /** Bytes of its own that a request has room for. */
    final int inlineRoom() {
        return inlineRoom;
    }

    final long inlineAddress(int index) {
        return memory + inlineOffset(index);
    }

    /** Where a request's own bytes are, in the buffer. */
    final int inlineOffset(int index) {
        return capacity * (requestLength + segmentsMax * SEGMENT_LENGTH) + index * inlineRoom;
    }

    final long addressOf(int index) {
        return memory + (long) index * requestLength;
    }

    /** Chains requests from {@code from} to before {@code to}; the last has no next. */
    final void chain(int from, int to) {
        for (int i = from; i < to - 1; i++) {
            buffer.putLong(offsetOf(i) + nextOffset, addressOf(i + 1));
        }
        buffer.putLong(offsetOf(to - 1) + nextOffset, 0L);
    }

    /** Which request an address is, from what the library answered as the bad one. */
    final int indexOf(long address, int from, int to) {
        long index = (address - memory) / requestLength;
        return index < from || index > to ? from : (int) index;
    }

    final void checkRange(int from, int count) {
        if (from < 0 || count < 1 || from > capacity - count) {
            throw new IndexOutOfBoundsException(
                    "requests " + from + " to " + ((long) from + count) + " of " + capacity);
        }
    }

    /** The calling thread uses it, from now on alone. Throws after close. */
    final void check() {
        claim.check();
    }

    /** Lets another thread have it; by the one that uses it now. */
    public final void handOver() {
        claim.handOver();
    }

    final ThreadClaim claim() {
        return claim;
    }

    final void checkIndex(int index) {
        claim.check();
        if (index < 0 || index >= capacity) {
            throw new IndexOutOfBoundsException("request " + index + " of " + capacity);
        }
    }

    /** True after {@link #close()}. */
    public final boolean isClosed() {
        return memory == 0;
    }

    /**
     * Frees the requests. Idempotent.
     *
     * @throws IllegalStateException while another living thread uses them
     */
    @Override
    public final void close() {
        claim.claimToClose();
        long at = memory;
        if (at != 0) {
            buffer.wrap(0, 0);
            memory = 0;
            UnsafeApi.freeMemory(at);
            watch.closed();
        }
        claim.close();
    }
}
