package dev.verbena.nessie.nnti;

import dev.verbena.memory.RegisteredRegion;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.function.BooleanSupplier;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Memory that operations use, made of one or more segments; offsets run over all of them. Closed by
 * {@link NntiTransport#unregister}. Owned by the transport's thread, except the bytes.
 */
public final class NntiBuffer {
    private static final int EVENTS_MAX = 1 << 16;
    private static final int WINDOW_MAX = 1 << 30;

    private final int elementSize;
    private final int elementCount;
    final RegisteredRegion[] regions;

    /** The first GiB of each. */
    final UnsafeBuffer[] windows;

    private final BufferHandle handle = new BufferHandle();
    private final BitSet busySlots = new BitSet();

    /** Operations that began here and whose ends were not seen, in the order of their issue. */
    final ArrayDeque<WorkRequest> operations = new ArrayDeque<>();

    /** Work requests for operations for which the caller gives none. */
    private final ArrayDeque<WorkRequest> pool = new ArrayDeque<>();

    /** They wait for what a peer does here. */
    final ArrayDeque<WorkRequest> receives = new ArrayDeque<>();

    /** Where {@link #store} copies to. */
    private final UnsafeBuffer stored = new UnsafeBuffer(0, 0);

    private final EventQueue arrivals = new EventQueue(EVENTS_MAX);

    /** Whether something is there that {@link #take} returns; made once, for those who wait. */
    final BooleanSupplier hasEnd =
            () -> operations.isEmpty() ? !arrivals.isEmpty() : operations.peek().isComplete();

    private int nextSlot;

    /** Null: anybody. */
    private NntiPeer sender;

    private EventQueue events;
    private boolean isOpen = true;

    NntiBuffer(int id, int flags, int size, int count, RegisteredRegion[] regions, long ownerId) {
        this.elementSize = size;
        this.elementCount = count;
        this.regions = regions;
        this.windows = new UnsafeBuffer[regions.length];
        handle.set(flags, ownerId, id, regions.length);
        for (int i = 0; i < regions.length; i++) {
            long length = regions[i].length();
            regions[i].describe(0, length, regions[i].rights(), handle.segment(i));
            windows[i] = regions[i].buffer(0, (int) Math.min(length, WINDOW_MAX));
        }
    }

    /** See {@link BufferFlags}. */
    public int flags() {
        return handle.flags();
    }

    /** Bytes of all segments. */
    public long length() {
        return handle.length();
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
        return windows[0];
    }

    /** Puts what ends on this buffer into a queue from now on; null: no more. */
    public void attach(EventQueue queue) {
        events = queue;
    }

    /**
     * Of others nothing arrives here from now on: their sends to the receive queue end with {@code
     * EPERM}, and what they put into this buffer, which its handle permits, is no event. Both are
     * counted by {@link NntiTransport#refusedCount}.
     *
     * @param onlySender null: anybody, as at first
     */
    public void restrictTo(NntiPeer onlySender) {
        sender = onlySender;
    }

    boolean isFor(NntiPeer peer) {
        return sender == null || sender == peer;
    }

    /** False once it is unregistered. */
    public boolean isOpen() {
        return isOpen;
    }

    /** Work requests that wait for an arrival are given up. */
    void close() {
        isOpen = false;
        while (!receives.isEmpty()) {
            receives.peek().cancelReceive();
        }
    }

    /** Gives the memory back; false: an operation from here still uses it. */
    boolean free() {
        // Asked first: that a region refuses costs an exception, and this is asked in each cycle.
        boolean isUsed = operations.stream().anyMatch(WorkRequest::usesMemory);
        try {
            for (int i = 0; i < regions.length && !isUsed; i++) {
                regions[i].close();
            }
            return !isUsed;
        } catch (IllegalStateException e) {
            return false;
        }
    }

    // ---- operations that began here

    /** A work request of this buffer, which is its own again once its end was taken. */
    WorkRequest pooled() {
        return pool.isEmpty() ? new WorkRequest(true) : pool.pop();
    }

    /** Takes an operation out, the oldest mostly. */
    void detach(WorkRequest request) {
        operations.remove(request);
        if (request.isPooled) {
            pool.push(request);
        }
    }

    /** The end of the oldest operation, or else what a peer did here, if {@link #hasEnd}. */
    void take(NntiStatus status) {
        WorkRequest oldest = operations.peek();
        if (oldest == null) {
            arrivals.take(status);
        } else {
            status.set(oldest.status());
            oldest.detach();
        }
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
        WorkRequest waiting = receives.poll();
        if (waiting != null) {
            waiting.complete(event);
        } else if (events == null) {
            arrivals.add(event);
        }
    }

    /** Completes a work request by an arrival, now or later. */
    void receive(WorkRequest request) {
        request.begin(NntiOperation.RECEIVE, this, 0, 0, null);
        if (arrivals.take(request.status())) {
            request.complete(request.status());
        } else {
            receives.add(request);
        }
    }

    // ---- slots of a receive queue

    /** Offset of the next slot, now occupied; -1: it is not free, or nobody would learn of it. */
    int claimSlot() {
        boolean isUntold = receives.isEmpty() && (events == null ? arrivals : events).isFull();
        if (isUntold || busySlots.get(nextSlot)) {
            return -1;
        }
        int slot = nextSlot;
        busySlots.set(slot);
        nextSlot = slot + 1 == elementCount ? 0 : slot + 1;
        return slot * elementSize;
    }

    /** Nothing happens if it is no queue. */
    void freeSlot(long offset) {
        if ((flags() & BufferFlags.RECV_QUEUE) != 0) {
            busySlots.clear((int) (offset / elementSize));
        }
    }

    /**
     * Copies bytes into this buffer that came with a message, as an operation that needs this flag.
     */
    public NntiResult store(int flag, long at, DirectBuffer from, int index, int length) {
        NntiResult wrong = check(flag, at, length);
        for (int done = 0, part; wrong == NntiResult.OK && done < length; done += part) {
            int segment = handle.segmentOf(at + done);
            long offset = at + done - handle.startOf(segment);
            part = (int) Math.min(length - done, regions[segment].length() - offset);
            stored.wrap(regions[segment].address() + offset, part);
            stored.putBytes(0, from, index + done, part);
        }
        return wrong;
    }

    /** Whether anything that a peer does may ever end here. */
    boolean isTarget(boolean hasTargetEvents) {
        int told = hasTargetEvents ? BufferFlags.PUT_DST | BufferFlags.GET_SRC : 0;
        int receiving = BufferFlags.RECV_DST | BufferFlags.RECV_QUEUE;
        return isOpen && (flags() & (receiving | told)) != 0;
    }

    /**
     * Whether an operation that needs a flag may use so many bytes from here on: {@code OK}, {@code
     * EPERM} without the flag, {@code EINVAL} for a range outside.
     */
    public NntiResult check(int flag, long offset, long length) {
        return isOpen ? handle.check(flag, offset, length) : NntiResult.EINVAL;
    }
}
