package dev.verbena.savime.server;

import java.util.ArrayList;
import java.util.List;

/** What one client has here: its connections, and the names of its datasets that failed. */
final class Session {
    private final long id;
    private final long clientId;
    private final List<Connection> connections = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();
    private int datasetCount;
    private long forwardedBytes;

    Session(long id, long clientId) {
        this.id = id;
        this.clientId = clientId;
    }

    long id() {
        return id;
    }

    long clientId() {
        return clientId;
    }

    void add(Connection connection) {
        connections.add(connection);
    }

    void remove(Connection connection) {
        connections.remove(connection);
    }

    /** One that can be told something; null: the client is away. */
    Connection connection() {
        return connections.isEmpty() ? null : connections.get(0);
    }

    boolean isConnected(Connection connection) {
        return connections.contains(connection);
    }

    /** A dataset of it has begun, or is no more. */
    void count(int change) {
        datasetCount += change;
    }

    int datasetCount() {
        return datasetCount;
    }

    boolean isOver() {
        return connections.isEmpty() && datasetCount == 0;
    }

    void forwarded(long bytes) {
        forwardedBytes += bytes;
    }

    long forwardedBytes() {
        return forwardedBytes;
    }

    /** A dataset will never reach the sink. */
    void failed(String name) {
        failed.add(name);
    }

    int failedCount() {
        return failed.size();
    }

    /** Names of datasets that failed since this was asked last; empty: none. */
    String takeFailed() {
        String names = String.join(", ", failed);
        failed.clear();
        return names;
    }
}
