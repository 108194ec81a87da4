package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.agent.Await;
import dev.verbena.memory.RegisteredRegion;
import dev.verbena.memory.RemoteDescriptor;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportHandler;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** Shared memory of {@code auto} that a peer of libfabric may still write after its close. */
@Timeout(60)
@ExtendWith(NeedsLibfabric.class)
class AutoKeptMemoryTest {
    private static final int LENGTH = 64 << 20;

    private long connection;
    private int completions;
    private int accepted;

    private static Transport open(Path directory) {
        return Transports.open(
                "auto",
                new TransportContext()
                        .job("auto-kept-" + ProcessHandle.current().pid())
                        .option("shm.directory", directory.toString())
                        .option("ofi.progress", "caller"));
    }

    private final TransportHandler initiator =
            new TransportHandler() {
                @Override
                public void onConnected(long handle, long context) {
                    connection = handle;
                }

                @Override
                public void onCompletion(
                        long connection, int operation, long context, int status, long value) {
                    completions++;
                }
            };

    /** Bytes of files of this folder that this process maps. */
    private static long mapped(Path folder) {
        try {
            return Files.readAllLines(Path.of("/proc/self/maps")).stream()
                    .filter(line -> line.contains(folder.toString()))
                    .map(line -> line.split("[- ]"))
                    .mapToLong(
                            line ->
                                    Long.parseUnsignedLong(line[1], 16)
                                            - Long.parseUnsignedLong(line[0], 16))
                    .sum();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldFreeMemoryAsSoonAsASlowPeerHasAnswered(@TempDir Path here, @TempDir Path there) {
        try (Transport a = open(here);
                Transport b = open(there);
                RegisteredRegion local = a.allocate(8, 0)) {
            TransportHandler target =
                    new TransportHandler() {
                        @Override
                        public void onConnectRequest(
                                long from, URI uri, DirectBuffer data, int offset, int length) {
                            accepted += b.accept(from, 1) == Transport.ACCEPTED ? 1 : 0;
                        }
                    };
            b.listen();
            a.connect(b.uri(), null, 0, 0, 1, 30_000_000_000L);
            Runnable poll =
                    () -> {
                        a.poll(initiator, 8);
                        b.poll(target, 8);
                    };
            until("connected", poll, () -> connection != 0 && accepted == 1);
            long before = mapped(there);
            RegisteredRegion region = b.allocate(LENGTH, RemoteDescriptor.REMOTE_WRITE);
            RemoteDescriptor d = new RemoteDescriptor();
            region.describe(0, 8, RemoteDescriptor.REMOTE_WRITE, d);
            a.put(connection, local, 0, d, 0, 8, 1, 0);
            until("put", poll, () -> completions == 1);
            region.close(); // the peer does not poll meanwhile
            assertThat(mapped(there)).as("kept").isGreaterThanOrEqualTo(before + LENGTH);
            until(
                    "freed",
                    poll,
                    () -> {
                        b.allocate(8, 0).close();
                        return mapped(there) < before + LENGTH;
                    });
        }
    }

    private static void until(
            String what, Runnable poll, java.util.function.BooleanSupplier condition) {
        Await.until(
                what,
                () -> {
                    poll.run();
                    return condition.getAsBoolean();
                });
    }
}
