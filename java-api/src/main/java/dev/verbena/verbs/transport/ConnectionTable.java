package dev.verbena.verbs.transport;

import dev.verbena.verbs.transport.VerbsConnection.Sending;
import java.net.URI;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The connections of one transport by handle. A handle is a number that no other connection of this
 * process had or will have, and in its low bits the place in the table: a stale handle finds the
 * wrong number there and is refused.
 */
final class ConnectionTable {
    private static final int INDEX_BITS = 15;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final AtomicLong NUMBERS = new AtomicLong();

    private final VerbsConnection[] byIndex;
    private final int[] freeIndexes;
    private final Sending sending;
    private int freeCount;

    ConnectionTable(int connectionsMax, Sending sending) {
        this.byIndex = new VerbsConnection[connectionsMax];
        this.freeIndexes = new int[connectionsMax];
        this.sending = sending;
        for (int index = connectionsMax - 1; index >= 0; index--) {
            freeIndexes[freeCount++] = index;
        }
    }

    boolean isFull() {
        return freeCount == 0;
    }

    int count() {
        return byIndex.length - freeCount;
    }

    /** Takes a place; the caller says how it begins. */
    VerbsConnection add(URI peer, PeerChannel channel) {
        int index = freeIndexes[--freeCount];
        long handle = NUMBERS.incrementAndGet() << INDEX_BITS | index;
        VerbsConnection connection = new VerbsConnection(index, handle, peer, channel, sending);
        if (channel != null) {
            channel.attach(connection);
        }
        byIndex[index] = connection;
        return connection;
    }

    void remove(VerbsConnection connection) {
        if (byIndex[connection.index] == connection) {
            byIndex[connection.index] = null;
            freeIndexes[freeCount++] = connection.index;
        }
    }

    /** The connection of a handle whatever its state, or null. */
    VerbsConnection find(long handle) {
        int index = (int) handle & INDEX_MASK;
        if (index >= byIndex.length) {
            return null;
        }
        VerbsConnection connection = byIndex[index];
        return connection != null && connection.handle == handle ? connection : null;
    }

    /** The connection in a place, or null. */
    VerbsConnection at(int index) {
        return index >= 0 && index < byIndex.length ? byIndex[index] : null;
    }

    int capacity() {
        return byIndex.length;
    }
}
