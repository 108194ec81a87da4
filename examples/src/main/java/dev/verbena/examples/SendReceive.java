package dev.verbena.examples;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.BlockingCalls;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import org.agrona.DirectBuffer;

/**
 * Two-sided messages: a client asks, a server on another thread answers in upper case. The two
 * could be two processes: then the address travels by a file, or by whatever there is.
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
        try (BlockingCalls calls = BlockingCalls.open(scheme, new TransportContext());
                RegisteredRegion outbox = calls.transport().allocate(LENGTH_MAX, 0)) {
            long connection = calls.connect(address.get()); // waits until the server listens
            send(calls, connection, outbox, question);
            String answer = text(calls.receive(connection));
            calls.disconnect(connection);
            server.get();
            return answer;
        }
    }

    /** Answers the first client until it disconnects. */
    private static void serve(String scheme, CompletableFuture<URI> address) {
        try (BlockingCalls calls = BlockingCalls.open(scheme, new TransportContext());
                RegisteredRegion outbox = calls.transport().allocate(LENGTH_MAX, 0)) {
            address.complete(calls.transport().uri());
            long connection = calls.accept();
            DirectBuffer message;
            while ((message = calls.receive(connection)) != null) {
                send(calls, connection, outbox, text(message).toUpperCase());
            }
            calls.disconnect(connection);
        } catch (RuntimeException e) {
            address.completeExceptionally(e);
            throw e;
        }
    }

    private static void send(
            BlockingCalls calls, long connection, RegisteredRegion outbox, String text) {
        int length = outbox.buffer(0, LENGTH_MAX).putStringWithoutLengthUtf8(0, text);
        calls.send(connection, outbox, 0, length);
    }

    private static String text(DirectBuffer message) {
        return message.getStringWithoutLengthUtf8(0, message.capacity());
    }
}
