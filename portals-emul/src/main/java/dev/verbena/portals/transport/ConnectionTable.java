package dev.verbena.portals.transport;

/** Connections by handle: index in the low bits, a generation above, never 0. */
final class ConnectionTable {
    private static final int INDEX_BITS = 14;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;
    private static final int GENERATION_MAX = (1 << 31 - INDEX_BITS) - 1;

    private final PortalsConnection[] connections;
    private final int[] generations;
    private int usedCount;
    private int next;

    ConnectionTable(int connectionsMax) {
        connections = new PortalsConnection[connectionsMax];
        generations = new int[connectionsMax];
        for (int i = 0; i < connectionsMax; i++) {
            connections[i] = new PortalsConnection(i);
        }
    }

    /** A fresh one, or null if all are taken. */
    PortalsConnection take() {
        for (int i = 0; i < connections.length; i++) {
            int index = next;
            next = next + 1 == connections.length ? 0 : next + 1;
            PortalsConnection connection = connections[index];
            if (connection.state == PortalsConnection.FREE) {
                int generation = generations[index] % GENERATION_MAX + 1;
                generations[index] = generation;
                connection.reset();
                connection.handle = generation << INDEX_BITS | index;
                usedCount++;
                return connection;
            }
        }
        return null;
    }

    /** Gives the slot back. */
    void free(PortalsConnection connection) {
        connection.reset();
        usedCount--;
    }

    /** The connection with this handle in whatever state, or null. */
    PortalsConnection find(long handle) {
        int index = (int) handle & INDEX_MASK;
        if (index >= connections.length) {
            return null;
        }
        PortalsConnection connection = connections[index];
        return connection.handle == handle && connection.state != PortalsConnection.FREE
                ? connection
                : null;
    }

    /** All slots, free ones too. */
    PortalsConnection at(int index) {
        return connections[index];
    }

    /** Whether a connection goes to this process. */
    boolean isUsed(long target) {
        for (int i = 0; i < connections.length; i++) {
            PortalsConnection c = connections[i];
            if (c.state != PortalsConnection.FREE && c.target == target) {
                return true;
            }
        }
        return false;
    }

    int size() {
        return connections.length;
    }

    int usedCount() {
        return usedCount;
    }
}
