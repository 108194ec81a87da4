package dev.verbena.cli.status;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.cli.CommandProcess;
import dev.verbena.cli.Run;
import dev.verbena.cli.StagingJob;
import dev.verbena.cli.VerbenaCommand;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code top} and {@code errors} beside a staging job of real processes. */
@Timeout(180)
class TopIT {
    @TempDir private Path folder;

    @Test
    void shouldShowRatesAndQueuesOfEveryRole() throws Exception {
        Path source = Files.write(folder.resolve("file"), new byte[40_000_000]);
        try (StagingJob job = new StagingJob(folder);
                CommandProcess top =
                        CommandProcess.start(folder, "top", "--interval=0.3", "--count=200")) {
            top.awaitOut("dart receiver");
            for (int i = 0; i < 3; i++) {
                assertThat(job.send(source).exitCode()).isZero();
            }
            // Some table saw data move: a server's rate in is not 0.0.
            top.await(() -> hasRate(out(top)), "show a rate");
            top.terminate();
            assertThat(top.exitCode()).isZero();
            assertThat(top.out())
                    .contains("msg/s", "ebq", "pbq", "fbq", "spillMB", "stalls", "errors")
                    .contains("dart master", "dart slave", "dart receiver")
                    .doesNotContain("\u001b");
            Run once = Run.of("top", "--once", "--interval=0.2");
            assertThat(once.code()).isZero();
            assertThat(once.out()).contains("dart slave", "job default");
            String master =
                    once.out()
                            .lines()
                            .filter(line -> line.startsWith("dart master"))
                            .findFirst()
                            .get();
            // No process served: every buffer is empty.
            assertThat(master.split("\\s+")[6]).isEqualTo("3");
        }
    }

    private static String out(CommandProcess process) {
        try {
            return process.out();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static boolean hasRate(String out) {
        return out.lines()
                .filter(line -> line.startsWith("dart master") || line.startsWith("dart slave"))
                .anyMatch(line -> !line.split("\\s+")[4].equals("0.0"));
    }

    @Test
    void shouldRedrawOnATerminal() throws Exception {
        boolean hasScript =
                Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(path -> Files.isExecutable(Path.of(path, "script")));
        Assumptions.assumeTrue(hasScript, "script is not on the PATH (package bsdutils)");
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Path log = folder.resolve("screen.txt");
        ProcessBuilder builder =
                new ProcessBuilder(
                        "script",
                        "--quiet",
                        "--return",
                        "--command",
                        "'"
                                + java
                                + "' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -cp '"
                                + System.getProperty("java.class.path")
                                + "' "
                                + VerbenaCommand.class.getName()
                                + " top --count 3 --interval 0.2",
                        "/dev/null");
        builder.environment().put("TERM", "xterm");
        Process process = builder.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        try {
            assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly();
        }
        String screen = Files.readString(log);
        assertThat(process.exitValue()).as("%s", screen).isZero();
        assertThat(screen.split("\u001b\\[H\u001b\\[J", -1)).hasSize(4);
    }

    @Test
    void shouldShowErrorsOfAKilledProcess() throws Exception {
        try (StagingJob job = new StagingJob(folder)) {
            long slave = job.slave.handle().pid();
            job.receiver.handle().destroyForcibly();
            job.receiver.exitCode();
            // A server reports that the receiver has gone.
            job.slave.await(
                    () -> Run.of("errors").out().contains("process " + slave + ","), "report");
            job.slave.handle().destroyForcibly();
            job.slave.exitCode();
            Run errors = Run.of("errors");
            assertThat(errors.code()).isZero();
            String mine = errors.out().substring(errors.out().indexOf("process " + slave + ","));
            assertThat(mine.lines().findFirst().get()).endsWith("(dead)");
            assertThat(mine).containsPattern("\\d+ times, first \\d{4}-.*, last \\d{4}-");
            Run.of("errors", "--remove");
            assertThat(Run.of("errors").out()).doesNotContain("process " + slave + ",");
        }
    }
}
