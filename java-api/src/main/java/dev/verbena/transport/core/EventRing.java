package dev.verbena.transport.core;

import dev.verbena.transport.TransportHandler;

/**
 * Events that wait for {@code poll}, first in, first out: completions of operations and what
 * happened to connections, in one order. There is room for all operations that can be accepted, and
 * for all that can happen to connections. Allocated once. Owned by the transport's thread.
 */
public final class EventRing {
    /** Pseudo operation of an entry about a connection. */
    private static final int CONNECTION_EVENT = 0;

    /** Pseudo operation of a completion that is an object. */
    private static final int COMPLETION_EVENT = -1;

    private static final int EVENTS_PER_CONNECTION = 6;
    private static final int SPARE = 64;
    private static final int FIELDS_SHIFT = 2;
    private static final int CONNECTION = 0;
    private static final int CONTEXT = 1;
    private static final int VALUE = 2;
    private static final int OPERATION_AND_STATUS = 3;

    private final long[] entries;
    private final Event[] events;
    private final int mask;
    private final int completionsMax;
    private final int backlogMax;
    private int completions;
    private int values;
    private int backlog;
    private long head;
    private long tail;

    /** One thing that a handler is to be told. */
    public interface Event {
        /** Tells it; the event is out of the ring already. */
        void deliver(TransportHandler handler);
    }

    /** For so many operations and connections. */
    public EventRing(int completionsMax, int connectionsMax) {
        int capacity = completionsMax + EVENTS_PER_CONNECTION * connectionsMax + SPARE;
        int slots = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        this.entries = new long[slots << FIELDS_SHIFT];
        this.events = new Event[slots];
        this.mask = slots - 1;
        this.completionsMax = completionsMax;
        this.backlogMax = EVENTS_PER_CONNECTION / 2 * connectionsMax;
    }

    /** No room for one more completion. */
    public boolean isFull() {
        return completions >= completionsMax;
    }

    /** Completions that wait and are no objects. */
    public int valueCount() {
        return values;
    }

    /** So many events of connections wait that no more should be caused. */
    public boolean isBacklogged() {
        return backlog >= backlogMax;
    }

    /** Whether something that happened to a connection waits. */
    public boolean hasConnectionEvents() {
        return backlog > 0;
    }

    /** Number of the entry that was added last, 0 if none was. */
    public long lastNumber() {
        return tail;
    }

    /** Nothing waits. */
    public boolean isEmpty() {
        return tail == head;
    }

    /** True until the entry with this number has been delivered. */
    public boolean isOutstanding(long number) {
        return number > head;
    }

    /** Appends a completion; room was checked before. Answers its number, from 1. */
    public long add(long connection, int operation, long context, int status, long value) {
        int at = ((int) tail & mask) << FIELDS_SHIFT;
        entries[at + CONNECTION] = connection;
        entries[at + CONTEXT] = context;
        entries[at + VALUE] = value;
        entries[at + OPERATION_AND_STATUS] = (long) operation << 32 | status;
        completions++;
        values++;
        return ++tail;
    }

    /** Appends a completion that tells itself; room was checked before. */
    public void addCompletion(Event completion) {
        append(completion, COMPLETION_EVENT);
        completions++;
    }

    /** Appends what happened to a connection; there is room for all that can. */
    public void add(Event event) {
        if (tail - head > mask) {
            throw new IllegalStateException("more connection events than connections can have");
        }
        append(event, CONNECTION_EVENT);
        backlog++;
    }

    private void append(Event event, int operation) {
        int slot = (int) tail & mask;
        entries[(slot << FIELDS_SHIFT) + OPERATION_AND_STATUS] = (long) operation << 32;
        events[slot] = event;
        tail++;
    }

    /** Takes one out and delivers it. */
    public void deliver(TransportHandler handler) {
        int slot = (int) head & mask;
        int at = slot << FIELDS_SHIFT;
        long operationAndStatus = entries[at + OPERATION_AND_STATUS];
        int operation = (int) (operationAndStatus >>> 32);
        head++;
        if (operation <= CONNECTION_EVENT) {
            deliver(slot, operation, handler);
            return;
        }
        completions--;
        values--;
        handler.onCompletion(
                entries[at + CONNECTION],
                operation,
                entries[at + CONTEXT],
                (int) operationAndStatus,
                entries[at + VALUE]);
    }

    private void deliver(int slot, int operation, TransportHandler handler) {
        Event event = events[slot];
        events[slot] = null;
        if (operation == CONNECTION_EVENT) {
            backlog--;
        } else {
            completions--;
        }
        event.deliver(handler);
    }
}
