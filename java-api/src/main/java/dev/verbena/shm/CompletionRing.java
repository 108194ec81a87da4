package dev.verbena.shm;

import dev.verbena.transport.TransportHandler;

/**
 * Completions that wait for {@code poll}, first in, first out; allocated once. Owned by the
 * transport's thread.
 */
final class CompletionRing {
    private static final int FIELDS_SHIFT = 2;
    private static final int CONNECTION = 0;
    private static final int CONTEXT = 1;
    private static final int VALUE = 2;
    private static final int OPERATION_AND_STATUS = 3;

    private final long[] entries;
    private final int mask;
    private final int capacity;
    private long head;
    private long tail;

    /** The tail at which it is full. */
    private long end;

    CompletionRing(int capacity) {
        int slots = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        this.entries = new long[slots << FIELDS_SHIFT];
        this.mask = slots - 1;
        this.capacity = capacity;
        this.end = capacity;
    }

    boolean isFull() {
        return tail == end;
    }

    boolean isEmpty() {
        return tail == head;
    }

    /** Number of the completion that was added last, 0 if none was. */
    long lastNumber() {
        return tail;
    }

    /** True until the completion with this number has been delivered. */
    boolean isOutstanding(long number) {
        return number > head;
    }

    /** Number of the completion that was delivered last, 0 if none was. */
    long deliveredCount() {
        return head;
    }

    /** Appends; room was checked before. Answers the number of the completion, from 1. */
    long add(long connection, int operation, long context, int status, long value) {
        int at = ((int) tail & mask) << FIELDS_SHIFT;
        entries[at + CONNECTION] = connection;
        entries[at + CONTEXT] = context;
        entries[at + VALUE] = value;
        entries[at + OPERATION_AND_STATUS] = (long) operation << 32 | status;
        return ++tail;
    }

    /** Takes one out and delivers it. */
    void deliver(TransportHandler handler) {
        int at = ((int) head & mask) << FIELDS_SHIFT;
        long connection = entries[at + CONNECTION];
        long context = entries[at + CONTEXT];
        long value = entries[at + VALUE];
        long operationAndStatus = entries[at + OPERATION_AND_STATUS];
        head++;
        end = head + capacity;
        handler.onCompletion(
                connection,
                (int) (operationAndStatus >>> 32),
                context,
                (int) operationAndStatus,
                value);
    }
}
