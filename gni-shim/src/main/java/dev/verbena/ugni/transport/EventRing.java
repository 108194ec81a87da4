package dev.verbena.ugni.transport;

import dev.verbena.transport.TransportHandler;

/**
 * Events that wait for {@code poll}, first in, first out: operations that ended and what happened
 * to connections, in one order. There is room for all operations that can be accepted, and for all
 * that can happen to connections. Allocated once. Owned by the transport's thread.
 */
final class EventRing {
    private static final int EVENTS_PER_CONNECTION = 6;
    private static final int SPARE = 64;

    private final Event[] events;
    private final int mask;
    private final int backlogMax;
    private long head;
    private long tail;

    /** One thing that a handler is to be told. */
    interface Event {
        /** Tells it; the event is out of the ring already. */
        void deliver(TransportHandler handler);
    }

    EventRing(int outstandingMax, int connectionsMax) {
        int capacity = outstandingMax + EVENTS_PER_CONNECTION * connectionsMax + SPARE;
        int slots = Integer.highestOneBit(Math.max(1, capacity - 1)) << 1;
        this.events = new Event[slots];
        this.mask = slots - 1;
        this.backlogMax = outstandingMax + EVENTS_PER_CONNECTION / 2 * connectionsMax;
    }

    /** So many events wait that peers should cause no more. */
    boolean isBacklogged() {
        return tail - head >= backlogMax;
    }

    boolean isEmpty() {
        return tail == head;
    }

    void add(Event event) {
        if (tail - head > mask) {
            throw new IllegalStateException("more events than can happen");
        }
        events[(int) tail & mask] = event;
        tail++;
    }

    /** Takes one out and delivers it. */
    void deliver(TransportHandler handler) {
        int slot = (int) head & mask;
        Event event = events[slot];
        events[slot] = null;
        head++;
        event.deliver(handler);
    }
}
