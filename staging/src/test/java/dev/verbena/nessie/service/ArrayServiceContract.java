package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.agent.RealEnvironment;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.staging.metadata.Box;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The array service over a transport, its servers on threads of this process: one small subclass
 * for each provider names the scheme.
 */
@Timeout(120)
public abstract class ArrayServiceContract {
    @TempDir Path directory;

    /** For subclasses in other modules. */
    protected ArrayServiceContract() {}

    /** URI scheme of the provider. */
    protected abstract String scheme();

    ArrayServers servers(int count, ArrayServerOptions options) {
        return new ArrayServers(scheme(), directory, count, options);
    }

    static ArrayDescription grid(String name, long version, long... shape) {
        return new ArrayDescription(name, version, ArrayType.INT64, Box.whole(shape));
    }

    static Box box(long... startThenCount) {
        int n = startThenCount.length / 2;
        return Box.of(
                java.util.Arrays.copyOf(startThenCount, n),
                java.util.Arrays.copyOfRange(startThenCount, n, 2 * n));
    }

    static void fill(NntiBuffer memory, long first) {
        for (int i = 0; i < memory.length() / 8; i++) {
            memory.window().putLong(8 * i, first + i, ByteOrder.LITTLE_ENDIAN);
        }
    }

    static long element(NntiBuffer memory, int i) {
        return memory.window().getLong(8 * i, ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldGiveAnyBoxOfWhatWasPut() throws Exception {
        try (ArrayServers servers = servers(1, ArrayServerOptions.DEFAULT)) {
            ArrayClient writer = servers.client();
            ArrayClient reader = servers.client();
            ArrayDescription array = grid("t", 7, 4, 4);
            NntiBuffer half = writer.allocate(8 * 8);
            fill(half, 0);
            writer.put(array, box(0, 0, 2, 4), half);
            fill(half, 8);
            writer.put(array, box(2, 0, 2, 4), half);
            NntiBuffer middle = reader.allocate(4 * 8);
            assertThat(reader.get("t", 7, box(1, 1, 2, 2), middle, 0)).isEqualTo(7);
            for (int i = 0; i < 4; i++) {
                assertThat(element(middle, i)).isEqualTo(5 + i / 2 * 4 + i % 2);
            }
            assertThatThrownBy(
                            () -> reader.get("t", ArrayClient.LATEST, box(0, 0, 2, 2), middle, 0))
                    .isInstanceOf(ArrayException.class)
                    .hasMessage("array 't', latest version: there is none");
            writer.seal("t", 7);
            assertThat(reader.get("t", ArrayClient.LATEST, box(0, 0, 2, 2), middle, 0))
                    .isEqualTo(7);
            assertThat(reader.versions("t", -1, 0)).containsExactly(7);
            assertThat(servers.errors).isEmpty();
        }
    }

    @Test
    void shouldNameWhatIsWrongWithARequest() throws Exception {
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withMemory(1 << 16);
        try (ArrayServers servers = servers(1, options)) {
            ArrayClient client = servers.client();
            ArrayDescription array = grid("t", 1, 4, 4);
            NntiBuffer four = client.allocate(4 * 8);
            client.put(array, box(0, 0, 2, 2), four);
            refused(
                    ArrayStatus.OVERLAP,
                    "array 't', version 1: piece [1:3, 1:3] overlaps piece [0:2, 0:2]",
                    () -> client.put(array, box(1, 1, 2, 2), four));
            refused(
                    ArrayStatus.MISMATCH,
                    "array 't', version 1: it is [0:4, 0:4] of INT64, not [0:4, 0:5] of INT64",
                    () -> client.put(grid("t", 1, 4, 5), box(2, 2, 2, 2), four));
            refused(
                    ArrayStatus.OUTSIDE,
                    "array 't', version 1: box [3:5, 0:2] is not within [0:4, 0:4]",
                    () -> client.put(array, box(3, 0, 2, 2), four));
            refused(
                    ArrayStatus.BAD_REQUEST,
                    "memory of 32 bytes for box [2:3, 2:3] of INT64 of array 't'",
                    () -> client.put(array, box(2, 2, 1, 1), four));
            refused(
                    ArrayStatus.BAD_REQUEST,
                    "name '' of 0 bytes",
                    () -> client.put(grid("", 1, 4), box(0, 4), four));
            refused(
                    ArrayStatus.UNKNOWN,
                    "array 'u', version 1: there is none",
                    () -> client.get("u", 1, box(0, 1), four, 0));
            refused(
                    ArrayStatus.UNKNOWN,
                    "array 't', version 9: there is none",
                    () -> client.seal("t", 9));
            refused(
                    ArrayStatus.NOT_COVERED,
                    "array 't', version 1: no pieces cover box [1:3, 1:3]",
                    () -> client.get("t", 1, box(1, 1, 2, 2), four, 0));
            refused(
                    ArrayStatus.DEADLINE,
                    "array 't', version 1: no pieces cover box [1:3, 1:3], after 30 ms",
                    () -> client.get("t", 1, box(1, 1, 2, 2), four, 30));
            NntiBuffer large = client.allocate((1 << 16) + 8);
            refused(
                    ArrayStatus.TOO_LARGE,
                    "array 'v', version 1: piece [0:8193] has more than 65536 bytes",
                    () -> client.put(grid("v", 1, 8193), box(0, 8193), large));
            client.seal("t", 1);
            client.seal("t", 1);
            refused(
                    ArrayStatus.SEALED,
                    "array 't', version 1: it is sealed and takes no piece [2:4, 2:4]",
                    () -> client.put(array, box(2, 2, 2, 2), four));
            refused(
                    ArrayStatus.NOT_COVERED,
                    "array 't', version 1: no pieces cover box [1:3, 1:3]",
                    () -> client.get("t", 1, box(1, 1, 2, 2), four, 60_000));
            assertThat(servers.errors).isEmpty();
        }
    }

    static void refused(ArrayStatus status, String message, Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        ArrayException.class, e -> assertThat(e.status()).isEqualTo(status))
                .hasMessage(message);
    }

    /** The clients would otherwise scatter an array in two ways. */
    @Test
    void shouldRefuseServersInAnotherOrder() throws Exception {
        try (ArrayServers servers = servers(2, ArrayServerOptions.DEFAULT)) {
            java.util.Collections.reverse(servers.servers);
            ArrayClient client = servers.client();
            NntiBuffer four = client.allocate(4 * 8);
            refused(
                    ArrayStatus.WRONG_SERVER,
                    "this is server 1 of 2, not 0 of 2",
                    () -> client.put(grid("t", 1, 4), box(0, 4), four));
        }
    }

    @Test
    void shouldWaitForPiecesThatAreStillToCome() throws Exception {
        try (ArrayServers servers = servers(2, ArrayServerOptions.DEFAULT)) {
            ArrayClient writer = servers.client();
            NntiBuffer two = writer.allocate(2 * 8);
            // A client belongs to one thread.
            CompletableFuture<List<Long>> got =
                    CompletableFuture.supplyAsync(
                            () -> {
                                try (ArrayClient reader = servers.connect()) {
                                    NntiBuffer four = reader.allocate(4 * 8);
                                    long version =
                                            reader.get(
                                                    "t", 3, box(0, 4), four, ArrayServers.LIMIT_MS);
                                    return List.of(version, element(four, 0), element(four, 3));
                                }
                            });
            fill(two, 0);
            writer.put(grid("t", 3, 4), box(0, 2), two);
            assertThat(got).isNotDone();
            fill(two, 2);
            writer.put(grid("t", 3, 4), box(2, 2), two);
            assertThat(got.join()).containsExactly(3L, 0L, 3L);
        }
    }

    @Test
    void shouldMovePiecesToDiskWhenMemoryIsShort() throws Exception {
        int piece = 1 << 14;
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withMemory(3 * piece);
        try (ArrayServers servers = servers(1, options)) {
            ArrayClient client = servers.client();
            ArrayDescription array = grid("t", 1, 20, piece / 8);
            PlainArray plain = new PlainArray(array, 5);
            NntiBuffer memory = client.allocate(piece);
            for (int i = 0; i < 20; i++) {
                plain.fill(box(i, 0, 1, piece / 8), memory);
                client.put(array, box(i, 0, 1, piece / 8), memory);
            }
            Box all = array.whole();
            NntiBuffer whole = client.allocate(20 * piece);
            client.get("t", 1, all, whole, 0);
            assertThat(plain.mismatch(all, whole)).isEqualTo(-1);
            Box columns = box(0, 7, 20, 3);
            NntiBuffer some = client.allocate(20 * 3 * 8);
            client.get("t", 1, columns, some, 0);
            assertThat(plain.mismatch(columns, some)).isEqualTo(-1);
            client.seal("t", 1);
            client.get("t", 1, columns, some, 0);
            assertThat(plain.mismatch(columns, some)).isEqualTo(-1);
            assertThat(servers.errors).isEmpty();
        }
    }

    /** The first version's file cannot be made: a folder has its name. */
    @Test
    void shouldNameAFileThatCannotBeWritten() throws Exception {
        Files.createDirectories(directory.resolve("server0").resolve("0.pieces"));
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withMemory(4 * 8);
        try (ArrayServers servers = servers(1, options)) {
            ArrayClient client = servers.client();
            NntiBuffer four = client.allocate(4 * 8);
            client.put(grid("t", 1, 8), box(0, 4), four);
            failed(() -> client.put(grid("t", 1, 8), box(4, 4), four));
            failed(() -> client.seal("t", 1));
            assertThat(client.get("t", 1, box(0, 4), four, 0)).isEqualTo(1);
            // It makes room for others.
            for (int version = 1; version < 4; version++) {
                fill(four, version);
                client.put(grid("u", version, 4), box(0, 4), four);
                client.seal("u", version);
            }
            failed(() -> client.get("t", 1, box(0, 4), four, 60_000));
            failed(() -> client.put(grid("t", 1, 8), box(0, 4), four));
            failed(() -> client.seal("t", 1));
            client.get("u", 2, box(0, 4), four, 0);
            assertThat(element(four, 3)).isEqualTo(2 + 3);
        }
    }

    private static void failed(Runnable call) {
        assertThatThrownBy(call::run)
                .isInstanceOfSatisfying(
                        ArrayException.class,
                        e -> assertThat(e.status()).isEqualTo(ArrayStatus.FAILED))
                .hasMessageStartingWith("array 't', version 1: ")
                .hasMessageContaining("0.pieces");
    }

    /** An answer of several slots, out of short runs in memory and on disk. */
    @Test
    void shouldPutALongAnswerTogether() throws Exception {
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withMemory(1_000_000);
        try (ArrayServers servers = servers(1, options)) {
            ArrayClient client = servers.client();
            ArrayDescription array =
                    new ArrayDescription("t", 1, ArrayType.INT8, Box.whole(1200, 1000));
            PlainArray plain = new PlainArray(array, 3);
            NntiBuffer half = client.allocate(600_000);
            for (int i = 0; i < 2; i++) {
                plain.fill(box(0, 500 * i, 1200, 500), half);
                client.put(array, box(0, 500 * i, 1200, 500), half);
            }
            NntiBuffer whole = client.allocate(1_200_000);
            client.get("t", 1, array.whole(), whole, 0);
            assertThat(plain.mismatch(array.whole(), whole)).isEqualTo(-1);
            assertThat(servers.errors).isEmpty();
        }
    }

    @Test
    void shouldRefuseADirectoryThatAnotherServerHas() throws Exception {
        String job = "array-second" + ProcessHandle.current().pid();
        try (ArrayServers servers = servers(1, ArrayServerOptions.DEFAULT);
                RealEnvironment environment =
                        RealEnvironment.builder().job(job).errorHandler(e -> {}).build()) {
            String taken = directory.resolve("server0").toString();
            refused(
                    ArrayStatus.FAILED,
                    "another server has the directory " + taken,
                    () ->
                            ArrayServer.start(
                                    environment,
                                    servers.transport(),
                                    taken,
                                    ArrayServerOptions.DEFAULT));
            assertThat(servers.client().versions("t", -1, 0)).isEmpty();
            assertThat(servers.errors).isEmpty();
        }
    }

    @Test
    void shouldKeepSealedVersionsOverARestart() throws Exception {
        ArrayDescription array = grid("t", 1, 3, 5);
        PlainArray plain = new PlainArray(array, 1);
        ArrayServerOptions options = ArrayServerOptions.DEFAULT.withVersionsKept(1);
        try (ArrayServers servers = servers(2, options)) {
            ArrayClient client = servers.client();
            NntiBuffer memory = client.allocate(15 * 8);
            for (int version = 0; version < 3; version++) {
                plain.fill(array.whole(), memory);
                client.put(grid("t", version, 3, 5), array.whole(), memory);
                if (version < 2) {
                    client.seal("t", version);
                }
            }
        }
        try (ArrayServers servers = servers(2, options)) {
            ArrayClient client = servers.client();
            NntiBuffer memory = client.allocate(15 * 8);
            assertThat(client.versions("t", -1, 0)).containsExactly(1);
            assertThat(client.get("t", ArrayClient.LATEST, array.whole(), memory, 0)).isEqualTo(1);
            assertThat(plain.mismatch(array.whole(), memory)).isEqualTo(-1);
            refused(
                    ArrayStatus.UNKNOWN,
                    "array 't', version 2: there is none",
                    () -> client.get("t", 2, array.whole(), memory, 0));
            assertThat(servers.errors).isEmpty();
        }
        try (Stream<Path> files = Files.list(directory.resolve("server0"))) {
            assertThat(files.map(file -> file.getFileName().toString()))
                    .containsExactlyInAnyOrder("1.pieces", "1.sealed", "lock");
        }
    }
}
