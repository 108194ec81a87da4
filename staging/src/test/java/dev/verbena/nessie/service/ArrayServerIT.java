package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.CountersFile;
import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.staging.metadata.Box;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Array servers that are killed. */
@Timeout(240)
class ArrayServerIT {
    private static final int ROWS = 64;
    private static final int COLUMNS = 256;

    private final String job = "array-it" + ProcessHandle.current().pid();
    private final RealEnvironment environment =
            RealEnvironment.builder().job(job).errorHandler(e -> {}).build();
    @TempDir Path directory;

    private Transport open() {
        return Transports.open(
                "shm", new TransportContext().job(job).peerTimeoutNs(1_000_000_000L));
    }

    /** What killed processes have left in shared memory. */
    @AfterEach
    void sweep() throws IOException {
        environment.close();
        Path left = CountersFile.jobDirectory(CountersFile.defaultShmDirectory(), job);
        if (Files.isDirectory(left)) {
            try (Stream<Path> files = Files.walk(left)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.deleteIfExists(file);
                }
            }
        }
    }

    private ArrayClient client(ArrayProcess server) {
        return ArrayClient.connect(open(), List.of(server.url()), 20_000, e -> {});
    }

    private static ArrayDescription array(long version) {
        return new ArrayDescription("field", version, ArrayType.FLOAT64, Box.whole(ROWS, COLUMNS));
    }

    /** The server's memory holds half of a version. */
    @Test
    void shouldHaveEverySealedVersionAgainAfterAKill() throws Exception {
        // --long: 20 kills instead of 3
        int kills = Boolean.getBoolean("verbena.long") ? 20 : 3;
        long sealed = -1;
        for (int kill = 0; kill <= kills; kill++) {
            try (ArrayProcess server = ArrayProcess.start(job, directory)) {
                requireSealed(server, sealed);
                if (kill < kills) {
                    sealed = writeUntilKilled(server, sealed + 1, 3 + kill % 4);
                }
            }
        }
    }

    private void requireSealed(ArrayProcess server, long last) {
        try (ArrayClient client = client(server)) {
            NntiBuffer memory = client.allocate(ROWS * COLUMNS * 8);
            long[] versions = client.versions("field", -1, 0);
            // One more may be there: its answer may not have come before the kill.
            assertThat(versions.length).isBetween((int) last + 1, (int) last + 2);
            for (long version : versions) {
                Box all = array(version).whole();
                client.get("field", version, all, memory, 0);
                assertThat(new PlainArray(array(version), version).mismatch(all, memory))
                        .isEqualTo(-1);
            }
        }
    }

    /** The last version that was sealed. */
    private long writeUntilKilled(ArrayProcess server, long first, int count) throws Exception {
        long sealed = first - 1;
        try (ArrayClient client = client(server)) {
            long begin = client.versions("field", -1, 0).length;
            for (long version = begin; version < begin + count; version++) {
                put(client, version, 4);
                client.seal("field", version);
                sealed = version;
            }
            put(client, sealed + 1, 2);
            server.close();
            assertThatThrownBy(() -> put(client, array(1000).version(), 4))
                    .isInstanceOfSatisfying(
                            ArrayException.class,
                            e -> assertThat(e.status()).isEqualTo(ArrayStatus.FAILED))
                    .hasMessageStartingWith("array 'field', version 1000: server 0 of 1");
        }
        return sealed;
    }

    /** It is only held up, and would pull the memory's next content for the box of this one. */
    @Test
    void shouldUseNoMemoryAgainThatASilentServerMayUse() throws Exception {
        Transport transport =
                Transports.open(
                        "shm", new TransportContext().job(job).peerTimeoutNs(60_000_000_000L));
        try (ArrayProcess server = ArrayProcess.start(job, directory);
                ArrayClient client =
                        ArrayClient.connect(transport, List.of(server.url()), 2000, e -> {})) {
            put(client, 1, 4);
            NntiBuffer memory = client.allocate(ROWS / 4 * COLUMNS * 8);
            Box box = array(2).whole().with(0, 0, ROWS / 4);
            server.signal("STOP");
            assertThatThrownBy(() -> client.put(array(2), box, memory))
                    .isInstanceOfSatisfying(
                            ArrayException.class,
                            e -> assertThat(e.status()).isEqualTo(ArrayStatus.DEADLINE));
            server.signal("CONT");
            assertThatThrownBy(() -> client.put(array(3), box, memory))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("release it");
            client.release(memory);
            put(client, 3, 4);
        }
    }

    private static void put(ArrayClient client, long version, int pieces) {
        NntiBuffer memory = client.allocate(ROWS / 4 * COLUMNS * 8);
        PlainArray plain = new PlainArray(array(version), version);
        for (int i = 0; i < pieces; i++) {
            Box box = array(version).whole().with(0, i * ROWS / 4, ROWS / 4);
            plain.fill(box, memory);
            client.put(array(version), box, memory);
        }
        client.release(memory);
    }
}
