package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;
import java.lang.invoke.VarHandle;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A ring of events in memory that peers write. A full queue overwrites its oldest events; the loss
 * shows as {@link #DROPPED}. C: {@code ptl_handle_eq_t}.
 *
 * <p>{@link #poll} reads in Java, without a call into C: it copies the slot and compares the stamp
 * before and after (layout: {@code portals3_layout.h}). One reader, the interface's thread.
 */
public final class EventQueue extends PortalsObject {
    /** Poll answer: no event. */
    public static final int EMPTY = 0;

    /** Poll answer: an event. */
    public static final int EVENT = 1;

    /** Poll answer: an event, and events before it were lost. */
    public static final int DROPPED = 2;

    private static final int HEAD = portals.PTL_QUEUE_HEAD;
    private static final int TAIL = portals.PTL_QUEUE_TAIL;
    private static final int SLOT_SHIFT =
            Integer.numberOfTrailingZeros(PortalsEventFlyweight.LENGTH);

    private final int handle;
    private final long capacity;
    private final long mask;
    private final UnsafeBuffer header;
    private final UnsafeBuffer slots;

    EventQueue(
            PortalsInterface owner,
            int handle,
            long headerAddress,
            long slotsAddress,
            long capacity) {
        super(owner);
        this.handle = handle;
        this.capacity = capacity;
        this.mask = capacity - 1;
        this.header = new UnsafeBuffer(headerAddress, portals.PTL_QUEUE_BYTES);
        this.slots = new UnsafeBuffer(slotsAddress, Math.toIntExact(capacity << SLOT_SHIFT));
    }

    /** The C handle: index and generation. */
    public int handle() {
        return handle;
    }

    /** Events that it holds. */
    public int capacity() {
        return (int) capacity;
    }

    /**
     * Takes the oldest event. No allocation, no call into C.
     *
     * @return {@link #EMPTY}, {@link #EVENT} or {@link #DROPPED}
     */
    public int poll(PortalsEventFlyweight event) {
        checkOpen();
        event.isAfterLoss(false);
        long head = header.getLong(HEAD);
        if (copy(head, event)) {
            header.putLong(HEAD, head + 1);
            return EVENT;
        }
        // An older stamp in the slot: nothing yet. The tail, which writers keep changing, is
        // looked at only when events were lost. The uppermost bit: the slot is being written.
        long there = slots.getLongVolatile((int) (head & mask) << SLOT_SHIFT) & Long.MAX_VALUE;
        return there - head <= 0 ? EMPTY : pollPastLoss(event, head, header.getLongVolatile(TAIL));
    }

    /**
     * Looks without taking: the event comes again with the next {@link #poll}. No allocation. C:
     * {@code PtlEQPeek}, an addition of Cray's.
     *
     * @return {@link #EMPTY}, {@link #EVENT} or {@link #DROPPED}
     */
    public int peek(PortalsEventFlyweight event) {
        checkOpen();
        long head = header.getLong(HEAD);
        int answer = poll(event);
        header.putLong(HEAD, head);
        return answer;
    }

    /**
     * Takes the oldest event and sleeps until there is one. C: {@code PtlEQWait}.
     *
     * @param timeoutNs how long at most; negative: no limit
     * @return {@link #EMPTY} when the time was over, {@link #EVENT} or {@link #DROPPED}
     */
    public int await(PortalsEventFlyweight event, long timeoutNs) {
        return owner.pollAny(new EventQueue[] {this}, event, timeoutNs) < 0
                ? EMPTY
                : event.isAfterLoss() ? DROPPED : EVENT;
    }

    /** What {@link PortalsInterface#pollAny} says. */
    static int pollAny(
            PortalsInterface ni, EventQueue[] queues, PortalsEventFlyweight event, long timeoutNs) {
        if (queues.length == 0) {
            throw new IllegalArgumentException("no queue to poll");
        }
        for (EventQueue queue : queues) {
            if (queue.owner != ni) {
                throw new IllegalArgumentException(queue + " belongs to another interface");
            }
        }
        long deadlineNs = timeoutNs > 0 ? SystemNanoClock.INSTANCE.nanoTime() + timeoutNs : 0;
        while (true) {
            int seen = ni.doorbell();
            for (int i = 0; i < queues.length; i++) {
                if (queues[i].poll(event) != EMPTY) {
                    return i;
                }
            }
            long leftNs = timeoutNs;
            if (timeoutNs > 0) {
                leftNs = Math.max(0, deadlineNs - SystemNanoClock.INSTANCE.nanoTime());
            }
            if (leftNs == 0) {
                return -1;
            }
            ni.await(seen, leftNs);
        }
    }

    /** Whether {@link #poll} would answer {@link #EMPTY}. */
    public boolean isEmpty() {
        checkOpen();
        return header.getLongVolatile(TAIL) - header.getLong(HEAD) <= 0;
    }

    /**
     * Count of the next event that {@link #poll} expects; {@link PortalsEventFlyweight#sequence} is
     * its lower half.
     */
    public long head() {
        checkOpen();
        return header.getLong(HEAD);
    }

    /** Count that the next event logged will get. */
    public long tail() {
        checkOpen();
        return header.getLongVolatile(TAIL);
    }

    /** Goes back to an event that was taken; for tests that compare with the C library. */
    void rewindForTest(long head) {
        checkOpen();
        header.putLong(HEAD, head);
    }

    /** The oldest event that survives; a slot that is overwritten meanwhile is passed over. */
    private int pollPastLoss(PortalsEventFlyweight event, long head, long tailSeen) {
        long tail = tailSeen;
        // The queue may have grown between the two loads: then nothing was lost.
        if (copy(head, event)) {
            header.putLong(HEAD, head + 1);
            return EVENT;
        }
        for (long stamp = Math.max(head + 1, tail - capacity); stamp - tail < 0; stamp++) {
            if (copy(stamp, event)) {
                header.putLong(HEAD, stamp + 1);
                event.isAfterLoss(true);
                return DROPPED;
            }
            tail = header.getLongVolatile(TAIL);
            stamp = Math.max(stamp, tail - capacity - 1);
        }
        return EMPTY; // overtaken throughout; the writer is still at it
    }

    /** Copies the event with this stamp if it is there, whole. */
    private boolean copy(long stamp, PortalsEventFlyweight event) {
        int at = (int) (stamp & mask) << SLOT_SHIFT;
        // Pairs with the release store of the stamp that ends the writing of a slot.
        if (slots.getLongVolatile(at) != stamp) {
            return false;
        }
        long[] words = event.words;
        words[0] = stamp;
        for (int i = 1; i < PortalsEventFlyweight.WORDS; i++) {
            words[i] = slots.getLong(at + (i << 3));
        }
        // The copies above happen before the stamp is looked at again.
        VarHandle.acquireFence();
        return slots.getLongVolatile(at) == stamp;
    }

    /**
     * Frees. Descriptors that name it log nothing from now on. Idempotent. C: {@code PtlEQFree}.
     */
    @Override
    public void close() {
        if (isClosed()) {
            return;
        }
        owner.checkOwner();
        int code = portals.PtlEQFree(handle);
        if (owner.isTraced()) {
            owner.trace("PtlEQFree", "eq=" + MatchEntry.hex(handle), -code);
        }
        if (code != PortalsCode.OK) {
            throw PortalsNative.failure("PtlEQFree", -code, this);
        }
        forget();
        retire();
    }

    @Override
    void retireWithInterface() {
        forget();
        super.retireWithInterface();
    }

    private void forget() {
        header.wrap(0L, 0);
        slots.wrap(0L, 0);
    }

    @Override
    public String toString() {
        return "event queue " + MatchEntry.hex(handle) + " of " + capacity + " events";
    }
}
