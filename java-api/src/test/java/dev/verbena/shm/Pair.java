package dev.verbena.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.agrona.DirectBuffer;

/** Two connected transports of this process, driven by one thread, with what they saw. */
final class Pair implements AutoCloseable {
    static final long TIMEOUT_NS = 20_000_000_000L;

    /** Everything one side saw, in order. */
    static class Seen implements TransportHandler {
        final List<Integer> statuses = new ArrayList<>();
        final List<Long> contexts = new ArrayList<>();
        final List<Long> values = new ArrayList<>();
        final List<byte[]> messages = new ArrayList<>();
        final List<long[]> notifies = new ArrayList<>();
        final List<String> ends = new ArrayList<>();
        final List<String> order = new ArrayList<>();
        byte[] requestData;
        URI requester;
        long offered;
        long connected;
        boolean isRetaining;
        final List<Long> tokens = new ArrayList<>();
        Transport transport;

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            order.add("completion");
            statuses.add(status);
            contexts.add(context);
            values.add(value);
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int offset,
                int length,
                long token) {
            order.add("message");
            byte[] bytes = new byte[length];
            buffer.getBytes(offset, bytes);
            messages.add(bytes);
            if (isRetaining) {
                transport.retain(token);
                tokens.add(token);
            }
        }

        @Override
        public void onNotify(
                long connection, long context, int tag, long regionId, long offset, long length) {
            order.add("notify");
            notifies.add(new long[] {tag, regionId, offset, length});
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer privateData, int offset, int length) {
            offered = connection;
            requester = peer;
            requestData = new byte[length];
            privateData.getBytes(offset, requestData);
        }

        @Override
        public void onConnected(long connection, long context) {
            order.add("connected");
            connected = connection;
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            order.add("failed");
            ends.add("failed " + Status.name(status) + ": " + reason);
        }

        @Override
        public void onDisconnected(long connection, long context) {
            order.add("disconnected");
            ends.add("disconnected");
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            order.add("lost");
            ends.add("lost: " + reason);
        }
    }

    final Transport a;
    final Transport b;
    final Seen seenA = new Seen();
    final Seen seenB = new Seen();
    long fromA;
    long fromB;

    Pair() {
        this(context -> context);
    }

    Pair(UnaryOperator<TransportContext> options) {
        a = Transports.open("shm", options.apply(ShmTesting.context("a")));
        b = Transports.open("shm", options.apply(ShmTesting.context("b")));
        seenA.transport = a;
        seenB.transport = b;
        connect();
    }

    /** Once more, after the connection before has ended. */
    final void connect() {
        seenB.offered = seenB.connected = seenA.connected = 0;
        b.listen();
        fromA = a.connect(b.uri(), null, 0, 0, 1, TIMEOUT_NS);
        assertThat(fromA).isPositive();
        until(() -> seenB.offered != 0);
        b.accept(seenB.offered, 2);
        until(() -> seenA.connected != 0 && seenB.connected != 0);
        fromB = seenB.connected;
    }

    void poll() {
        a.poll(seenA, 100);
        b.poll(seenB, 100);
    }

    /** Polls both sides until the condition holds. */
    void until(BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        while (!condition.getAsBoolean()) {
            poll();
            if (deadlineNs - System.nanoTime() < 0) {
                throw new AssertionError("did not happen in time");
            }
        }
    }

    @Override
    public void close() {
        a.close();
        b.close();
    }
}
