package dev.verbena.transport.core;

import java.util.function.IntFunction;

/**
 * Connections by handle: index in the low bits, a generation above, never 0. A handle of a
 * connection that has ended finds nothing, also when its slot is in use again. Allocated once. One
 * thread.
 *
 * @param <C> the provider's connection
 */
public final class HandleTable<C extends TableConnection> {
    private static final int INDEX_BITS = 14;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final int GENERATION_MAX = (1 << 31 - INDEX_BITS) - 1;

    private final C[] connections;
    private final int[] generations;
    private int next;
    private int count;

    /**
     * A table of free slots.
     *
     * @param connections as many as there may be, up to 16,384; they are made here
     */
    public HandleTable(C[] connections, IntFunction<C> maker) {
        this(connections);
        for (int i = 0; i < connections.length; i++) {
            connections[i] = maker.apply(i);
        }
    }

    /**
     * A table of free slots.
     *
     * @param connections as many as there may be, up to 16,384; each at its index
     */
    public HandleTable(C[] connections) {
        this.connections = connections;
        generations = new int[connections.length];
    }

    /** A fresh one, or null if all are taken. The caller gives it a state other than FREE. */
    public C take() {
        for (int i = 0; i < connections.length; i++) {
            int index = next;
            next = next + 1 == connections.length ? 0 : next + 1;
            C connection = connections[index];
            if (connection.state == TableConnection.FREE) {
                int generation = generations[index] % GENERATION_MAX + 1;
                generations[index] = generation;
                connection.take(generation << INDEX_BITS | index);
                count++;
                return connection;
            }
        }
        return null;
    }

    /** Gives the slot back; not a second time. */
    public void free(C connection) {
        if (connection.state != TableConnection.FREE) {
            connection.reset();
            count--;
        }
    }

    /** How many slots are taken. */
    public int count() {
        return count;
    }

    /** The connection with this handle in whatever state, or null. */
    public C find(long handle) {
        int index = (int) handle & INDEX_MASK;
        if (index >= connections.length) {
            return null;
        }
        C connection = connections[index];
        return connection.handle == handle && connection.state != TableConnection.FREE
                ? connection
                : null;
    }

    /** All slots, free ones too. */
    public C at(int index) {
        return connections[index];
    }

    /** How many slots there are. */
    public int size() {
        return connections.length;
    }
}
