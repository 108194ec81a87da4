package dev.verbena.cli.dart;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.Turns;
import dev.verbena.cli.CommandProcess;
import java.io.File;
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
    private static final double THREAD_SHARE_MAX = 0.02;

    /** A virtual machine's own threads and compilers, too. */
    private static final double PROCESS_SHARE_MAX = 0.04;

    private static final long SECONDS = 5;

    /** The first seconds still run in the interpreter and compile. */
    private static final int WINDOWS = 5;

    /** What a thread has run, in the first column. */
    private static final String TIME = "schedstat";

    /** A JVM that has started has used more. */
    private static final long STARTED_NS = 300_000_000;

    @TempDir private Path folder;

    /** Time that each thread has run, nanoseconds, by its name and number. */
    private static Map<String, Long> times(CommandProcess process) {
        Map<String, Long> times = new LinkedHashMap<>();
        for (File task : new File("/proc/" + process.handle().pid() + "/task").listFiles()) {
            try {
                String name = Files.readString(task.toPath().resolve("comm")).strip();
                String time = Files.readString(task.toPath().resolve(TIME));
                times.put(
                        name + "/" + task.getName(),
                        Long.parseLong(time.substring(0, time.indexOf(' '))));
            } catch (IOException e) {
                // It has ended.
                continue;
            }
        }
        return times;
    }

    private static long ns(CommandProcess process) {
        return times(process).values().stream().mapToLong(Long::longValue).sum();
    }

    /** Share of one processor over a window, of each process and of its busiest thread. */
    private static Map<String, Shares> shares(Map<String, CommandProcess> processes)
            throws InterruptedException {
        Map<String, Map<String, Long>> before = new LinkedHashMap<>();
        processes.forEach((name, process) -> before.put(name, times(process)));
        long begin = System.nanoTime();
        TimeUnit.SECONDS.sleep(SECONDS);
        long ns = System.nanoTime() - begin;
        Map<String, Shares> shares = new LinkedHashMap<>();
        processes.forEach(
                (name, process) ->
                        shares.put(name, Shares.between(before.get(name), times(process), ns)));
        return shares;
    }

    private record Shares(double process, double thread, String busiest) {
        static Shares between(Map<String, Long> before, Map<String, Long> after, long ns) {
            double sum = 0;
            double most = 0;
            String busiest = "";
            for (Map.Entry<String, Long> thread : after.entrySet()) {
                double share =
                        (thread.getValue() - before.getOrDefault(thread.getKey(), 0L))
                                / (double) ns;
                sum += share;
                if (share > most && !isCompiler(thread.getKey())) {
                    most = share;
                    busiest = thread.getKey();
                }
            }
            return new Shares(sum, most, busiest);
        }

        private static boolean isCompiler(String thread) {
            return thread.startsWith("C1 ") || thread.startsWith("C2 ");
        }

        boolean isLow() {
            return process < PROCESS_SHARE_MAX && thread < THREAD_SHARE_MAX;
        }
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
        long now = ns(process);
        do {
            before = now;
            TimeUnit.SECONDS.sleep(2);
            assertThat(process.handle().isAlive()).as("%s", process.out()).isTrue();
            now = ns(process);
        } while (now - before > 40_000_000 || now < STARTED_NS);
    }

    /** In one window of several all of them are below: a process is idle for hours, not seconds. */
    private static void assertSettlesBelow(Map<String, CommandProcess> processes, String when)
            throws InterruptedException {
        List<Map<String, Shares>> windows = new ArrayList<>();
        do {
            windows.add(shares(processes));
        } while (!isLow(windows.get(windows.size() - 1)) && windows.size() < WINDOWS);
        assertThat(isLow(windows.get(windows.size() - 1)))
                .as(
                        "share of a processor below %s of each thread and %s of each process,"
                                + " %s: %s",
                        THREAD_SHARE_MAX, PROCESS_SHARE_MAX, when, windows)
                .isTrue();
    }

    private static boolean isLow(Map<String, Shares> shares) {
        return shares.values().stream().allMatch(Shares::isLow);
    }
}
