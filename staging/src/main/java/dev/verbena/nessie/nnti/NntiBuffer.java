package dev.verbena.nessie.nnti;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.util.BitSet;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that operations use, made of one or more segments; offsets run over all of them. Closed by
 * {@link NntiTransport#unregister}. Owned by the transport's thread, except the bytes.
 */
public final class NntiBuffer {
    private static final int EVENTS_MAX = 1 << 16;
    private static final int WINDOW_MAX = 1 << 30;

    private final int id;
    private final int flags;
    private final int elementSize;
    private final int elementCount;
    private final RegisteredRegion[] regions;
    private final long[] starts;
    private final long length;
    private final UnsafeBuffer window;
    private final BufferHandle handle = new BufferHandle();
    private final BitSet busySlots = new BitSet();
    private NntiStatus[] arrived = new NntiStatus[0];
    private long head;
    private long tail;
    private long lostCount;
    private int nextSlot;
    private WorkRequest oldest;
    private WorkRequest newest;
    private WorkRequest firstReceive;
    private WorkRequest lastReceive;
    private EventQueue events;
    private boolean isOpen = true;

    NntiBuffer(
            int id,
            int flags,
            int elementSize,
            int elementCount,
            RegisteredRegion[] regions,
            long ownerId) {
        this.id = id;
        this.flags = flags;
        this.elementSize = elementSize;
        this.elementCount = elementCount;
        this.regions = regions;
        this.starts = new long[regions.length];
        handle.set(flags, ownerId, id, regions.length);
        long total = 0;
        for (int i = 0; i < regions.length; i++) {
            starts[i] = total;
            total += regions[i].length();
            RemoteDescriptor descriptor = handle.segment(i);
            regions[i].describe(0, regions[i].length(), regions[i].rights(), descriptor);
        }
        this.length = total;
        this.window = regions[0].buffer(0, (int) Math.min(regions[0].length(), WINDOW_MAX));
    }

    /** Identifies it within its transport. */
    public int id() {
        return id;
    }

    /** See {@link BufferFlags}. */
    public int flags() {
        return flags;
    }

    /** Bytes of all segments. */
    public long length() {
        return length;
    }

    /** Bytes of a slot of a receive queue. */
    public int elementSize() {
        return elementSize;
    }

    /** Names it to other processes. The object belongs to this buffer. */
    public BufferHandle handle() {
        return handle;
    }

    /** The first segment, its first GiB at most; of length 0 once unregistered. */
    public UnsafeBuffer window() {
        return window;
    }

    /** Puts what ends on this buffer into a queue from now on; null: no more. */
    public void attach(EventQueue queue) {
        events = queue;
    }

    /** Events at this target that found no room because nobody took them. */
    public long lostCount() {
        return lostCount;
    }

    /** False once it is unregistered. */
    public boolean isOpen() {
        return isOpen;
    }

    RegisteredRegion[] regions() {
        return regions;
    }

    int segmentOf(long offset) {
        int index = starts.length - 1;
        while (index > 0 && starts[index] > offset) {
            index--;
        }
        return index;
    }

    long startOf(int segment) {
        return starts[segment];
    }

    void closed() {
        isOpen = false;
    }

    // ---- operations that began here, in the order of their issue

    void issued(WorkRequest request) {
        request.older(newest);
        request.newer(null);
        if (newest == null) {
            oldest = request;
        } else {
            newest.newer(request);
        }
        newest = request;
    }

    /** Takes an operation out; no effect if it is not there. */
    void taken(WorkRequest request) {
        if (request.older() == null && request != oldest) {
            return;
        }
        WorkRequest before = request.older();
        WorkRequest after = request.newer();
        if (before == null) {
            oldest = after;
        } else {
            before.newer(after);
        }
        if (after == null) {
            newest = before;
        } else {
            after.older(before);
        }
        request.older(null);
        request.newer(null);
    }

    WorkRequest oldest() {
        return oldest;
    }

    /** An operation has ended: for the queue that is attached. */
    void ended(NntiStatus status) {
        if (events != null) {
            events.add(status);
        }
    }

    // ---- what peers did here

    void arrived(NntiStatus event) {
        ended(event);
        WorkRequest waiting = firstReceive;
        if (waiting != null) {
            removeReceive(waiting);
            waiting.complete(event);
        } else if (events == null) {
            keep(event);
        }
    }

    private void keep(NntiStatus event) {
        if (tail - head == arrived.length) {
            if (arrived.length == EVENTS_MAX) {
                lostCount++;
                return;
            }
            grow();
        }
        arrived[(int) (tail++ & (arrived.length - 1))].set(event);
    }

    private void grow() {
        NntiStatus[] larger = new NntiStatus[Math.max(8, arrived.length * 2)];
        int count = (int) (tail - head);
        for (int i = 0; i < larger.length; i++) {
            larger[i] = new NntiStatus();
            if (i < count) {
                larger[i].set(arrived[(int) ((head + i) & (arrived.length - 1))]);
            }
        }
        arrived = larger;
        head = 0;
        tail = count;
    }

    boolean take(NntiStatus event) {
        if (head == tail) {
            return false;
        }
        event.set(arrived[(int) (head++ & (arrived.length - 1))]);
        return true;
    }

    void addReceive(WorkRequest request) {
        request.older(lastReceive);
        request.newer(null);
        if (lastReceive == null) {
            firstReceive = request;
        } else {
            lastReceive.newer(request);
        }
        lastReceive = request;
    }

    void removeReceive(WorkRequest request) {
        WorkRequest before = request.older();
        WorkRequest after = request.newer();
        if (before == null) {
            firstReceive = after;
        } else {
            before.newer(after);
        }
        if (after == null) {
            lastReceive = before;
        } else {
            after.older(before);
        }
        request.older(null);
        request.newer(null);
    }

    WorkRequest firstReceive() {
        return firstReceive;
    }

    // ---- slots of a receive queue

    /** Offset of the next slot, now occupied; -1: it is not free. */
    int claimSlot() {
        if (busySlots.get(nextSlot)) {
            return -1;
        }
        int slot = nextSlot;
        busySlots.set(slot);
        nextSlot = slot + 1 == elementCount ? 0 : slot + 1;
        return slot * elementSize;
    }

    void freeSlot(long offset) {
        busySlots.clear((int) (offset / elementSize));
    }

    /**
     * Whether a peer may put so many bytes here: {@code OK}, {@code EPERM} without the flag {@code
     * PUT_DST}, {@code EINVAL} for a range outside.
     */
    public NntiResult checkTarget(long offset, long length) {
        return check(BufferFlags.PUT_DST, offset, length);
    }

    /** Whether an operation that needs a flag may use so many bytes from here on. */
    NntiResult check(int flag, long offset, long length) {
        boolean isInside =
                offset >= 0 && length >= 0 && offset <= length() && length <= length() - offset;
        if (!isOpen() || !isInside) {
            return NntiResult.EINVAL;
        }
        return (flags() & flag) == 0 ? NntiResult.EPERM : NntiResult.OK;
    }
}
