package dev.verbena.savime.store;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

/** A thread of its own. Submitted and polled by one thread. */
public final class BackgroundThread implements BackgroundWork {
    private static final long CLOSE_MS = 30_000;
    private static final Job LAST =
            new Job() {
                @Override
                public void run() {}

                @Override
                public void ended(Exception failure) {}
            };

    private final LinkedBlockingQueue<Job> jobs = new LinkedBlockingQueue<>();
    private final Queue<Ended> ended = new ManyToOneConcurrentLinkedQueue<>();
    private final ArrayDeque<Ended> told = new ArrayDeque<>();
    private final Thread thread;
    private volatile Runnable wakeup = () -> {};
    private int pending;

    private record Ended(Job job, Exception failure) {}

    /** Starts a thread of this name. */
    public BackgroundThread(String name) {
        thread = new Thread(this::work, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void onReady(Runnable wakeup) {
        this.wakeup = wakeup;
    }

    @Override
    public void submit(Job job) {
        pending++;
        jobs.add(job);
    }

    @Override
    public int poll() {
        for (Ended each = ended.poll(); each != null; each = ended.poll()) {
            told.add(each);
        }
        int count = told.size();
        for (int i = 0; i < count; i++) {
            Ended each = told.poll();
            pending--;
            each.job.ended(each.failure);
        }
        return count;
    }

    @Override
    public boolean isQuiet() {
        return pending == 0;
    }

    private void work() {
        try {
            for (Job job = jobs.take(); job != LAST; job = jobs.take()) {
                Exception failure = null;
                try {
                    job.run();
                } catch (Exception e) {
                    failure = e;
                } catch (OutOfMemoryError e) {
                    failure = new IllegalStateException(e);
                }
                ended.add(new Ended(job, failure));
                wakeup.run();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        jobs.add(LAST);
        try {
            thread.join(CLOSE_MS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
