package dev.verbena.nessie.nnti;

/**
 * Events of the buffers to which it is attached, in the order in which they happened. Of fixed
 * size: what finds no room is counted. Owned by the transport's thread; adds without allocating.
 */
public final class EventQueue {
    private final NntiStatus[] events;
    private long head;
    private long tail;
    private long lostCount;

    /** Room for so many events. */
    public EventQueue(int capacity) {
        if (capacity < 1) {
            throw new NntiException(NntiResult.EINVAL, "event queue of " + capacity + " events");
        }
        events = new NntiStatus[capacity];
        for (int i = 0; i < capacity; i++) {
            events[i] = new NntiStatus();
        }
    }

    void add(NntiStatus event) {
        if (tail - head == events.length) {
            lostCount++;
        } else {
            events[(int) (tail++ % events.length)].set(event);
        }
    }

    /** Takes the oldest event; false: there is none. */
    public boolean take(NntiStatus event) {
        if (head == tail) {
            return false;
        }
        event.set(events[(int) (head++ % events.length)]);
        return true;
    }

    /** Events that found no room. */
    public long lostCount() {
        return lostCount;
    }
}
