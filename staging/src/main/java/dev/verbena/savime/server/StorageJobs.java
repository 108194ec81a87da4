package dev.verbena.savime.server;

import dev.verbena.savime.store.BackgroundWork;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;

/**
 * Work on files, on the thread of the directory in which they are.
 *
 * <p>A dataset into pages that are there already takes this way; what is in brackets is a thread
 * that another one wakes, which costs some tens of microseconds each time:
 *
 * <pre>
 * write -> [client] OPEN -> [server] name, meta file -> OPENED, [client] REQUEST -> [server] GRANT
 * -> [client] copies, asks for the next blocks meanwhile, RELEASE and SYNC -> [server] meta file
 * -> DONE, [client] -> [caller of sync]
 * </pre>
 *
 * Names and meta files of a file system in memory are done by the server's own thread. With a
 * thread for files the two slept 5.5 to 7.3 times for each of 10,000 datasets of 8 KiB, on a busy
 * machine; now the server sleeps 1.9 to 3.4 times.
 */
final class StorageJobs {
    private final BackgroundWork memory;
    private final BackgroundWork disk;
    private final boolean isMemoryQuick;
    private final ErrorHandler errors;

    /**
     * @param isMemoryQuick short work on files in memory waits for no device
     * @param errors gets each failure, before its owner does
     */
    StorageJobs(
            BackgroundWork memory,
            BackgroundWork disk,
            boolean isMemoryQuick,
            ErrorHandler errors) {
        this.memory = memory;
        this.disk = disk;
        this.isMemoryQuick = isMemoryQuick;
        this.errors = errors;
    }

    /**
     * As {@link #submit}, of a step that makes or names files without touching their pages, or
     * reads a few MiB that were just written: it is done, and its end told, before this returns,
     * where that is quick and nothing is before it.
     */
    void submitShort(boolean isMemory, BackgroundWork.Step step, Consumer<Exception> ended) {
        if (isMemory && isMemoryQuick && memory.mayBeBypassed()) {
            end(step.failure(), ended);
        } else {
            submit(isMemory, step, ended);
        }
    }

    /**
     * @param ended is told, on the engine's thread, what the step threw; null: nothing
     */
    void submit(boolean isMemory, BackgroundWork.Step step, Consumer<Exception> ended) {
        (isMemory ? memory : disk).submit(step, failure -> end(failure, ended));
    }

    private void end(Exception failure, Consumer<Exception> ended) {
        if (failure != null) {
            errors.onError(failure);
        }
        ended.accept(failure);
    }

    int poll() {
        return memory.poll() + disk.poll();
    }

    boolean isQuiet() {
        return memory.isQuiet() && disk.isQuiet();
    }
}
