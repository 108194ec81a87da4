package example;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.BlockingCalls;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.util.concurrent.CompletableFuture;

/** A put and a get between two transports, as a stranger would write it. Prints "put and get: OK". */
public final class Consumer {
    private static final int LENGTH = 64;

    public static void main(String[] args) throws Exception {
        String job = "consumer-" + ProcessHandle.current().pid();
        CompletableFuture<URI> address = new CompletableFuture<>();
        RemoteDescriptor descriptor = new RemoteDescriptor();
        CompletableFuture<Void> target = CompletableFuture.runAsync(() -> show(job, descriptor, address));
        try (BlockingCalls calls = BlockingCalls.open("shm", new TransportContext().job(job));
                RegisteredRegion local = calls.transport().allocate(LENGTH, 0)) {
            long connection = calls.connect(address.get());
            local.buffer(0, LENGTH).putLong(0, 0x1122334455667788L);
            calls.put(connection, local, 0, descriptor, 8, 8);
            calls.get(connection, local, 32, descriptor, 8, 16);
            check(local.buffer(0, LENGTH).getLong(32) == 0x1122334455667788L, "what was put comes back");
            check(local.buffer(0, LENGTH).getLong(40) == 99, "and what the target has beside it");
            calls.disconnect(connection);
            target.get();
        }
        System.out.println("put and get: OK");
    }

    /** The target: shows its memory, and does nothing until the peer disconnects. */
    private static void show(String job, RemoteDescriptor descriptor, CompletableFuture<URI> address) {
        try (BlockingCalls calls = BlockingCalls.open("shm", new TransportContext().job(job));
                RegisteredRegion window = calls.transport().allocate(LENGTH, RemoteDescriptor.REMOTE_ALL)) {
            window.buffer(0, LENGTH).putLong(16, 99);
            window.describe(0, LENGTH, window.rights(), descriptor);
            address.complete(calls.transport().uri());
            long connection = calls.accept();
            check(calls.receive(connection) == null, "no message came");
            check(window.buffer(0, LENGTH).getLong(8) == 0x1122334455667788L, "the bytes are at the target");
            calls.disconnect(connection);
        } catch (RuntimeException | AssertionError e) {
            address.completeExceptionally(e);
            throw e;
        }
    }

    private static void check(boolean isTrue, String what) {
        if (!isTrue) {
            throw new AssertionError("not so: " + what);
        }
    }
}
