package dev.verbena.savime.store;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

/**
 * A thread for what may wait: files. Jobs run one after the other; the end of each is told to its
 * owner when that calls {@link #poll}. Submitted and polled by one thread.
 */
public final class BackgroundWork implements AutoCloseable {
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

    /** Something that may wait. */
    public interface Job {
        /** On the worker's thread. */
        void run() throws Exception;

        /**
         * On the owner's thread.
         *
         * @param failure what {@link #run} threw; null: nothing
         */
        void ended(Exception failure);
    }

    private record Ended(Job job, Exception failure) {}

    /** Starts a thread of this name. */
    public BackgroundWork(String name) {
        thread = new Thread(this::work, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Called, on the worker's thread, when {@link #poll} has something to do. */
    public void onReady(Runnable wakeup) {
        this.wakeup = wakeup;
    }

    /** Runs it after those before it. */
    public void submit(Job job) {
        pending++;
        jobs.add(job);
    }

    /** Tells the owners of what has ended; how many there were. */
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

    /** Nothing runs or waits to be told. */
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

    /** Runs what was submitted, then ends the thread; what ended last can still be polled. */
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
