package dev.verbena.ofi.transport;

import java.util.ArrayDeque;

/**
 * Connections that were disconnected here whose peers knew keys: until a peer says that it has no
 * operation any more, it may write. One thread.
 */
final class Departures {
    private record Departure(int connection, OfiPeer peer, long incarnation, long endNs) {}

    /** In the order of their ends. */
    private final ArrayDeque<Departure> waiting = new ArrayDeque<>();

    /** The peer of this connection was asked, and is to answer until then. */
    void add(OfiConnection c, long endNs) {
        waiting.add(new Departure(c.handle, c.peer, c.peerIncarnation, endNs));
    }

    /** Whether this answer was awaited; once. */
    boolean remove(int connection, OfiPeer peer, long incarnation) {
        return waiting.removeIf(
                d -> d.connection == connection && d.peer == peer && d.incarnation == incarnation);
    }

    /** The next one whose peer has not answered in time, or 0. */
    int takeExpired(long nowNs) {
        Departure first = waiting.peek();
        if (first == null || first.endNs - nowNs > 0) {
            return 0;
        }
        waiting.remove();
        return first.connection;
    }
}
