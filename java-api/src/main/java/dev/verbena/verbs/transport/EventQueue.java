package dev.verbena.verbs.transport;

import dev.verbena.transport.TransportHandler;
import dev.verbena.verbs.transport.VerbsEvent.Kind;
import java.util.ArrayDeque;
import org.agrona.concurrent.UnsafeBuffer;

/** Events about connections that wait for {@code poll}. Owned by the transport's thread. */
final class EventQueue {
    private final ArrayDeque<VerbsEvent> events = new ArrayDeque<>();

    void add(Kind kind, VerbsConnection connection, long after, int status, String reason) {
        events.add(new VerbsEvent(kind, connection, after, status, reason, null));
    }

    void addRequest(VerbsConnection connection, long after, byte[] privateData) {
        events.add(new VerbsEvent(Kind.REQUEST, connection, after, 0, "", privateData));
    }

    /** Nothing that waits for this connection is delivered. */
    void forget(VerbsConnection connection) {
        events.removeIf(event -> event.connection() == connection);
    }

    boolean isEmpty() {
        return events.isEmpty();
    }

    /** Delivers events whose earlier completions were delivered; answers how many. */
    int deliver(TransportHandler handler, int limit, WorkPool works, VerbsConnections connections) {
        int count = 0;
        while (count < limit && !events.isEmpty() && !works.isWaiting(events.peek().after())) {
            count++;
            deliver(handler, events.poll(), connections);
        }
        return count;
    }

    private static void deliver(
            TransportHandler handler, VerbsEvent event, VerbsConnections connections) {
        VerbsConnection connection = event.connection();
        switch (event.kind()) {
            case REQUEST -> {
                UnsafeBuffer data = new UnsafeBuffer(event.privateData());
                handler.onConnectRequest(
                        connection.handle, connection.peer, data, 0, data.capacity());
            }
            case CONNECTED -> {
                connection.opened();
                handler.onConnected(connection.handle, connection.context);
            }
            case FAILED -> {
                if (connection.state == VerbsConnection.ENDED) {
                    connections.table().remove(connection);
                } // else it was joined already, and is taking its leave
                handler.onConnectFailed(
                        connection.handle, connection.context, event.status(), event.reason());
            }
            case LOST -> {
                connections.table().remove(connection);
                handler.onPeerLost(connection.handle, connection.context, event.reason());
            }
            default -> {
                connections.table().remove(connection);
                handler.onDisconnected(connection.handle, connection.context);
            }
        }
    }

    void clear() {
        events.clear();
    }
}
