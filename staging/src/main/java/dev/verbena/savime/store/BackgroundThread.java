package dev.verbena.savime.store;

import java.util.Queue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

/** A thread of its own. Submitted and polled by one thread. */
public final class BackgroundThread implements BackgroundWork {
    private static final long CLOSE_MS = 30_000;

    private final Queue<Runnable> ended = new ManyToOneConcurrentLinkedQueue<>();
    private final ThreadPoolExecutor thread;
    private volatile Runnable wakeup = () -> {};
    private int pending;

    /** Its thread has this name. */
    public BackgroundThread(String name) {
        // What is submitted after the end, as by what was polled last, is never run.
        thread =
                new ThreadPoolExecutor(
                        1,
                        1,
                        0,
                        TimeUnit.MILLISECONDS,
                        new LinkedBlockingQueue<>(),
                        work -> daemon(work, name),
                        new ThreadPoolExecutor.DiscardPolicy());
    }

    private static Thread daemon(Runnable work, String name) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void onReady(Runnable wakeup) {
        this.wakeup = wakeup;
    }

    @Override
    public void submit(Step step, Consumer<Exception> onEnd) {
        pending++;
        thread.execute(
                () -> {
                    Exception failure = step.failure();
                    ended.add(() -> onEnd.accept(failure));
                    wakeup.run();
                });
    }

    @Override
    public int poll() {
        int count = 0;
        for (Runnable each = ended.poll(); each != null; each = ended.poll()) {
            pending--;
            count++;
            each.run();
        }
        return count;
    }

    @Override
    public boolean isQuiet() {
        return pending == 0;
    }

    @Override
    public void close() {
        thread.shutdown();
        try {
            thread.awaitTermination(CLOSE_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
