package dev.verbena.nessie.nnti;

import java.util.ArrayDeque;

/**
 * Events of the buffers to which it is attached, in the order in which they happened. Bounded: what
 * finds no room is lost. Owned by the transport's thread; allocates nothing once it has grown.
 */
public final class EventQueue {
    private final ArrayDeque<NntiStatus> events = new ArrayDeque<>();
    private final ArrayDeque<NntiStatus> spare = new ArrayDeque<>();
    private final int capacity;

    /** Room for so many events. */
    public EventQueue(int capacity) {
        if (capacity < 1) {
            throw new NntiException(NntiResult.EINVAL, "event queue of " + capacity + " events");
        }
        this.capacity = capacity;
    }

    void add(NntiStatus event) {
        if (!isFull()) {
            NntiStatus kept = spare.isEmpty() ? new NntiStatus() : spare.pop();
            events.add(kept.set(event));
        }
    }

    boolean isEmpty() {
        return events.isEmpty();
    }

    boolean isFull() {
        return events.size() == capacity;
    }

    /** Takes the oldest event; false: there is none. */
    public boolean take(NntiStatus event) {
        NntiStatus oldest = events.poll();
        if (oldest != null) {
            event.set(oldest);
            spare.push(oldest);
        }
        return oldest != null;
    }
}
