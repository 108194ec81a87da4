package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Two users of one machine at the same time: each has its own, and neither gets at the other's. */
@Timeout(240)
class TwoUsersIT {
    private static final int LIMIT_S = 100;

    @TempDir private Path folder;
    private final List<Process> others = new ArrayList<>();
    private OtherUser other;
    private int outCount;

    @BeforeEach
    void prepare() throws Exception {
        assumeThat(OtherUser.isRoot())
                .as("only root can start the processes of another user")
                .isTrue();
        other = new OtherUser(folder);
        Path out = nextOut();
        Process process = start(out, "version");
        assertThat(process.waitFor(LIMIT_S, TimeUnit.SECONDS)).isTrue();
        assumeThat(process.exitValue())
                .as("another user cannot run this JVM: %s", Files.readString(out))
                .isZero();
    }

    @AfterEach
    void endAll() throws Exception {
        for (Process process : others) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }

    private Path nextOut() {
        return folder.resolve("other-" + outCount++ + ".txt");
    }

    private Process start(Path out, String... arguments) throws Exception {
        List<String> by = new ArrayList<>(OtherUser.change());
        by.addAll(List.of("env", "HOME=" + other.home()));
        Process process = other.start(by, out, arguments);
        others.add(process);
        return process;
    }

    /** The same command by both, at the same time. */
    private void both(String expected, List<String> arguments, String... ownArguments)
            throws Exception {
        List<String> mine = new ArrayList<>(arguments);
        mine.addAll(List.of(ownArguments));
        Path out = nextOut();
        try (CommandProcess own = CommandProcess.start(folder, mine.toArray(String[]::new))) {
            Process theirs = start(out, arguments.toArray(String[]::new));
            assertThat(own.exitCode(LIMIT_S)).as("%s", own.out()).isZero();
            assertThat(theirs.waitFor(LIMIT_S, TimeUnit.SECONDS))
                    .as("%s", Files.readString(out))
                    .isTrue();
            assertThat(own.out()).contains(expected);
        }
        assertThat(others.get(others.size() - 1).exitValue())
                .as("%s", Files.readString(out))
                .isZero();
        assertThat(Files.readString(out)).contains(expected);
    }

    /** Even the names of what root's processes share are not for others. */
    private void assertSegmentsAreClosedToTheOther() throws Exception {
        Path own = Path.of("/dev/shm/verbena-0");
        try (Stream<Path> files = Files.list(own)) {
            assertThat(files).isNotEmpty();
        }
        List<String> look = new ArrayList<>(OtherUser.change());
        look.addAll(List.of("ls", own.toString()));
        Path out = nextOut();
        Process other =
                new ProcessBuilder(look)
                        .redirectErrorStream(true)
                        .redirectOutput(out.toFile())
                        .start();
        assertThat(other.waitFor(LIMIT_S, TimeUnit.SECONDS)).isTrue();
        assertThat(other.exitValue()).as("%s", Files.readString(out)).isNotZero();
    }

    @Test
    void shouldRunTheDemoForBoth() throws Exception {
        Path deck = folder.resolve("small.conf");
        Files.write(deck, List.of("restart.size = 160 kB", "cells = 64", "steps = 12"));
        List<String> demo =
                List.of(
                        "demo",
                        "--deck=" + deck,
                        "--ranks=2",
                        "--servers=1",
                        "--no-compare",
                        "--no-kill");
        both("All checks passed", demo, "--output=" + folder.resolve("own"));
    }

    @Test
    void shouldMeasureForBoth() throws Exception {
        both("p99.9", List.of("lat", "--transport=shm", "-s=64", "-n=50"));
        both("MB/s", List.of("bw", "--transport=portals", "-s=4096", "-n=50"));
    }

    @Test
    void shouldNotLetOneInAtTheOther() throws Exception {
        for (String scheme : List.of("shm", "portals")) {
            try (CommandProcess listener =
                    CommandProcess.start(
                            folder, "lat", "--listen", "--transport=" + scheme, "-s=64")) {
                String uri =
                        listener.awaitOut(scheme + "://")
                                .lines()
                                .filter(line -> line.startsWith(scheme + "://"))
                                .findFirst()
                                .orElseThrow();
                Path out = nextOut();
                Process stranger = start(out, "lat", "--connect=" + uri, "-s=64", "-n=20");
                assertThat(stranger.waitFor(LIMIT_S, TimeUnit.SECONDS)).isTrue();
                assertThat(stranger.exitValue()).as("%s", Files.readString(out)).isEqualTo(1);
                assertSegmentsAreClosedToTheOther();
                Path status = nextOut();
                Process look = start(status, "status");
                assertThat(look.waitFor(LIMIT_S, TimeUnit.SECONDS)).isTrue();
                assertThat(look.exitValue()).as("%s", Files.readString(status)).isZero();
                assertThat(Files.readString(status))
                        .doesNotContainPattern("\\b" + listener.handle().pid() + "\\b");
                CommandProcess own =
                        CommandProcess.run(folder, "lat", "--connect=" + uri, "-s=64", "-n=20");
                assertThat(own.exitCode()).as("%s", own.out()).isZero();
                assertThat(listener.exitCode()).as("%s", listener.out()).isZero();
            }
        }
    }
}
