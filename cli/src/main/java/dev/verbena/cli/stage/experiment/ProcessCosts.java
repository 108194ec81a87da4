package dev.verbena.cli.stage.experiment;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * What processes have cost so far, by {@code /proc} (proc(5)). One thread.
 *
 * @param cpuSeconds of user and system time, in ticks of 10 ms
 * @param switches context switches of the threads that live, voluntary or not
 */
record ProcessCosts(double cpuSeconds, long switches) {
    static final ProcessCosts NONE = new ProcessCosts(0, 0);

    /** USER_HZ is 100 for every program on x86-64 and AArch64. */
    private static final double TICKS_PER_SECOND = 100;

    /** Behind the name in brackets: state is the first. */
    private static final int USER_TICKS = 11;

    private static final int CHILDREN_TICKS = 13;

    /** Of these processes; what has ended counts nothing. */
    static ProcessCosts of(Collection<Long> pids) {
        double seconds = 0;
        long switches = 0;
        for (long pid : pids) {
            seconds += ticks(Long.toString(pid), USER_TICKS) / TICKS_PER_SECOND;
            for (long each : switchesByThread(pid).values()) {
                switches += each;
            }
        }
        return new ProcessCosts(seconds, switches);
    }

    /** Processor seconds of all children of this process that have ended, and of theirs. */
    static double endedChildrenSeconds() {
        return ticks("self", CHILDREN_TICKS) / TICKS_PER_SECOND;
    }

    ProcessCosts minus(ProcessCosts before) {
        return new ProcessCosts(cpuSeconds - before.cpuSeconds, switches - before.switches);
    }

    private static long ticks(String process, int field) {
        try {
            String line = Files.readString(Path.of("/proc", process, "stat"));
            String[] fields = line.substring(line.lastIndexOf(')') + 2).split(" ");
            return Long.parseLong(fields[field]) + Long.parseLong(fields[field + 1]);
        } catch (IOException e) {
            return 0;
        }
    }

    /** By thread number. */
    static Map<Long, Long> switchesByThread(long pid) {
        Map<Long, Long> found = new HashMap<>();
        Path tasks = Path.of("/proc", Long.toString(pid), "task");
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(tasks)) {
            for (Path thread : threads) {
                found.put(Long.valueOf(thread.getFileName().toString()), switches(thread));
            }
        } catch (IOException | java.nio.file.DirectoryIteratorException e) {
            return found; // the process has ended
        }
        return found;
    }

    private static long switches(Path thread) throws IOException {
        long sum = 0;
        for (String line : Files.readAllLines(thread.resolve("status"))) {
            if (line.contains("ctxt_switches:")) {
                sum += Long.parseLong(line.substring(line.indexOf(':') + 1).strip());
            }
        }
        return sum;
    }
}
