package dev.verbena.examples;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.transport.RemoteDescriptor;
import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.net.URI;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * One-sided access: this program writes into, and reads from, memory of another transport whose
 * owner does nothing. Both live in this process here; in another one nothing would differ.
 *
 * <p>Run: {@code java -cp 'cli/target/dist/lib/*' dev.verbena.examples.PutGet [shm|portals]}
 */
public final class PutGet {
    private PutGet() {}

    /** Runs it; the argument is the scheme of the transport. */
    public static void main(String[] arguments) {
        String scheme = arguments.length == 0 ? "shm" : arguments[0];
        System.out.println("read back: " + run(scheme, "written by a put"));
    }

    /** Puts a text into the target's memory and gets it back from there. */
    static String run(String scheme, String text) {
        byte[] bytes = text.getBytes(java.nio.charset.StandardCharsets.UTF_8);
        try (Transport target = Transports.open(scheme, new TransportContext());
                Transport initiator = Transports.open(scheme, new TransportContext());
                RegisteredRegion window = target.allocate(4096, RemoteDescriptor.REMOTE_ALL);
                RegisteredRegion local = initiator.allocate(4096, 0)) {
            // Whoever holds a descriptor, and is connected, may use the memory it names.
            RemoteDescriptor descriptor =
                    window.describe(0, 4096, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor());
            target.listen();
            Events events = new Events();
            Events welcome = new Events(target);
            long connection =
                    initiator.connect(target.uri(), new UnsafeBuffer(), 0, 0, 0, 5_000_000_000L);
            while (!events.isConnected || !welcome.isConnected) {
                target.poll(welcome, 8);
                initiator.poll(events, 8);
            }
            UnsafeBuffer buffer = local.buffer(0, 4096);
            buffer.putBytes(0, bytes);
            initiator.put(connection, local, 0, descriptor, 1000, bytes.length, 1, 0);
            events.awaitCompletion(initiator, 1);
            // FENCE is not needed: the completion of the put was seen.
            initiator.get(connection, local, 2000, descriptor, 1000, bytes.length, 2, 0);
            events.awaitCompletion(initiator, 2);
            return buffer.getStringWithoutLengthUtf8(2000, bytes.length);
        }
    }

    /** Remembers what happened; the target's side also accepts whoever connects. */
    private static final class Events implements TransportHandler {
        private final Transport listener;
        private boolean isConnected;
        private long completed;

        Events() {
            this(null);
        }

        Events(Transport listener) {
            this.listener = listener;
        }

        void awaitCompletion(Transport transport, long context) {
            while (completed != context) {
                if (transport.poll(this, 8) == 0) {
                    transport.await(transport.nanoTime() + 100_000_000L);
                }
            }
        }

        @Override
        public void onConnectRequest(
                long connection, URI peer, DirectBuffer data, int offset, int length) {
            listener.accept(connection, 0);
        }

        @Override
        public void onConnected(long connection, long context) {
            isConnected = true;
        }

        @Override
        public void onConnectFailed(long connection, long context, int status, String reason) {
            throw new IllegalStateException("cannot connect: " + reason);
        }

        @Override
        public void onCompletion(
                long connection, int operation, long context, int status, long value) {
            if (status != Status.OK) {
                throw new IllegalStateException("operation failed: " + Status.name(status));
            }
            completed = context;
        }
    }
}
