package dev.verbena.savime.server;

import dev.verbena.savime.store.BackgroundWork;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/** Runs nothing until it is polled. */
final class WaitingWork implements BackgroundWork {
    private final ArrayDeque<Runnable> jobs = new ArrayDeque<>();

    @Override
    public void onReady(Runnable wakeup) {}

    @Override
    public void submit(Step step, Consumer<Exception> onEnd) {
        jobs.add(() -> onEnd.accept(step.failure()));
    }

    @Override
    public int poll() {
        int count = jobs.size();
        for (int i = 0; i < count; i++) {
            jobs.remove().run();
        }
        return count;
    }

    @Override
    public boolean isQuiet() {
        return jobs.isEmpty();
    }

    @Override
    public void close() {}
}
