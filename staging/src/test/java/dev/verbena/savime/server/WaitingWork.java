package dev.verbena.savime.server;

import dev.verbena.savime.store.BackgroundWork;
import java.util.ArrayDeque;

/** Runs nothing until it is polled. */
final class WaitingWork implements BackgroundWork {
    private final ArrayDeque<Job> jobs = new ArrayDeque<>();

    @Override
    public void onReady(Runnable wakeup) {}

    @Override
    public void submit(Job job) {
        jobs.add(job);
    }

    @Override
    public int poll() {
        int count = jobs.size();
        for (int i = 0; i < count; i++) {
            Job job = jobs.remove();
            try {
                job.run();
                job.ended(null);
            } catch (Exception e) {
                job.ended(e);
            }
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
