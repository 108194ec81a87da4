package dev.verbena.transport.core;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/**
 * The connections of one transport by handle. A handle is a number that no other connection of this
 * process had or will have, and in its low bits the place in the table: a stale handle finds the
 * wrong number there and is refused. Owned by the transport's thread.
 *
 * @param <C> the provider's connection
 */
public final class ConnectionTable<C extends NumberedConnection> {
    /** Bits of a place in the table. */
    public static final int INDEX_BITS = 15;

    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final AtomicLong NUMBERS = new AtomicLong();

    private final C[] byIndex;
    private final int[] freeIndexes;
    private int freeCount;

    /**
     * A table of free places.
     *
     * @param byIndex as many as there may be, up to 32,768; all null
     */
    public ConnectionTable(C[] byIndex) {
        this.byIndex = byIndex;
        this.freeIndexes = new int[byIndex.length];
        for (int index = byIndex.length - 1; index >= 0; index--) {
            freeIndexes[freeCount++] = index;
        }
    }

    static int index(long handle) {
        return (int) handle & INDEX_MASK;
    }

    /** Whether every place is taken. */
    public boolean isFull() {
        return freeCount == 0;
    }

    /** How many places are taken. */
    public int count() {
        return byIndex.length - freeCount;
    }

    /** Takes a place for the connection that is made for its handle; not if {@link #isFull}. */
    public C add(LongFunction<C> maker) {
        int index = freeIndexes[--freeCount];
        C connection = maker.apply(NUMBERS.incrementAndGet() << INDEX_BITS | index);
        byIndex[index] = connection;
        return connection;
    }

    /** Gives the place back; not a second time. */
    public void remove(C connection) {
        if (byIndex[connection.index] == connection) {
            byIndex[connection.index] = null;
            freeIndexes[freeCount++] = connection.index;
        }
    }

    /** The connection of a handle whatever its state, or null. */
    public C find(long handle) {
        C connection = at(index(handle));
        return connection != null && connection.handle == handle ? connection : null;
    }

    /** The connection in a place, or null. */
    public C at(int index) {
        return index >= 0 && index < byIndex.length ? byIndex[index] : null;
    }

    /** How many places there are. */
    public int capacity() {
        return byIndex.length;
    }
}
