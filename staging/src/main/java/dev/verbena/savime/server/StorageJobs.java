package dev.verbena.savime.server;

import dev.verbena.savime.store.BackgroundWork;
import java.util.function.Consumer;

/** Work on files, on the thread of the directory in which they are. */
final class StorageJobs {
    private final BackgroundWork memory;
    private final BackgroundWork disk;

    /** What may wait. */
    interface Step {
        void run() throws Exception;
    }

    StorageJobs(BackgroundWork memory, BackgroundWork disk) {
        this.memory = memory;
        this.disk = disk;
    }

    /**
     * @param ended is told, on the engine's thread, what the step threw; null: nothing
     */
    void submit(boolean isMemory, Step step, Consumer<Exception> ended) {
        (isMemory ? memory : disk)
                .submit(
                        new BackgroundWork.Job() {
                            @Override
                            public void run() throws Exception {
                                step.run();
                            }

                            @Override
                            public void ended(Exception failure) {
                                ended.accept(failure);
                            }
                        });
    }

    int poll() {
        return memory.poll() + disk.poll();
    }

    boolean isQuiet() {
        return memory.isQuiet() && disk.isQuiet();
    }
}
