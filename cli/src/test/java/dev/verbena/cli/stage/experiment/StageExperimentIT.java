package dev.verbena.cli.stage.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The whole experiment with very little data. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StageExperimentIT {
    @TempDir private Path folder;

    private CommandProcess run(String... more) throws Exception {
        List<String> words =
                new ArrayList<>(
                        List.of(
                                "stage",
                                "experiment",
                                "--runs=2",
                                "--datasets=2",
                                "--bytes=1048576",
                                "--blocks=1,2",
                                "--disk=" + disk(),
                                "--output=" + folder.resolve("output")));
        words.addAll(List.of(more));
        CommandProcess command = CommandProcess.start(folder, words.toArray(new String[0]));
        command.exitCode(240);
        return command;
    }

    /** A user without rights may not enter a test's own folder. */
    private static Path disk() {
        return Path.of(System.getProperty("java.io.tmpdir"));
    }

    private static List<Path> left(Path parent, long pid) throws Exception {
        try (Stream<Path> files = Files.list(parent)) {
            return files.filter(each -> each.endsWith("verbena-run-" + pid)).toList();
        }
    }

    @Test
    void shouldMeasureEveryMethodAndDrawTheFigures() throws Exception {
        Assumptions.assumeTrue(Sshd.missing() == null, "openssh-server is not installed");
        try (CommandProcess command = run()) {
            assertThat(command.exitCode()).as(command.out()).isZero();
            assertThat(command.out())
                    .contains("staging into memory, s", "scp onto disk over staging into memory");
            Path output = folder.resolve("output");
            // Two blocks with one thread and with four, four sizes, six methods with and without.
            List<String> points = Files.readAllLines(output.resolve("points.csv"));
            assertThat(points).hasSize(1 + 4 + 4 + 12);
            assertThat(points.get(0)).contains("client_cpu_s_per_GB", "loop_slowing_half95");
            assertThat(output.resolve("results.json"))
                    .content()
                    .contains("\"tunnelled\"", "\"scp_memory\"", "\"runs\": 2");
            assertThat(output.resolve("report.html"))
                    .content()
                    .contains("Figure 3", "Figure 4", "Figure 5", "Figure 6", "<svg", "slowed by");
            assertThat(left(disk(), command.handle().pid())).isEmpty();
            assertThat(left(Path.of("/dev/shm"), command.handle().pid())).isEmpty();
        }
    }

    /** Processes whose command line names a folder; sshd's is text of its own. */
    private static List<String> running(Path inside) {
        return ProcessHandle.allProcesses()
                .map(each -> commandLine(each.pid()))
                .filter(each -> each.contains(inside.toString()))
                .toList();
    }

    private static String commandLine(long pid) {
        try {
            return Files.readString(Path.of("/proc/" + pid + "/cmdline")).replace('\0', ' ');
        } catch (IOException e) {
            return ""; // It has ended meanwhile.
        }
    }

    private CommandProcess endless(String... more) throws Exception {
        List<String> words =
                new ArrayList<>(
                        List.of(
                                "stage",
                                "experiment",
                                "--datasets=2",
                                "--bytes=1048576",
                                "--runs=1000",
                                "--disk=" + disk(),
                                "--output=" + folder.resolve("output")));
        words.addAll(List.of(more));
        return CommandProcess.start(folder, words.toArray(new String[0]));
    }

    @Test
    void shouldLeaveNoServerWhenKilledAndRemoveItsFoldersAtTheNextStart() throws Exception {
        Assumptions.assumeTrue(Sshd.missing() == null, "openssh-server is not installed");
        long pid;
        try (CommandProcess command = endless()) {
            pid = command.handle().pid();
            Path inside = Path.of("/dev/shm/verbena-run-" + pid);
            command.awaitOut("run 1");
            assertThat(running(inside.resolve("ssh"))).isNotEmpty();
            command.handle().destroyForcibly();
            command.exitCode();
            long deadlineNs = System.nanoTime() + 60_000_000_000L;
            while (!running(inside).isEmpty() && System.nanoTime() - deadlineNs < 0) {
                Thread.sleep(20);
            }
            assertThat(running(inside)).isEmpty();
            assertThat(inside).exists();
        }
        assertThat(left(disk(), pid)).hasSize(1);
        try (CommandProcess next = endless("--no-ssh")) {
            next.awaitOut("run 1");
            assertThat(left(disk(), pid)).isEmpty();
            assertThat(left(Path.of("/dev/shm"), pid)).isEmpty();
        }
    }

    @Test
    void shouldEndInOrderWhenInterrupted() throws Exception {
        try (CommandProcess command = endless("--no-ssh")) {
            command.awaitOut("run 1");
            command.terminate();
            assertThat(command.exitCode()).isEqualTo(1);
            assertThat(command.out()).contains("interrupted");
            assertThat(left(disk(), command.handle().pid())).isEmpty();
            assertThat(left(Path.of("/dev/shm"), command.handle().pid())).isEmpty();
        }
    }
}
