package dev.verbena.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Exit codes after signals: in order is 0, at once is 1. */
@Timeout(180)
class SignalIT {
    @TempDir private Path folder;

    private static void signal(String name, CommandProcess process) throws Exception {
        Process kill =
                new ProcessBuilder("kill", "-" + name, Long.toString(process.handle().pid()))
                        .start();
        assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }

    /** Two signals that come before the process has run in between are one to it. */
    private static void signalUntilEnded(CommandProcess process) throws Exception {
        for (int i = 0; i < 50 && process.handle().isAlive(); i++) {
            signal("TERM", process);
            TimeUnit.MILLISECONDS.sleep(200);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    @Tag("dart-D40")
    void shouldEndInOrderWithCode0(String scheme) throws Exception {
        Path source = Files.write(folder.resolve("file"), new byte[3_000_000]);
        try (StagingJob job = new StagingJob(folder, scheme)) {
            CommandProcess send = job.send(source);
            assertThat(send.exitCode()).as("%s", send.out()).isZero();
            assertThat(send.out()).contains("3.0 MB, confirmed by the receiver");
            signal("TERM", job.slave);
            assertThat(job.slave.exitCode()).as("%s", job.slave.out()).isZero();
            signal(heeded("INT", 2), job.master);
            assertThat(job.master.exitCode()).as("%s", job.master.out()).isZero();
            assertThat(job.master.out()).contains("master stopped:", ", 0 failed");
            signal(heeded("HUP", 1), job.receiver);
            assertThat(job.receiver.exitCode()).as("%s", job.receiver.out()).isZero();
            assertThat(job.receiver.out()).contains("1 files in place, 0 damaged");
        }
    }

    @Test
    void shouldEndAtOnceWithCode1AtTheSecondSignal() throws Exception {
        Path source = Files.write(folder.resolve("file"), new byte[3_000_000]);
        try (StagingJob job = new StagingJob(folder)) {
            // A receiver that is stopped: what was pulled cannot be passed on.
            signal("STOP", job.receiver);
            CommandProcess send = job.send(source);
            // Counters that are not zero are shown: one of the servers has the message.
            send.await(() -> isServing(job.master) || isServing(job.slave), "be served");
            CommandProcess holder = isServing(job.master) ? job.master : job.slave;
            signal("TERM", job.master);
            signal("TERM", job.slave);
            holder.awaitOut("has not confirmed. A second Ctrl-C ends at once");
            signalUntilEnded(job.master);
            signalUntilEnded(job.slave);
            assertThat(job.master.exitCode()).isEqualTo(1);
            assertThat(job.slave.exitCode()).isEqualTo(1);
            assertThat(job.master.out() + job.slave.out())
                    .contains("a second signal")
                    .contains("messages pulled")
                    .contains("lost: 'file@0-");
            signal("CONT", job.receiver);
        }
    }

    @Test
    void shouldStopAllServersWhenAskedByCommand() throws Exception {
        Path source = Files.write(folder.resolve("file"), new byte[3_000_000]);
        try (StagingJob job = new StagingJob(folder)) {
            CommandProcess send = job.send(source);
            assertThat(send.exitCode()).as("%s", send.out()).isZero();
            try (CommandProcess stop = stop(job)) {
                assertThat(stop.exitCode()).as("%s", stop.out()).isZero();
                assertThat(stop.out()).contains("stopped");
            }
            assertThat(job.slave.exitCode()).as("%s", job.slave.out()).isZero();
            assertThat(job.master.exitCode()).as("%s", job.master.out()).isZero();
            assertThat(job.master.out()).contains("master stopped:", ", 0 failed");
        }
    }

    @Test
    void shouldStopAllServersAtOnceWhenAskedByCommand() throws Exception {
        Path source = Files.write(folder.resolve("file"), new byte[3_000_000]);
        try (StagingJob job = new StagingJob(folder)) {
            signal("STOP", job.receiver);
            CommandProcess send = job.send(source);
            send.await(() -> isServing(job.master) || isServing(job.slave), "be served");
            try (CommandProcess stop = stop(job, "--now")) {
                assertThat(stop.exitCode()).as("%s", stop.out()).isZero();
            }
            assertThat(List.of(job.slave.exitCode(), job.master.exitCode())).contains(1);
            assertThat(job.master.out() + job.slave.out()).contains("lost: 'file@0-");
            signal("CONT", job.receiver);
        }
    }

    private CommandProcess stop(StagingJob job, String... options) throws Exception {
        List<String> line =
                new java.util.ArrayList<>(
                        List.of(
                                "dart",
                                "stop",
                                "--transport=shm",
                                "--config=" + job.configuration()));
        line.addAll(List.of(options));
        return CommandProcess.start(folder, line.toArray(String[]::new));
    }

    @Test
    void shouldEndAServerThatIsNotReadyYet() throws Exception {
        Path nowhere = folder.resolve("absent.conf");
        try (CommandProcess slave =
                CommandProcess.start(
                        folder, "dart", "slave", "--transport=shm", "--config=" + nowhere)) {
            slave.await(() -> Run.of("status", "--all").out().contains(pid(slave)), "begin");
            signal("TERM", slave);
            assertThat(slave.exitCode()).as("%s", slave.out()).isZero();
        }
    }

    private static boolean isServing(CommandProcess server) {
        return Pattern.compile(
                        pid(server) + ".*\\n(\\s+.*\\n)*?\\s+[0-9,]+\\s+dart \\w+ messages pulled")
                .matcher(Run.of("status").out())
                .find();
    }

    /** TERM for a signal that is ignored where the tests were started, by nohup or a script's &. */
    private static String heeded(String name, int number) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("SigIgn:")) {
                long ignored = Long.parseUnsignedLong(line.substring(7).trim(), 16);
                return (ignored >> (number - 1) & 1) == 1 ? "TERM" : name;
            }
        }
        return name;
    }

    private static String pid(CommandProcess process) {
        return "process " + process.handle().pid() + ",";
    }

    @Test
    void shouldSayWhatASenderLeftOut() throws Exception {
        for (int i = 0; i < 400; i++) {
            Path file = Files.createDirectories(folder.resolve("many")).resolve("file-" + i);
            Files.write(file, new byte[100_000]);
        }
        try (StagingJob job = new StagingJob(folder)) {
            CommandProcess send = job.send(folder.resolve("many"));
            send.awaitOut("many/file-");
            signal("TERM", send);
            assertThat(send.exitCode()).as("%s", send.out()).isEqualTo(1);
            assertThat(send.out()).contains("asked to stop", "confirmed by the receiver");
            assertThat(List.of(job.master, job.slave)).allMatch(each -> each.handle().isAlive());
        }
    }
}
