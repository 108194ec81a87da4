package dev.verbena.transport;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;

/** The events that a {@link FaultyTransport} holds back, in their order of arrival. One thread. */
final class HeldEvents {
    private final ArrayDeque<Held> held = new ArrayDeque<>();

    /** What an event does when it may go. */
    interface Delivery {
        void to(TransportHandler handler);
    }

    private record Held(long connection, long duePoll, boolean isCompletion, Delivery delivery) {}

    boolean isEmpty() {
        return held.isEmpty();
    }

    /** Holds an event until the poll with this number. */
    void add(long connection, long duePoll, boolean isCompletion, Delivery delivery) {
        held.add(new Held(connection, duePoll, isCompletion, delivery));
    }

    /** The end of a connection comes after everything else that is held for it. */
    void addEnd(long connection, long poll, Delivery delivery) {
        long due = poll;
        List<Held> before = new ArrayList<>();
        for (Held event : held) {
            if (event.connection == connection) {
                due = Math.max(due, event.duePoll + 1);
                before.add(event);
            }
        }
        held.removeAll(before);
        held.addAll(before);
        held.add(new Held(connection, due, false, delivery));
    }

    /**
     * The first event that is due. Completions may overtake and be overtaken; what arrives from the
     * peer and the ends of connections keep their order within a connection.
     */
    Delivery next(long poll) {
        Set<Long> waiting = new HashSet<>();
        Iterator<Held> events = held.iterator();
        while (events.hasNext()) {
            Held event = events.next();
            boolean mayGo = event.isCompletion || !waiting.contains(event.connection);
            if (mayGo && event.duePoll <= poll) {
                events.remove();
                return event.delivery;
            }
            if (!event.isCompletion) {
                waiting.add(event.connection);
            }
        }
        return null;
    }
}
