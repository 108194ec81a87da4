package dev.verbena.cli.stage;

import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.verbena.agent.CountersFile;
import dev.verbena.cli.CommandProcess;
import dev.verbena.memory.OffHeapMemories;
import dev.verbena.memory.OffHeapMemory;
import dev.verbena.savime.ElementType;
import dev.verbena.savime.StagingServer;
import dev.verbena.staging.metadata.PieceMetadata;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A staging server as a user starts it, and what others see of it. */
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StageServerIT {
    private static final Path PACKAGES = Path.of("/usr/lib/python3/dist-packages");

    @TempDir Path folder;
    private Path memory;

    @BeforeEach
    void makeMemory() throws IOException {
        memory = Files.createTempDirectory(CountersFile.defaultShmDirectory(), "verbena-stage-");
    }

    @AfterEach
    void removeMemory() throws IOException {
        try (var files = Files.list(memory)) {
            for (Path file : files.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(memory);
    }

    private CommandProcess server(Map<String, String> variables, String... more) throws Exception {
        String[] all = new String[6 + more.length];
        String[] first = {
            "stage", "server", "--listen", "127.0.0.1:0", "--memory", memory + ":64m"
        };
        System.arraycopy(first, 0, all, 0, first.length);
        System.arraycopy(more, 0, all, first.length, more.length);
        CommandProcess server = CommandProcess.start(folder, variables, all);
        server.awaitOut("staging server ready");
        return server;
    }

    private static String found(CommandProcess server, String pattern) throws IOException {
        Matcher matcher = Pattern.compile(pattern).matcher(server.out());
        assertThat(matcher.find()).as(server.out()).isTrue();
        return matcher.group(1);
    }

    /** Two halves of a 4 x 6 array whose elements are numbered. */
    private static void writeHalves(CommandProcess server, boolean isDrained) throws Exception {
        String address = found(server, "ready: (127\\.0\\.0\\.1:[0-9]+)");
        try (StagingServer client = StagingServer.connect(address);
                OffHeapMemory halves = OffHeapMemories.allocate(192)) {
            for (int i = 0; i < 24; i++) {
                halves.buffer(0, 192).putDouble(8 * i, i, ByteOrder.LITTLE_ENDIAN);
            }
            for (int rank = 0; rank < 2; rank++) {
                client.dataset("half" + rank, ElementType.DOUBLE)
                        .piece(
                                new PieceMetadata(
                                        "Temperature",
                                        7,
                                        rank,
                                        new long[] {4, 6},
                                        new long[] {2L * rank, 0},
                                        new long[] {2, 6}))
                        .write(halves, 96 * rank, 96);
            }
            client.sync();
            if (isDrained) {
                client.drain(Duration.ofSeconds(60));
            }
        }
    }

    private static int code(String url) throws IOException {
        HttpURLConnection connection = (HttpURLConnection) URI.create(url).toURL().openConnection();
        try {
            return connection.getResponseCode();
        } finally {
            connection.disconnect();
        }
    }

    @Test
    void shouldShowWhatIsStagedToZarrOfOthers() throws Exception {
        // Nobody is behind that port: datasets stay.
        try (CommandProcess server =
                server(Map.of(), "--sink", "savime://127.0.0.1:1", "--http", "127.0.0.1:0")) {
            String store = found(server, "Zarr store: (http://127[^ ,]*/)");
            writeHalves(server, false);
            assertThat(code(store + ".zmetadata")).isEqualTo(200);
            assertThat(code(store + "Temperature/7/9.9")).isEqualTo(404);
            assertThat(code(store.replaceFirst("/[0-9a-f]{32}/", "/0/") + ".zgroup"))
                    .isEqualTo(403);
            boolean isThere =
                    Files.isDirectory(PACKAGES.resolve("zarr"))
                            && Files.isDirectory(PACKAGES.resolve("aiohttp"))
                            && Files.isDirectory(PACKAGES.resolve("fsspec"));
            Assumptions.assumeTrue(isThere, "python3-zarr, -aiohttp, -fsspec are not installed");
            String script =
                    """
                    import sys, zarr
                    g = zarr.open_consolidated(sys.argv[1], mode='r')
                    a = g['Temperature/7']
                    print(a.shape, a.chunks, (a[...].ravel() == range(24)).all())
                    p = zarr.open(sys.argv[1], mode='r')['pieces/half1']
                    print(p.attrs['start'], p[0, 0])
                    """;
            Process process =
                    new ProcessBuilder("/usr/bin/python3", "-c", script, store)
                            .redirectErrorStream(true)
                            .start();
            assertThat(new String(process.getInputStream().readAllBytes()))
                    .isEqualTo("(4, 6) (2, 6) True\n[2, 0] 12.0\n");
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void shouldTellOfStepsThatTheSinkHasWhole() throws Exception {
        BlockingQueue<String> posted = new LinkedBlockingQueue<>();
        HttpServer hook =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        hook.createContext(
                "/hook",
                exchange -> {
                    posted.add(new String(exchange.getRequestBody().readAllBytes()));
                    exchange.sendResponseHeaders(204, -1);
                    exchange.close();
                });
        hook.start();
        String url = "http://127.0.0.1:" + hook.getAddress().getPort() + "/hook";
        String sink = "zarr:" + folder.resolve("store");
        try (CommandProcess server =
                server(Map.of(), "--sink", sink, "--http", "127.0.0.1:0", "--webhook", url)) {
            URI events = URI.create(found(server, "events: (http[^ \\n]*)"));
            HttpURLConnection listening = (HttpURLConnection) events.toURL().openConnection();
            try (BufferedReader in =
                    new BufferedReader(new InputStreamReader(listening.getInputStream()))) {
                assertThat(in.readLine()).isEqualTo(": listening");
                writeHalves(server, true);
                String event =
                        "{\"event\": \"step sealed\", \"variable\": \"Temperature\", \"step\": 7,"
                                + " \"elements\": 24}";
                String line = in.readLine();
                while (!line.startsWith("data")) {
                    line = in.readLine();
                }
                assertThat(line).isEqualTo("data: " + event);
                assertThat(posted.poll(60, TimeUnit.SECONDS)).isEqualTo(event);
                assertThat(folder.resolve("store/Temperature/7/.zarray")).isRegularFile();
            }
        } finally {
            hook.stop(0);
        }
    }

    private Map<String, String> withDuckDb() {
        Path home = Path.of(System.getProperty("verbena.home"));
        boolean isBuilt = Files.isDirectory(home.resolve("sink-duckdb/target/lib"));
        Assumptions.assumeTrue(isBuilt, "sink-duckdb is not built");
        return Map.of(
                "JAVA_TOOL_OPTIONS",
                "-Dverbena.home=" + home + " -Dverbena.cache=" + folder.resolve("cache"));
    }

    @Test
    void shouldAnswerQueriesOfOthers() throws Exception {
        try (CommandProcess server =
                server(withDuckDb(), "--sink", "duckdb:" + folder.resolve("base"))) {
            writeHalves(server, true);
            String address = found(server, "ready: (127\\.0\\.0\\.1:[0-9]+)");
            String query = "SELECT i0, sum(value) s FROM Temperature GROUP BY i0 ORDER BY i0";
            try (CommandProcess sql =
                    CommandProcess.run(
                            folder, "stage", "sql", "--server", address, "--rows", "2", query)) {
                assertThat(sql.out()).isEqualTo("i0\ts\n0\t15.0\n1\t51.0\n...\n");
            }
            try (CommandProcess sql =
                    CommandProcess.run(
                            folder,
                            "stage",
                            "sql",
                            "--server",
                            address,
                            "DROP TABLE Temperature")) {
                assertThat(sql.exitCode()).isEqualTo(1);
                assertThat(sql.out()).contains("Parser Error");
            }
        }
    }

    @Test
    void shouldHaveEachPieceOnceAfterAKill() throws Exception {
        Map<String, String> built = withDuckDb();
        String sink = "duckdb:" + folder.resolve("base") + "?parquet=" + folder.resolve("steps");
        int pieces = 60;
        try (CommandProcess server = server(built, "--sink", sink);
                OffHeapMemory memory = OffHeapMemories.allocate(80_000)) {
            String address = found(server, "ready: (127\\.0\\.0\\.1:[0-9]+)");
            StagingServer client = StagingServer.connect(address);
            for (int i = 0; i < pieces; i++) {
                long[] all = {10_000};
                client.dataset("piece" + i, ElementType.DOUBLE)
                        .piece(new PieceMetadata("v", i, 0, all, new long[1], all))
                        .write(memory);
            }
            client.sync();
            server.handle().destroyForcibly();
            client.closeNow();
        }
        String counts = "";
        String wanted = "\n" + pieces + "\t600000\n";
        String query = "SELECT count(DISTINCT step), count(*) FROM v";
        try (CommandProcess server = server(built, "--sink", sink)) {
            String address = found(server, "ready: (127\\.0\\.0\\.1:[0-9]+)");
            for (int i = 0; i < 30 && !counts.endsWith(wanted); i++) {
                try (CommandProcess sql =
                        CommandProcess.run(folder, "stage", "sql", "--server", address, query)) {
                    counts = sql.out();
                }
            }
        }
        assertThat(counts).endsWith(wanted);
        try (var steps = Files.list(folder.resolve("steps"))) {
            assertThat(steps.filter(each -> each.toString().endsWith(".parquet"))).hasSize(pieces);
        }
    }

    @Test
    void shouldSayThatTheSinkIsAwayAndThatAPortIsTaken() throws Exception {
        try (CommandProcess server = server(Map.of(), "--sink", "savime://127.0.0.1:1")) {
            writeHalves(server, false);
            server.awaitOut("sink savime://127.0.0.1:1 is away (Connection refused)");
            String address = found(server, "ready: (127\\.0\\.0\\.1:[0-9]+)");
            String disk = folder.resolve("disk").toString();
            String sink = "file:" + folder.resolve("arrived");
            String[] line = {
                "stage", "server", "--listen", address, "--disk", disk, "--sink", sink
            };
            assertFailed("cannot listen on " + address, line);
            line[3] = "127.0.0.1:0";
            String[] http = Arrays.copyOf(line, line.length + 2);
            http[line.length] = "--http";
            http[line.length + 1] = address;
            assertFailed("--http " + address + ": Address already in use", http);
            http[line.length + 1] = "none.invalid:0";
            assertFailed("--http none.invalid:0: none.invalid", http);
            line[5] = Files.createFile(folder.resolve("file")).toString();
            assertFailed("it is a file, not a folder", line);
        }
    }

    private void assertFailed(String text, String... line) throws Exception {
        try (CommandProcess command = CommandProcess.run(folder, line)) {
            assertThat(command.exitCode()).isEqualTo(1);
            assertThat(command.out()).containsOnlyOnce(text);
        }
    }

    @Test
    void shouldMakeNoSinkForAWrongCommandLine() throws Exception {
        Path arrived = folder.resolve("arrived");
        String disk = folder.resolve("disk").toString();
        String[][] lines = {
            {"--disk", disk},
            {"--listen", "127.0.0.1:0"},
            {"--listen", "127.0.0.1:0", "--disk", disk, "--token", "none"},
            {"--config", folder.resolve("c").toString(), "--disk", disk, "--transport", "none"}
        };
        for (String[] wrong : lines) {
            List<String> line = new ArrayList<>(List.of("stage", "server", "--sink"));
            line.add("file:" + arrived);
            line.addAll(List.of(wrong));
            try (CommandProcess server = CommandProcess.run(folder, line.toArray(new String[0]))) {
                assertThat(server.exitCode()).as(server.out()).isEqualTo(2);
            }
            assertThat(arrived).as("%s", line).doesNotExist();
        }
    }

    /** The kernel names an address of any host as one of IPv6, which no client takes. */
    @Test
    void shouldPrintAnAddressThatCanBeUsed() throws Exception {
        String sink = "file:" + folder.resolve("arrived");
        try (CommandProcess server = server(Map.of(), "--sink", sink, "--http", "0.0.0.0:0")) {
            String store = found(server, "store: (http://0\\.0\\.0\\.0:[0-9]+/[0-9a-f]+/),");
            String here = store.replace("0.0.0.0", "127.0.0.1");
            assertThat(code(here + ".zmetadata")).isEqualTo(200);
        }
    }

    @Test
    void shouldWarnOfMemoryThatIsOnADisk() throws Exception {
        boolean isDisk = !Files.getFileStore(folder).type().equals("tmpfs");
        Assumptions.assumeTrue(isDisk, "the temporary folder is in memory");
        String sink = "file:" + folder.resolve("arrived");
        String onDisk = folder.resolve("m") + ":1m";
        String[] line = {
            "stage", "server", "--listen", "127.0.0.1:0", "--memory", onDisk, "--sink", sink
        };
        try (CommandProcess server = CommandProcess.start(folder, line)) {
            server.awaitOut("staging server ready");
            assertThat(server.out()).contains("which is not in memory").contains("--disk");
        }
        try (CommandProcess server = server(Map.of(), "--sink", sink)) {
            assertThat(server.out()).doesNotContain("not in memory");
        }
    }

    @Test
    void shouldSayWhyAServerCannotBeAsked() throws Exception {
        assertFailed("Connection refused", sql("127.0.0.1:1"));
        try (CommandProcess none = CommandProcess.run(folder, sql(folder.toString()))) {
            assertThat(none.exitCode()).isEqualTo(2);
        }
    }

    private static String[] sql(String server) {
        return new String[] {"stage", "sql", "--server", server, "--seconds", "3", "SELECT 1"};
    }

    @Test
    void shouldFindWhatTheSinkHasOtherwiseThanItWasSent() throws Exception {
        Path arrived = folder.resolve("arrived");
        try (CommandProcess server = server(Map.of(), "--sink", "file:" + arrived)) {
            String address = found(server, "ready: (127\\.0\\.0\\.1:[0-9]+)");
            StagingServer.Config config = new StagingServer.Config().address(address);
            try (StagingServer client = StagingServer.connect(config.checksum(true));
                    StagingServer plain = StagingServer.connect(address);
                    OffHeapMemory memory = OffHeapMemories.allocate(3 << 20)) {
                for (String name : List.of("a", "b", "c")) {
                    client.dataset(name, ElementType.CHAR).write(memory);
                }
                plain.dataset("plain", ElementType.CHAR).write(memory);
                client.drain(Duration.ofSeconds(60));
                plain.drain(Duration.ofSeconds(60));
            }
        }
        assertVerified(arrived, 0, "3 as they were sent, 1 of the right length");
        try (FileChannel file = FileChannel.open(arrived.resolve("b.raw"), WRITE)) {
            file.write(ByteBuffer.wrap(new byte[] {1}), 2 << 20);
        }
        Files.delete(arrived.resolve("c.raw"));
        assertVerified(arrived, 1, "b.raw has other bytes than were sent");
        assertVerified(folder.resolve("none"), 2, "none is no folder");
    }

    private void assertVerified(Path arrived, int code, String text) throws Exception {
        try (CommandProcess verify =
                CommandProcess.run(folder, "stage", "verify", arrived.toString())) {
            assertThat(verify.out()).contains(text);
            assertThat(verify.exitCode()).isEqualTo(code);
        }
    }

    @Test
    void shouldNameTheArtifactThatIsMissing() throws Exception {
        try (CommandProcess server =
                CommandProcess.run(
                        folder,
                        "stage",
                        "server",
                        "--disk",
                        "d",
                        "--listen",
                        "127.0.0.1:0",
                        "--sink",
                        "duckdb:x")) {
            assertThat(server.exitCode()).isEqualTo(2);
            assertThat(server.out().replaceAll("\\s+", " "))
                    .contains("needs the artifact dev.verbena:verbena-sink-duckdb");
        }
    }
}
