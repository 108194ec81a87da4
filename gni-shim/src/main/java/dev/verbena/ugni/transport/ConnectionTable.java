package dev.verbena.ugni.transport;

/** Connections by handle: index in the low bits, a generation above, never 0. */
final class ConnectionTable {
    private static final int INDEX_BITS = 14;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final int GENERATION_MAX = (1 << 31 - INDEX_BITS) - 1;

    private final GniConnection[] connections;
    private final int[] generations;
    private int next;

    ConnectionTable(int connectionsMax) {
        connections = new GniConnection[connectionsMax];
        generations = new int[connectionsMax];
        for (int i = 0; i < connectionsMax; i++) {
            connections[i] = new GniConnection(i);
        }
    }

    /** A fresh one, or null if all are taken. */
    GniConnection take() {
        for (int i = 0; i < connections.length; i++) {
            int index = next;
            next = next + 1 == connections.length ? 0 : next + 1;
            GniConnection connection = connections[index];
            if (connection.state == GniConnection.FREE) {
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
    void free(GniConnection connection) {
        connection.reset();
    }

    /** The connection with this handle in whatever state, or null. */
    GniConnection find(long handle) {
        int index = (int) handle & INDEX_MASK;
        if (index >= connections.length) {
            return null;
        }
        GniConnection connection = connections[index];
        return connection.handle == handle && connection.state != GniConnection.FREE
                ? connection
                : null;
    }

    /** All slots, free ones too. */
    GniConnection at(int index) {
        return connections[index];
    }

    int size() {
        return connections.length;
    }
}
