package dev.verbena.transport;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import java.net.URI;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** One transport under test with everything that its handler saw, in order. */
public final class ContractNode implements TransportHandler, AutoCloseable {
    /** A completion as delivered. */
    public record Completion(long connection, int operation, long context, int status, long value) {
        @Override
        public String toString() {
            return Operation.name(operation)
                    + " context "
                    + context
                    + " "
                    + Status.name(status)
                    + " value "
                    + value;
        }
    }

    /** A message as delivered, with a copy of its bytes. */
    public record Message(long connection, long context, byte[] bytes, long token) {}

    /** A notification as delivered. */
    public record Notification(
            long connection, long context, int tag, long regionId, long offset, long length) {}

    /** An offered connection. */
    public record Request(long connection, URI peer, byte[] privateData) {}

    /** An event of a connection's life: connected, failed, disconnected, lost. */
    public record Life(String what, long connection, long context, int status, String reason) {}

    /** Called on each event before it is recorded. */
    interface Hook {
        void onEvent(Object event);
    }

    final Transport transport;
    final ArrayDeque<Completion> completions = new ArrayDeque<>();
    final ArrayDeque<Message> messages = new ArrayDeque<>();
    final ArrayDeque<Notification> notifications = new ArrayDeque<>();
    final ArrayDeque<Request> requests = new ArrayDeque<>();
    final List<Life> lives = new ArrayList<>();
    private final List<RegisteredRegion> regions = new ArrayList<>();

    /** Context given to connections that are accepted on their own; 0: leave them offered. */
    long acceptContext = 7_000;

    Hook hook = event -> {};

    ContractNode(Transport transport) {
        this.transport = transport;
    }

    RegisteredRegion allocate(long length, int rights) {
        RegisteredRegion region = transport.allocate(length, rights);
        regions.add(region);
        return region;
    }

    RegisteredRegion allocate(long length) {
        return allocate(length, RemoteDescriptor.REMOTE_ALL);
    }

    /** Closes a region with the node. */
    <R extends RegisteredRegion> R owns(R region) {
        regions.add(region);
        return region;
    }

    int poll() {
        return transport.poll(this, 64);
    }

    long connect(URI peer, long context) {
        return connect(peer, new byte[0], context, 10_000_000_000L);
    }

    long connect(URI peer, byte[] privateData, long context, long timeoutNs) {
        return transport.connect(
                peer, new UnsafeBuffer(privateData), 0, privateData.length, context, timeoutNs);
    }

    /** Connects to a node that listens from now on; both are polled until they report it. */
    long connect(ContractNode listener, long context) {
        listener.transport.listen();
        long handle = connect(listener.transport.uri(), context);
        pollUntilBothLive(listener);
        return handle;
    }

    /** Polls both until each has reported a connection, or its failure. */
    void pollUntilBothLive(ContractNode other) {
        long endNs = transport.nanoTime() + 10_000_000_000L;
        while (lives.isEmpty() || other.lives.isEmpty()) {
            if (transport.nanoTime() - endNs > 0) {
                throw new AssertionError("not connected: " + lives + ", " + other.lives);
            }
            other.poll();
            poll();
        }
    }

    /** How often a kind of life event came for a connection. */
    long count(String what, long connection) {
        return lives.stream()
                .filter(l -> l.what.equals(what) && l.connection == connection)
                .count();
    }

    Life life(String what, long connection) {
        return lives.stream()
                .filter(l -> l.what.equals(what) && l.connection == connection)
                .findFirst()
                .orElse(null);
    }

    boolean hasEnded(long connection) {
        return count("lost", connection) + count("disconnected", connection) > 0;
    }

    @Override
    public void onCompletion(long connection, int operation, long context, int status, long value) {
        Completion event = new Completion(connection, operation, context, status, value);
        hook.onEvent(event);
        completions.add(event);
    }

    @Override
    public void onMessage(
            long connection,
            long context,
            DirectBuffer buffer,
            int offset,
            int length,
            long token) {
        byte[] bytes = new byte[length];
        buffer.getBytes(offset, bytes);
        Message event = new Message(connection, context, bytes, token);
        hook.onEvent(event);
        messages.add(event);
    }

    @Override
    public void onNotify(
            long connection, long context, int tag, long regionId, long offset, long length) {
        Notification event = new Notification(connection, context, tag, regionId, offset, length);
        hook.onEvent(event);
        notifications.add(event);
    }

    @Override
    public void onConnectRequest(
            long connection, URI peer, DirectBuffer privateData, int offset, int length) {
        byte[] bytes = new byte[length];
        privateData.getBytes(offset, bytes);
        Request event = new Request(connection, peer, bytes);
        hook.onEvent(event);
        requests.add(event);
        if (acceptContext != 0) {
            transport.accept(connection, acceptContext);
        }
    }

    @Override
    public void onConnected(long connection, long context) {
        life(new Life("connected", connection, context, Status.OK, ""));
    }

    @Override
    public void onConnectFailed(long connection, long context, int status, String reason) {
        life(new Life("failed", connection, context, status, reason));
    }

    @Override
    public void onDisconnected(long connection, long context) {
        life(new Life("disconnected", connection, context, Status.OK, ""));
    }

    @Override
    public void onPeerLost(long connection, long context, String reason) {
        life(new Life("lost", connection, context, Status.OK, reason));
    }

    private void life(Life event) {
        hook.onEvent(event);
        lives.add(event);
    }

    /** Delivers what is there, closes the regions, then the transport. */
    @Override
    public void close() {
        hook = event -> {};
        if (transport.poll(this, 0) == Transport.CLOSED) {
            return;
        }
        while (transport.poll(this, 1024) > 0) {
            // Operations must have been polled before their regions may be closed.
        }
        regions.forEach(RegisteredRegion::close);
        transport.close();
    }
}
