package dev.verbena.transport.internal;

/**
 * Connections by handle: index in the low bits, a generation above, never 0. A handle of a
 * connection that has ended finds nothing, also when its slot is in use again. Allocated once. One
 * thread.
 *
 * @param <C> the provider's connection
 */
public class HandleTable<C extends TableConnection> {
    private static final int INDEX_BITS = 14;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final int GENERATION_MAX = (1 << 31 - INDEX_BITS) - 1;

    private final C[] connections;
    private final int[] generations;
    private int next;

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
    public final C take() {
        for (int i = 0; i < connections.length; i++) {
            int index = next;
            next = next + 1 == connections.length ? 0 : next + 1;
            C connection = connections[index];
            if (connection.state == TableConnection.FREE) {
                int generation = generations[index] % GENERATION_MAX + 1;
                generations[index] = generation;
                connection.reset();
                connection.handle = generation << INDEX_BITS | index;
                return connection;
            }
        }
        return null;
    }

    /** Gives the slot back. */
    public final void free(C connection) {
        connection.reset();
    }

    /** The connection with this handle in whatever state, or null. */
    public final C find(long handle) {
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
    public final C at(int index) {
        return connections[index];
    }

    /** How many slots there are. */
    public final int size() {
        return connections.length;
    }
}
