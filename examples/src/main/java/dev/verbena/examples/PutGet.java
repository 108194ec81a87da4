package dev.verbena.examples;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.BlockingCalls;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
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
    public static void main(String[] arguments) throws Exception {
        String scheme = arguments.length == 0 ? "shm" : arguments[0];
        System.out.println("read back: " + run(scheme, "written by a put"));
    }

    /** Puts a text into the target's memory and gets it back from there. */
    static String run(String scheme, String text) throws Exception {
        CompletableFuture<URI> address = new CompletableFuture<>();
        RemoteDescriptor descriptor = new RemoteDescriptor();
        CompletableFuture<Void> target =
                CompletableFuture.runAsync(() -> show(scheme, descriptor, address));
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        try (BlockingCalls calls = BlockingCalls.open(scheme, new TransportContext());
                RegisteredRegion local = calls.transport().allocate(4096, 0)) {
            long connection = calls.connect(address.get());
            UnsafeBuffer buffer = local.buffer(0, 4096);
            buffer.putBytes(0, bytes);
            calls.put(connection, local, 0, descriptor, 1000, bytes.length);
            calls.get(connection, local, 2000, descriptor, 1000, bytes.length);
            calls.disconnect(connection);
            target.get();
            return buffer.getStringWithoutLengthUtf8(2000, bytes.length);
        }
    }

    /** The target. Whoever holds a descriptor, and is connected, may use the memory it names. */
    private static void show(
            String scheme, RemoteDescriptor descriptor, CompletableFuture<URI> address) {
        try (BlockingCalls calls = BlockingCalls.open(scheme, new TransportContext());
                RegisteredRegion window =
                        calls.transport().allocate(4096, RemoteDescriptor.REMOTE_ALL)) {
            window.describe(0, 4096, RemoteDescriptor.REMOTE_ALL, descriptor);
            address.complete(calls.transport().uri());
            long connection = calls.accept();
            calls.receive(connection); // no message comes: the peer's end is what is waited for
            calls.disconnect(connection);
        } catch (RuntimeException e) {
            address.completeExceptionally(e);
            throw e;
        }
    }
}
