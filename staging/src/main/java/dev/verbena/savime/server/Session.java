package dev.verbena.savime.server;

import java.util.ArrayList;
import java.util.List;
import java.util.StringJoiner;

/** What one client has here: its connections, and the names of its datasets that failed. */
final class Session {
    /** Datasets that failed and are remembered each; the names of more are not kept. */
    static final int FAILURES_MAX = 1024;

    final long id;
    final long clientId;
    private final List<Connection> connections = new ArrayList<>();
    private final List<Failure> failed = new ArrayList<>();
    int datasetCount;
    long forwardedBytes;

    /** Commands that have come. */
    long commandCount;

    private long leftNs;

    /** Commands that were sent before the dataset do not wait for it. */
    private record Failure(String name, long commandsBefore) {}

    Session(long id, long clientId) {
        this.id = id;
        this.clientId = clientId;
    }

    void add(Connection connection) {
        connections.add(connection);
    }

    void remove(Connection connection, long nowNs) {
        connections.remove(connection);
        leftNs = nowNs;
    }

    /** Whether its client has had no connection for so long. */
    boolean isAway(long nowNs, long timeNs) {
        return connections.isEmpty() && nowNs - leftNs - timeNs >= 0;
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

    boolean isOver() {
        return connections.isEmpty() && datasetCount == 0;
    }

    void forwarded(long bytes) {
        forwardedBytes += bytes;
    }

    /** A command has come; its number, from 1. */
    long nextCommand() {
        return ++commandCount;
    }

    /**
     * A dataset will never reach the sink.
     *
     * @param commandsBefore commands that had come when it was opened
     */
    void failed(String name, long commandsBefore) {
        if (failed.size() < FAILURES_MAX) {
            failed.add(new Failure(name, commandsBefore));
        } else {
            failed.set(FAILURES_MAX - 1, new Failure("others", commandsBefore));
        }
    }

    int failedCount() {
        return failed.size();
    }

    /** Names of datasets before this command that failed and were not taken yet; empty: none. */
    String takeFailed(long command) {
        StringJoiner names = new StringJoiner(", ");
        failed.removeIf(
                each -> {
                    boolean isBefore = each.commandsBefore < command;
                    if (isBefore) {
                        names.add(each.name);
                    }
                    return isBefore;
                });
        return names.toString();
    }
}
