package dev.verbena.staging.forward;

import dev.verbena.staging.sink.Sink;
import dev.verbena.staging.sink.SinkSession;
import dev.verbena.staging.sink.SinkWatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.ManyToOneConcurrentLinkedQueue;

/**
 * Sender threads, no more than the sink takes sessions. A session is closed when there is nothing
 * more to send, after some tasks, or after some time, so that others reach a sink that serves one
 * at a time. A thread ends between two tasks, never within one. Submitted and polled by one thread.
 */
public final class SenderPool implements Senders {
    private static final int TASKS_PER_SESSION = 16;
    private static final long SESSION_NS = 2_000_000_000L;
    private static final SinkTask LAST =
            new SinkTask(null) {
                @Override
                protected String perform(SinkSession session) {
                    return "";
                }
            };

    private final Sink sink;
    private final SinkHealth health;
    private final LinkedBlockingQueue<SinkTask> tasks = new LinkedBlockingQueue<>();
    private final ManyToOneConcurrentLinkedQueue<SinkTask> ended =
            new ManyToOneConcurrentLinkedQueue<>();
    private final List<Thread> threads = new ArrayList<>();
    private final long closeTimeoutMs;
    private volatile Runnable wakeup = () -> {};
    private int inFlight;

    /**
     * Starts the threads.
     *
     * @param sink closed by this
     * @param senders most threads
     * @param closeTimeoutMs how long {@link #close} waits for what is being sent
     */
    public SenderPool(Sink sink, int senders, long closeTimeoutMs) {
        this(sink, senders, closeTimeoutMs, SinkWatch.NONE);
    }

    /**
     * As {@link #SenderPool(Sink, int, long)}.
     *
     * @param watch told how the sink is
     */
    public SenderPool(Sink sink, int senders, long closeTimeoutMs, SinkWatch watch) {
        this.sink = sink;
        this.health = new SinkHealth(watch);
        sink.watch(health);
        this.closeTimeoutMs = closeTimeoutMs;
        int count = Math.min(senders, sink.sessionsMax());
        for (int i = 0; i < count; i++) {
            Thread thread = new Thread(this::work, "verbena-sender-" + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    @Override
    public void onReady(Runnable wakeup) {
        this.wakeup = wakeup;
    }

    @Override
    public boolean hasRoom() {
        return inFlight < threads.size();
    }

    @Override
    public int inFlight() {
        return inFlight;
    }

    @Override
    public SinkHealth health() {
        return health;
    }

    @Override
    public void submit(SinkTask task) {
        inFlight++;
        tasks.add(task);
    }

    @Override
    public int poll(Consumer<SinkTask> handler) {
        int count = 0;
        for (SinkTask task = ended.poll(); task != null; task = ended.poll()) {
            inFlight--;
            count++;
            handler.accept(task);
        }
        return count;
    }

    private void work() {
        try {
            SinkTask task = tasks.take();
            while (task != LAST) {
                task = serve(task);
                if (task == null) {
                    task = tasks.take();
                }
            }
            tasks.add(LAST);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs this task and those that follow at once in one session; the next one, null for none. */
    private SinkTask serve(SinkTask first) {
        SinkTask task = first;
        boolean isEnded = false;
        try (SinkSession session = sink.open()) {
            long beginNs = System.nanoTime();
            for (int i = 1; ; i++) {
                boolean isUsable = task.run(session);
                isEnded = true;
                health.ended(task);
                boolean isOver = i == TASKS_PER_SESSION || System.nanoTime() - beginNs > SESSION_NS;
                if (!isUsable || isOver) {
                    end(task);
                    return null;
                }
                end(task);
                // The engine needs a moment to find the next one.
                task = tasks.poll(1, TimeUnit.MILLISECONDS);
                if (task == null || task == LAST) {
                    return task;
                }
                isEnded = false;
            }
        } catch (IOException | RuntimeException | Error e) {
            if (!isEnded) {
                task.unreachable(e);
                health.ended(task);
                end(task);
            }
            // Closing the session may have failed after the last one.
            return task == LAST ? LAST : null;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return LAST;
        }
    }

    private void end(SinkTask task) {
        ended.add(task);
        wakeup.run();
    }

    /**
     * Lets what is being sent end, within the time limit: an upload that a sink does not take stays
     * in its thread, its connection open, until the process ends. Closes the sink.
     */
    @Override
    public void close() {
        tasks.add(LAST);
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(closeTimeoutMs);
        try {
            for (Thread thread : threads) {
                long left = Math.max(1, deadlineNs - System.nanoTime());
                TimeUnit.NANOSECONDS.timedJoin(thread, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sink.close();
    }
}
