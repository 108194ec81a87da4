package dev.verbena.verbs.transport;

import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.core.ConnectionEvents;
import dev.verbena.transport.core.ConnectionTable;
import java.util.function.Consumer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Events about connections for the user, after the completions that were there before. Owned by the
 * transport's thread.
 */
final class VerbsEvents {
    private final ConnectionEvents<VerbsConnection> events = new ConnectionEvents<>();
    private final ConnectionTable<VerbsConnection> table;
    private final WorkPool works;

    VerbsEvents(ConnectionTable<VerbsConnection> table, WorkPool works) {
        this.table = table;
        this.works = works;
    }

    private void add(VerbsConnection connection, Consumer<TransportHandler> event) {
        events.add(connection, works.lastNumber(), event);
    }

    void requested(VerbsConnection connection, byte[] privateData) {
        add(
                connection,
                handler ->
                        handler.onConnectRequest(
                                connection.handle,
                                connection.peer,
                                new UnsafeBuffer(privateData),
                                0,
                                privateData.length));
    }

    void joined(VerbsConnection connection) {
        add(
                connection,
                handler -> {
                    connection.opened();
                    handler.onConnected(connection.handle, connection.context);
                });
    }

    void failed(VerbsConnection connection, int status, String reason) {
        add(
                connection,
                handler -> {
                    if (connection.state == VerbsConnection.ENDED) {
                        table.remove(connection);
                    } // else it was joined already, and is taking its leave
                    handler.onConnectFailed(connection.handle, connection.context, status, reason);
                });
    }

    void ended(VerbsConnection connection, boolean isInOrder) {
        add(
                connection,
                handler -> {
                    table.remove(connection);
                    if (isInOrder) {
                        handler.onDisconnected(connection.handle, connection.context);
                    } else {
                        handler.onPeerLost(
                                connection.handle, connection.context, connection.endReason);
                    }
                });
    }

    /** Nothing that waits for this connection is delivered. */
    void forget(VerbsConnection connection) {
        events.forget(connection);
    }

    boolean isEmpty() {
        return events.isEmpty();
    }

    /** Delivers events whose earlier completions were delivered; answers how many. */
    int deliver(TransportHandler handler, int limit) {
        return events.deliver(handler, limit, works.deliveredCount());
    }

    void clear() {
        events.clear();
    }
}
