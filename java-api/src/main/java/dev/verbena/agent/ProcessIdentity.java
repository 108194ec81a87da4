package dev.verbena.agent;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tells a process from a later one with the same number: by its start, counted from that of the
 * system, as /proc does (man page proc(5), {@code /proc/PID/stat}). The wall clock would not do: it
 * may be set while processes run, and all of them would be taken for dead.
 */
final class ProcessIdentity {
    /** What /proc counts in, whatever the kernel's own tick is. */
    private static final int MS_PER_TICK = 10;

    /** Field 20 of the file, of those behind the name. */
    private static final int THREADS_FIELD = 17;

    /** Field 22 of the file. */
    private static final int START_FIELD = 19;

    private static final Path PID_NAMESPACE = Path.of("/proc/self/ns/pid");
    private static final long OWN_START_MS = ownStart();
    private static final long OWN_NAMESPACE = ownNamespace();

    private ProcessIdentity() {}

    /** Start of this process after that of the system, 0 if the system does not tell. */
    static long ownStartMs() {
        return OWN_START_MS;
    }

    /** Number of this process's PID namespace, 0 if the system does not tell. */
    static long namespace() {
        return OWN_NAMESPACE;
    }

    private static long ownNamespace() {
        try {
            return (Long) Files.getAttribute(PID_NAMESPACE, "unix:ino");
        } catch (IOException e) {
            return 0;
        }
    }

    private static long ownStart() {
        try {
            return startMs(fields(ProcessHandle.current().pid()));
        } catch (IOException e) {
            return 0;
        }
    }

    /**
     * Whether the process of this number and start runs; start 0: any start. True if that cannot be
     * told, as without a free file descriptor.
     */
    static boolean isAlive(long pid, long startMs) {
        if (pid <= 0) {
            return false;
        }
        try {
            String[] fields = fields(pid);
            return !hasEnded(fields) && (startMs == 0 || startMs(fields) == startMs);
        } catch (IOException e) {
            return Files.exists(folder(pid));
        }
    }

    /** A zombie whose first thread has ended may still have others that run. */
    private static boolean hasEnded(String[] fields) {
        String state = fields[0];
        return state.equals("X")
                || state.equals("Z") && Integer.parseInt(fields[THREADS_FIELD]) <= 1;
    }

    /**
     * Name of a file of this process in a job's folder that is not complete: the software NIC
     * removes it if this process dies (softnic_folder.c).
     *
     * @param serial tells several of this process apart
     */
    static String unfinishedFile(int serial) {
        return ".new-%d-%d-%d-%x"
                .formatted(
                        ProcessHandle.current().pid(),
                        OWN_START_MS / MS_PER_TICK,
                        OWN_NAMESPACE,
                        serial);
    }

    private static Path folder(long pid) {
        return Path.of("/proc", Long.toString(pid));
    }

    /** Those behind the name, which may have blanks and parentheses. */
    private static String[] fields(long pid) throws IOException {
        byte[] bytes = Files.readAllBytes(folder(pid).resolve("stat"));
        String text = new String(bytes, StandardCharsets.ISO_8859_1);
        String[] fields = text.substring(text.lastIndexOf(')') + 1).strip().split(" ");
        if (fields.length <= START_FIELD) {
            throw new IOException("/proc/" + pid + "/stat: " + text);
        }
        return fields;
    }

    private static long startMs(String[] fields) {
        return Long.parseLong(fields[START_FIELD]) * MS_PER_TICK;
    }
}
