package dev.verbena.agent;

import java.time.Instant;
import java.util.Optional;

/** Tells a process from a later one with the same number: by its start time. */
final class ProcessIdentity {
    private static final long OWN_START_MS =
            startMs(ProcessHandle.current()).orElse(Instant.EPOCH).toEpochMilli();

    private ProcessIdentity() {}

    /** Start of this process on the wall clock, 0 if the system does not tell. */
    static long ownStartMs() {
        return OWN_START_MS;
    }

    /** Whether the process of this number and start time runs; start 0: any start time. */
    static boolean isAlive(long pid, long startMs) {
        if (pid <= 0) {
            return false;
        }
        Optional<ProcessHandle> handle = ProcessHandle.of(pid);
        if (handle.isEmpty() || !handle.get().isAlive()) {
            return false;
        }
        if (startMs == 0) {
            return true;
        }
        // The system counts in ticks of 10 ms from boot, and the boot time may be off by a second.
        Optional<Instant> start = startMs(handle.get());
        return start.isEmpty() || Math.abs(start.get().toEpochMilli() - startMs) < 2_000;
    }

    private static Optional<Instant> startMs(ProcessHandle handle) {
        return handle.info().startInstant();
    }
}
