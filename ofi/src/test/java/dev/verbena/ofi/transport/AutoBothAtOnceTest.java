package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.BlockingCalls;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** One transport of {@code auto} with a peer in its shared memory and one elsewhere. */
@Timeout(120)
@ExtendWith(NeedsLibfabric.class)
class AutoBothAtOnceTest {
    private static final int ADDS = 2_000;

    private static BlockingCalls open(Path directory) {
        TransportContext context =
                new TransportContext()
                        .job("auto-both")
                        .option("shm.directory", directory.toString());
        return BlockingCalls.open("auto", context).timeoutNs(60_000_000_000L);
    }

    /** Connects, adds to the counter that the descriptor names, and says how it was connected. */
    private static String add(
            Path directory, URI target, byte[] descriptor, CompletableFuture<Void> go) {
        try (BlockingCalls calls = open(directory);
                RegisteredRegion own = calls.transport().allocate(64, 0)) {
            RemoteDescriptor counter =
                    new RemoteDescriptor().decode(new UnsafeBuffer(descriptor), 0);
            long connection = calls.connect(target);
            String explanation = calls.transport().explain();
            go.join();
            for (int i = 0; i < ADDS; i++) {
                calls.complete(
                        "fetchAdd",
                        context ->
                                calls.transport().fetchAdd(connection, counter, 0, 1, context, 0));
            }
            own.buffer(0, 8).putLong(0, 0x600D);
            calls.put(connection, own, 0, counter, 8 * (connection & 3) + 8, 8);
            calls.send(connection, own, 0, 8);
            calls.disconnect(connection);
            return explanation;
        }
    }

    @Test
    void shouldServeNeighboursOverShmAndOthersOverOfiAndAgreeOnAtomics(
            @TempDir Path here, @TempDir Path there) throws Exception {
        try (BlockingCalls calls = open(here);
                RegisteredRegion counter =
                        calls.transport().allocate(64, RemoteDescriptor.REMOTE_ALL)) {
            calls.transport().listen();
            byte[] descriptor = new byte[RemoteDescriptor.LENGTH];
            counter.describe(0, 64, RemoteDescriptor.REMOTE_ALL, new RemoteDescriptor())
                    .encode(new UnsafeBuffer(descriptor), 0);
            URI uri = calls.transport().uri();
            CompletableFuture<Void> go = new CompletableFuture<>();
            CompletableFuture<String> neighbour =
                    CompletableFuture.supplyAsync(() -> add(here, uri, descriptor, go));
            CompletableFuture<String> other =
                    CompletableFuture.supplyAsync(() -> add(there, uri, descriptor, go));
            long first = calls.accept();
            long second = calls.accept();
            assertThat(calls.transport().accept(first, 9))
                    .as("not offered any more, and counted still")
                    .isEqualTo(Transport.NOT_CONNECTED);
            assertThat(calls.transport().explain())
                    .contains("shm, connections now: 1")
                    .contains("ofi, connections now: 1");
            go.complete(null);
            for (long connection : new long[] {first, second}) {
                assertThat(calls.receive(connection).capacity()).isEqualTo(8);
            }
            assertThat(neighbour.get()).contains("shm, connections now: 1");
            assertThat(other.get()).contains("ofi, connections now: 1");
            assertThat(counter.buffer(0, 8).getLongVolatile(0)).isEqualTo(2L * ADDS);
            assertThat(counter.buffer(8, 8).getLong(0)).as("put by shm").isEqualTo(0x600D);
            assertThat(counter.buffer(16, 8).getLong(0)).as("put by ofi").isEqualTo(0x600D);
        }
    }
}
