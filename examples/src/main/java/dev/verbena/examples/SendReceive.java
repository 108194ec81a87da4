package dev.verbena.examples;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Two-sided messages: a client asks, a server on another thread answers in upper case.
 *
 * <p>Run: {@code java -cp 'cli/target/dist/lib/*' dev.verbena.examples.SendReceive [shm|portals]}
 */
public final class SendReceive {
    private static final int LENGTH_MAX = 256;

    private SendReceive() {}

    /** Runs it; the argument is the scheme of the transport. */
    public static void main(String[] arguments) throws Exception {
        String scheme = arguments.length == 0 ? "shm" : arguments[0];
        System.out.println("answer: " + ask(scheme, "is anybody there?"));
    }

    /** Starts a server, asks it, returns the answer. */
    static String ask(String scheme, String question) throws Exception {
        CompletableFuture<URI> address = new CompletableFuture<>();
        CompletableFuture<Void> server = CompletableFuture.runAsync(() -> serve(scheme, address));
        try (Transport transport = Transports.open(scheme, new TransportContext());
                RegisteredRegion outbox = transport.allocate(LENGTH_MAX, 0)) {
            Side client = new Side(transport, outbox, null);
            long connection =
                    transport.connect(address.get(), new UnsafeBuffer(), 0, 0, 0, 5_000_000_000L);
            client.pollUntil(() -> client.isConnected);
            client.send(connection, question);
            client.pollUntil(() -> client.received != null);
            transport.disconnect(connection);
            server.get();
            return client.received;
        }
    }

    private static void serve(String scheme, CompletableFuture<URI> address) {
        try (Transport transport = Transports.open(scheme, new TransportContext());
                RegisteredRegion outbox = transport.allocate(LENGTH_MAX, 0)) {
            transport.listen();
            address.complete(transport.uri());
            Side side = new Side(transport, outbox, String::toUpperCase);
            side.pollUntil(() -> side.isEnded);
        } catch (RuntimeException e) {
            address.completeExceptionally(e);
        }
    }

    /** One side of the connection. */
    private static final class Side implements TransportHandler {
        private final Transport transport;
        private final RegisteredRegion outbox;
        private final java.util.function.UnaryOperator<String> answer;
        private boolean isConnected;
        private boolean isEnded;
        private String received;

        Side(
                Transport transport,
                RegisteredRegion outbox,
                java.util.function.UnaryOperator<String> answer) {
            this.transport = transport;
            this.outbox = outbox;
            this.answer = answer;
        }

        void pollUntil(java.util.function.BooleanSupplier condition) {
            while (!condition.getAsBoolean()) {
                if (transport.poll(this, 8) == 0) {
                    transport.await(transport.nanoTime() + 100_000_000L);
                }
            }
        }

        /** A send never blocks; without credit it is refused, and tried again later. */
        void send(long connection, String text) {
            int length = outbox.buffer(0, LENGTH_MAX).putStringWithoutLengthUtf8(0, text);
            int result = transport.send(connection, outbox, 0, length, 0, 0);
            if (result != Transport.ACCEPTED) {
                throw new IllegalStateException("send answers " + result);
            }
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            transport.accept(connection, 0);
        }

        @Override
        public void onConnected(long connection, long context) {
            isConnected = true;
        }

        @Override
        public void onMessage(
                long connection,
                long context,
                DirectBuffer buffer,
                int at,
                int length,
                long token) {
            received = buffer.getStringWithoutLengthUtf8(at, length);
            if (answer != null) {
                send(connection, answer.apply(received));
            }
        }

        @Override
        public void onDisconnected(long connection, long context) {
            isEnded = true;
        }

        @Override
        public void onPeerLost(long connection, long context, String reason) {
            isEnded = true;
        }
    }
}
