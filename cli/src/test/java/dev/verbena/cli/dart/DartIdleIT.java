package dev.verbena.cli.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Turns;
import dev.verbena.cli.CommandProcess;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that wait leave the processor to others. CPU time as the kernel counts it. */
@Timeout(180)
@Tag("alone")
class DartIdleIT {
    private static final double SHARE_MAX = 0.02;
    private static final long SECONDS = 5;

    /** The first seconds still run in the interpreter and compile. */
    private static final int WINDOWS = 5;

    private static final double TICKS_PER_SECOND = 100;
    private static final int UTIME = 11;

    /** A JVM that has started has used more. */
    private static final long STARTED_TICKS = 30;

    @TempDir private Path folder;

    /** User and system time of all threads, clock ticks. */
    private static long ticks(long pid) {
        try {
            String text = Files.readString(Path.of("/proc/" + pid + "/stat"));
            String[] fields = text.substring(text.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[UTIME]) + Long.parseLong(fields[UTIME + 1]);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** Share of one processor over a window, for each. */
    private static Map<String, Double> shares(Map<String, CommandProcess> processes)
            throws InterruptedException {
        Map<String, Long> before = new LinkedHashMap<>();
        processes.forEach((name, process) -> before.put(name, ticks(process.handle().pid())));
        long begin = System.nanoTime();
        TimeUnit.SECONDS.sleep(SECONDS);
        double seconds = (System.nanoTime() - begin) / 1e9;
        Map<String, Double> shares = new LinkedHashMap<>();
        processes.forEach(
                (name, process) -> {
                    long used = ticks(process.handle().pid()) - before.get(name);
                    shares.put(name, used / TICKS_PER_SECOND / seconds);
                });
        return shares;
    }

    private static String address(CommandProcess receiver) throws Exception {
        String out = receiver.awaitOut("listening on");
        String line = out.lines().filter(l -> l.startsWith("listening on")).findFirst().get();
        return line.substring(line.lastIndexOf(' ') + 1).strip();
    }

    private static void signal(CommandProcess process, String name) throws Exception {
        String pid = Long.toString(process.handle().pid());
        assertThat(new ProcessBuilder("kill", "-" + name, pid).start().waitFor()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "portals", "gni"})
    @Tag("dart-D31")
    void shouldNotUseTheProcessorWhileWaiting(String scheme) throws Exception {
        Turns.assume(scheme, "shm", "portals", "gni");
        String config = "--config=" + folder.resolve("job.conf");
        String transport = "--transport=" + scheme;
        String directory = "--directory=" + folder.resolve("arrived");
        Path big = folder.resolve("big");
        try (RandomAccessFile file = new RandomAccessFile(big.toFile(), "rw")) {
            file.setLength(200L << 20);
        }
        try (CommandProcess receiver =
                CommandProcess.start(
                        folder, "dart", "receive", "--listen=127.0.0.1:0", directory)) {
            String to = "--receiver=" + address(receiver);
            try (CommandProcess master =
                            CommandProcess.start(
                                    folder,
                                    "dart",
                                    "master",
                                    transport,
                                    config,
                                    to,
                                    "--servers=2");
                    CommandProcess slave =
                            CommandProcess.start(folder, "dart", "slave", transport, config)) {
                master.awaitOut("ready");
                slave.awaitOut("ready");
                Map<String, CommandProcess> idle = new LinkedHashMap<>();
                idle.put("receiver", receiver);
                idle.put("master", master);
                idle.put("slave", slave);
                assertSettlesBelow(idle, "idle");
                // Now a process that waits, because nobody reads what its server streams.
                signal(receiver, "STOP");
                try (CommandProcess send =
                        CommandProcess.start(
                                folder, "dart", "send", transport, config, big.toString())) {
                    Map<String, CommandProcess> waiting = new LinkedHashMap<>();
                    waiting.put("client", send);
                    waiting.put("master", master);
                    waiting.put("slave", slave);
                    awaitQuiet(send);
                    assertSettlesBelow(waiting, "waiting for the receiver");
                    signal(receiver, "CONT");
                }
            }
        }
    }

    /** Until it has started and is stuck: two seconds in which it used next to nothing. */
    private static void awaitQuiet(CommandProcess process) throws Exception {
        long before;
        long now = ticks(process.handle().pid());
        do {
            before = now;
            TimeUnit.SECONDS.sleep(2);
            assertThat(process.handle().isAlive()).as("%s", process.out()).isTrue();
            now = ticks(process.handle().pid());
        } while (now - before > 4 || now < STARTED_TICKS);
    }

    /** In one window of several all of them are below: a process is idle for hours, not seconds. */
    private static void assertSettlesBelow(Map<String, CommandProcess> processes, String when)
            throws InterruptedException {
        List<Map<String, Double>> windows = new ArrayList<>();
        do {
            windows.add(shares(processes));
        } while (!isBelow(windows.get(windows.size() - 1)) && windows.size() < WINDOWS);
        assertThat(isBelow(windows.get(windows.size() - 1)))
                .as("share of a processor below %s, %s: %s", SHARE_MAX, when, windows)
                .isTrue();
    }

    private static boolean isBelow(Map<String, Double> shares) {
        return shares.values().stream().allMatch(share -> share < SHARE_MAX);
    }
}
