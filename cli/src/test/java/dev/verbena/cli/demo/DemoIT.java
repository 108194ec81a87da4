package dev.verbena.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.verbena.HeadlessBrowser;
import dev.verbena.Turns;
import dev.verbena.agent.CountersFile;
import dev.verbena.cli.CommandProcess;
import dev.verbena.cli.Run;
import dev.verbena.transport.TransportProvider;
import dev.verbena.transport.Transports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The demo, whole: seven processes each time. */
@Timeout(300)
class DemoIT {
    @TempDir private Path folder;
    private Path deck;

    @BeforeEach
    void writeDeck() throws IOException {
        deck = folder.resolve("small.conf");
        Files.write(deck, List.of("restart.size = 160 kB", "cells = 64", "steps = 24"));
    }

    static Stream<String> schemes() {
        return Transports.providers().stream()
                .filter(TransportProvider::isAvailable)
                .map(TransportProvider::scheme);
    }

    private CommandProcess demo(String output, String... more) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("demo", "--deck=" + deck));
        arguments.add("--output=" + folder.resolve(output));
        arguments.add("--timeout=40");
        arguments.addAll(List.of(more));
        return CommandProcess.start(folder, arguments.toArray(String[]::new));
    }

    private void runDemo(String output, String... more) throws Exception {
        try (CommandProcess demo = demo(output, more)) {
            assertThat(demo.exitCode()).as("%s", demo.out()).isZero();
            assertThat(demo.out()).contains("All checks passed");
            assertAllEnded(demo);
        }
    }

    /** Process ids that it printed, by name. */
    private static long pid(String out, String name) {
        Matcher line =
                Pattern.compile("Processes: receiver (\\d+), servers ([\\d ]+), compute ([\\d ]+)")
                        .matcher(out);
        assertThat(line.find()).as("%s", out).isTrue();
        return switch (name) {
            case "receiver" -> Long.parseLong(line.group(1));
            case "slave" -> Long.parseLong(line.group(2).split(" ")[1]);
            default -> Long.parseLong(line.group(3).split(" ")[2]);
        };
    }

    private static void assertAllEnded(CommandProcess demo) throws IOException {
        Matcher numbers =
                Pattern.compile("\\d+")
                        .matcher(
                                demo.out()
                                        .lines()
                                        .filter(line -> line.startsWith("Processes:"))
                                        .findFirst()
                                        .get());
        int count = 0;
        while (numbers.find()) {
            long pid = Long.parseLong(numbers.group());
            assertThat(ProcessHandle.of(pid).filter(ProcessHandle::isAlive)).isEmpty();
            count++;
        }
        assertThat(count).isEqualTo(7);
        Matcher again = Pattern.compile("receiver back as process (\\d+)").matcher(demo.out());
        if (again.find()) {
            assertThat(ProcessHandle.of(Long.parseLong(again.group(1)))).isEmpty();
        }
        Path shm = CountersFile.userDirectory(CountersFile.defaultShmDirectory());
        String job = "demo-" + demo.handle().pid() + "-";
        try (Stream<Path> jobs = Files.list(shm)) {
            assertThat(jobs.filter(path -> path.getFileName().toString().startsWith(job)))
                    .isEmpty();
        }
    }

    private byte[] restart(String output, int step, int rank) throws IOException {
        String name = String.format("restart-%06d-%04d.vpic", step, rank);
        return Files.readAllBytes(folder.resolve(output).resolve("restart").resolve(name));
    }

    @Tag("each-jdk")
    @ParameterizedTest
    @MethodSource("schemes")
    void shouldStageCheckAndReport(String scheme) throws Exception {
        Turns.assume(scheme, schemes().toArray(String[]::new));
        runDemo("out", "--transport=" + scheme, "--steps=100");
        Path out = folder.resolve("out");
        try (Stream<Path> files = Files.list(out.resolve("restart"))) {
            assertThat(files.map(path -> path.getFileName().toString()))
                    .contains(".verbena-messages.jsonl")
                    .filteredOn(name -> !name.startsWith("."))
                    .hasSize(100)
                    .allMatch(name -> name.matches("restart-\\d{6}-\\d{4}\\.vpic"));
        }
        assertThat(out.resolve("log"))
                .isDirectoryContaining("glob:**master.log")
                .isDirectoryContaining("glob:**slave-1.log")
                .isDirectoryContaining("glob:**receiver.log")
                .isDirectoryContaining("glob:**compute-3.log");
        String summary = Files.readString(out.resolve("summary.json"));
        assertThat(summary)
                .contains(
                        "\"passed\": true", "\"files\": 100", "\"transport\": \"" + scheme + "\"");
        // On a busy machine a run this short may be over before its receiver is killed.
        assertThat(summary.lines().filter(line -> line.contains("NOT_JUDGED")))
                .allMatch(line -> line.contains("went on without a receiver"));
        assertThat(out.resolve("log/receiver-again.log")).exists();
        assertThat(summary).contains("\"receiverKilled\": true");
        assertThat(summary)
                .contains("\"sent\": 100", "\"equal\": 100")
                .contains("\"output\": \"none\", \"outputs\": 6")
                .contains("\"output\": \"cached\", \"outputs\": 6")
                .contains("\"output\": \"files\", \"outputs\": 6")
                .contains("\"output\": \"writer\", \"outputs\": 6")
                .contains("\"output\": \"items\", \"outputs\": 6")
                .contains("\"output\": \"whole\", \"outputs\": 6");
        assertThat(Files.readString(out.resolve("report.html")))
                .contains("<img class=\"phase\"", "<svg class=\"chart\"", "100 of 100 files")
                .contains("a background thread that writes files stalled the simulation for")
                .contains("<table class=\"bars\"", "The longest time without a completed step");
        assertThat(out.resolve("compare")).doesNotExist();
        assertThat(out.resolve("spill")).doesNotExist();
        assertHashes(out, 100);
        Path browser = HeadlessBrowser.find();
        assumeThat(browser).as("no chromium here: cannot open the report").isNotNull();
        assertThat(HeadlessBrowser.colours(browser, out.resolve("report.html"), folder))
                .isGreaterThan(1000);
    }

    @Test
    void shouldLoseNoItemWhenTheReceiverIsKilled() throws Exception {
        runDemo("items", "--transport=shm", "--unbuffered", "--no-compare", "--steps=40");
        Path out = folder.resolve("items");
        assertHashes(out, 40);
        assertThat(Files.readString(out.resolve("summary.json")))
                .contains("\"equal\": 40", "\"receiverKilled\": true");
    }

    /** More files than the service processes' buffers hold wait for the receiver that is away. */
    @Test
    void shouldNotStandStillWhileThereIsNoReceiver() throws Exception {
        Files.write(deck, List.of("restart.size = 2 MB", "restart.every = 1", "steps = 80"));
        runDemo("away", "--transport=shm", "--no-compare");
        String summary = Files.readString(folder.resolve("away/summary.json"));
        assertThat(summary).contains("\"equal\": 320", "\"receiverKilled\": true");
        assertThat(summary.lines().filter(line -> line.contains("went on without a receiver")))
                .singleElement()
                .asString()
                .contains("\"PASSED\"");
    }

    @Test
    void shouldLeaveTheReceiverAliveWhenToldSo() throws Exception {
        runDemo("alive", "--transport=shm", "--no-kill", "--no-compare", "--steps=8");
        Path out = folder.resolve("alive");
        assertThat(out.resolve("log/receiver-again.log")).doesNotExist();
        assertThat(Files.readString(out.resolve("summary.json")))
                .contains("\"equal\": 8", "\"receiverKilled\": false");
    }

    /** As a user can: with sha256sum's list, and not with the program under test. */
    private static void assertHashes(Path out, int count) throws Exception {
        List<String> lines = Files.readAllLines(out.resolve("sent.sha256"));
        assertThat(lines).hasSize(count);
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (String line : lines) {
            byte[] bytes = Files.readAllBytes(out.resolve(line.substring(66)));
            String hash = HexFormat.of().formatHex(digest.digest(bytes));
            assertThat(line).startsWith(hash + "  restart/restart-");
        }
    }

    @Test
    void shouldNameAPortThatIsInUse() throws Exception {
        try (ServerSocket other = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"));
                CommandProcess demo =
                        demo("port", "--transport=shm", "--port=" + other.getLocalPort())) {
            assertThat(demo.exitCode()).isEqualTo(1);
            assertThat(demo.out())
                    .contains("port " + other.getLocalPort() + " of 127.0.0.1 cannot be used")
                    .contains("--port")
                    .doesNotContain("\tat dev.verbena");
        }
    }

    @Test
    void shouldContinueARunWithTheSameBits() throws Exception {
        runDemo("whole", "--transport=shm", "--steps=16", "--no-compare");
        runDemo("half", "--transport=shm", "--steps=8", "--no-compare");
        Path half = folder.resolve("half").resolve("restart");
        runDemo("rest", "--transport=shm", "--no-compare", "--steps=16", "--restart=" + half);
        runDemo(
                "items",
                "--transport=shm",
                "--unbuffered",
                "--no-compare",
                "--steps=16",
                "--restart=" + half.resolve("restart-000004-0002.vpic"));
        for (int rank = 0; rank < 4; rank++) {
            assertThat(restart("rest", 16, rank)).isEqualTo(restart("whole", 16, rank));
            assertThat(restart("items", 16, rank)).isEqualTo(restart("whole", 16, rank));
            assertThat(restart("items", 8, rank)).isEqualTo(restart("half", 8, rank));
        }
        assertThat(folder.resolve("rest/restart/restart-000008-0000.vpic")).doesNotExist();
    }

    @ParameterizedTest
    @ValueSource(strings = {"receiver", "slave", "compute"})
    void shouldNameTheProcessThatWasKilled(String name) throws Exception {
        Turns.assume(name, "receiver", "slave", "compute");
        try (CommandProcess demo =
                demo("killed", "--transport=shm", "--steps=20000", "--no-compare")) {
            demo.awaitOut("Processes:");
            Path log = folder.resolve("killed/log/receiver.log");
            demo.await(() -> contains(log, "file restart-"), "stage a file");
            long pid = pid(demo.out(), name);
            ProcessHandle.of(pid).orElseThrow().destroyForcibly();
            assertThat(demo.exitCode()).isEqualTo(1);
            assertThat(demo.out())
                    .contains("(process " + pid + ") was killed by signal 9")
                    .doesNotContain("\tat dev.verbena.cli");
            assertAllEnded(demo);
        }
    }

    private static boolean contains(Path file, String text) {
        try {
            return Files.exists(file) && Files.readString(file).contains(text);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @Test
    void shouldEndAllProcessesWhenInterrupted() throws Exception {
        try (CommandProcess demo = demo("stopped", "--transport=shm", "--steps=20000")) {
            demo.awaitOut("Processes:");
            demo.terminate();
            demo.exitCode();
            assertAllEnded(demo);
        }
    }

    @Test
    void shouldRefuseAnOutputFolderInUseAndARestartThatDoesNotFit() throws Exception {
        Files.createDirectories(folder.resolve("used/x"));
        Run used =
                Run.of(
                        "demo",
                        "--deck=" + deck,
                        "--transport=shm",
                        "--output=" + folder.resolve("used"));
        assertThat(used.code()).isEqualTo(1);
        assertThat(used.err()).contains("is not empty");
        Run none = Run.of("demo", "--deck=" + deck, "--transport=shm", "--restart=" + folder);
        assertThat(none.code()).isEqualTo(1);
        assertThat(none.err()).contains("no step has the restart files of all 4 processes");
    }
}
