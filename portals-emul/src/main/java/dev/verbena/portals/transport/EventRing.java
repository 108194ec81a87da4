package dev.verbena.portals.transport;

import dev.verbena.transport.TransportHandler;

/**
 * Events that wait for {@code poll}, first in, first out: completions of operations and what
 * happened to connections, in one order. Allocated once. Owned by the transport's thread.
 */
final class EventRing {
    /** Pseudo operation of an entry about a connection. */
    private static final int CONNECTION_EVENT = 0;

    private static final int EVENTS_PER_CONNECTION = 6;
    private static final int SPARE = 64;
    private static final int FIELDS_SHIFT = 2;
    private static final int CONNECTION = 0;
    private static final int CONTEXT = 1;
    private static final int VALUE = 2;
    private static final int OPERATION_AND_STATUS = 3;

    private final long[] entries;
    private final ConnectionEvent[] connectionEvents;
    private final int mask;
    private final int completionsMax;
    private final int backlogMax;
    private int completions;
    private int backlog;
    private long head;
    private long tail;

    /** One thing that happened to a connection. */
    interface ConnectionEvent {
        /** Delivers it. */
        void deliver(TransportHandler handler);
    }

    EventRing(int completionsMax, int connectionsMax) {
        int capacity = completionsMax + EVENTS_PER_CONNECTION * connectionsMax + SPARE;
        int slots = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        this.entries = new long[slots << FIELDS_SHIFT];
        this.connectionEvents = new ConnectionEvent[slots];
        this.mask = slots - 1;
        this.completionsMax = completionsMax;
        this.backlogMax = EVENTS_PER_CONNECTION / 2 * connectionsMax;
    }

    /** No room for one more completion. */
    boolean isFull() {
        return completions >= completionsMax;
    }

    /** So many events of connections wait that no more should be caused. */
    boolean isBacklogged() {
        return backlog >= backlogMax;
    }

    boolean isEmpty() {
        return tail == head;
    }

    /** True until the entry with this number has been delivered. */
    boolean isOutstanding(long number) {
        return number > head;
    }

    /** Appends a completion; room was checked before. Answers its number, from 1. */
    long add(long connection, int operation, long context, int status, long value) {
        int at = ((int) tail & mask) << FIELDS_SHIFT;
        entries[at + CONNECTION] = connection;
        entries[at + CONTEXT] = context;
        entries[at + VALUE] = value;
        entries[at + OPERATION_AND_STATUS] = (long) operation << 32 | status;
        completions++;
        return ++tail;
    }

    /** Appends what happened to a connection; there is room for all that can. */
    void add(ConnectionEvent event) {
        if (tail - head > mask) {
            throw new IllegalStateException("more connection events than connections can have");
        }
        int slot = (int) tail & mask;
        entries[(slot << FIELDS_SHIFT) + OPERATION_AND_STATUS] = (long) CONNECTION_EVENT << 32;
        connectionEvents[slot] = event;
        backlog++;
        tail++;
    }

    /** Takes one out and delivers it. */
    void deliver(TransportHandler handler) {
        int slot = (int) head & mask;
        int at = slot << FIELDS_SHIFT;
        long operationAndStatus = entries[at + OPERATION_AND_STATUS];
        int operation = (int) (operationAndStatus >>> 32);
        head++;
        if (operation == CONNECTION_EVENT) {
            ConnectionEvent event = connectionEvents[slot];
            connectionEvents[slot] = null;
            backlog--;
            event.deliver(handler);
            return;
        }
        completions--;
        handler.onCompletion(
                entries[at + CONNECTION],
                operation,
                entries[at + CONTEXT],
                (int) operationAndStatus,
                entries[at + VALUE]);
    }
}
