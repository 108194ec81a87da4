package dev.verbena.savime.client;

import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Tasks in the order in which they were queued, and datasets that a server has and the sink has
 * not. Thread-safe.
 */
public final class TaskQueue {
    private final int serverCount;
    private final int engineCount;
    private final Runnable changed;
    private final ArrayDeque<Task> waiting = new ArrayDeque<>();
    private final TreeSet<Long> pending = new TreeSet<>();
    private final TreeSet<Long> uploads = new TreeSet<>();
    private final Map<String, Owed> owed = new HashMap<>();
    private final List<String> failures = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();
    private long lastSequence;
    private long queuedBytes;
    private int downCount;
    private boolean isClosed;

    private record Owed(String server, long id, String name) {}

    /**
     * @param engineCount engines that take tasks
     * @param changed called when something changed that callers may wait for
     */
    public TaskQueue(int serverCount, int engineCount, Runnable changed) {
        this.serverCount = serverCount;
        this.engineCount = engineCount;
        this.changed = changed;
    }

    /**
     * Queues a task; its place in the order.
     *
     * @throws IllegalStateException after close
     */
    public synchronized long add(Task task) {
        if (isClosed) {
            throw new IllegalStateException("closed: staging server");
        }
        task.number(++lastSequence);
        pending.add(lastSequence);
        if (task instanceof Upload upload) {
            queuedBytes += upload.length();
            uploads.add(lastSequence);
        }
        boolean isFirst =
                task instanceof RunCommand run && (run.flags() & StgFlags.FLAG_IMMEDIATE) != 0;
        if (isFirst) {
            waiting.addFirst(task);
        } else {
            waiting.add(task);
        }
        return lastSequence;
    }

    /** Bytes of datasets that are not done. */
    public synchronized long queuedBytes() {
        return queuedBytes;
    }

    /** The place that was given last. */
    public synchronized long lastSequence() {
        return lastSequence;
    }

    /** Takes the next task; null: there is none, or it has to wait for those before it. */
    synchronized Task take() {
        Task next = waiting.peek();
        if (next instanceof RunCommand run && (run.flags() & StgFlags.FLAG_IMMEDIATE) == 0) {
            // One connection keeps the order of commands, several do not.
            TreeSet<Long> before = engineCount == 1 ? uploads : pending;
            boolean isBehind = !before.isEmpty() && before.first() < next.sequence();
            if (isBehind || serverCount > 1 && !owed.isEmpty()) {
                return null;
            }
        }
        return waiting.poll();
    }

    /** A task goes on elsewhere or later, before all others. */
    synchronized void putBack(Task task) {
        waiting.addFirst(task);
    }

    /** A task has ended; its owner is notified. */
    void ended(Task task, int status, String text) {
        // Its owner first: who waits finds the result.
        task.end(status, text);
        synchronized (this) {
            pending.remove(task.sequence());
            if (task instanceof Upload upload) {
                queuedBytes -= upload.length();
                uploads.remove(task.sequence());
                if (status != StgStatus.OK) {
                    failures.add(task.what() + ": " + StgStatus.name(status));
                }
            }
        }
        changed.run();
    }

    /** Whether every task up to this place has ended. */
    public synchronized boolean isDoneUpTo(long sequence) {
        return pending.isEmpty() || pending.first() > sequence;
    }

    /** Datasets that failed since this was asked last, each with its status. */
    public synchronized List<String> takeFailures() {
        List<String> taken = new ArrayList<>(failures);
        failures.clear();
        return taken;
    }

    // ---- what the sink has not yet

    /** A server has it, and the sink has not. */
    synchronized void owe(String server, long id, String name) {
        owed.put(server + " " + id, new Owed(server, id, name));
    }

    /** The sink has it, or never will: then why. */
    void paid(String server, long id, String failure) {
        synchronized (this) {
            Owed was = owed.remove(server + " " + id);
            if (was != null && !failure.isEmpty()) {
                lost.add(was.name + ": " + failure);
            }
        }
        changed.run();
    }

    /** Numbers of the datasets that this server has not handed over. */
    synchronized long[] owedBy(String server) {
        return owed.values().stream()
                .filter(each -> each.server.equals(server))
                .mapToLong(Owed::id)
                .toArray();
    }

    /** Whether the sink has all that servers took, or never will have it. */
    public synchronized boolean isDrained() {
        return owed.isEmpty();
    }

    /** Datasets that never reached the sink, with the reason, since this was asked last. */
    public synchronized List<String> takeLost() {
        List<String> taken = new ArrayList<>(lost);
        lost.clear();
        return taken;
    }

    /** A server cannot be reached: what it had is reported; tasks fail when there is no other. */
    void down(String server, String why) {
        for (long id : owedBy(server)) {
            paid(server, id, StgStatus.name(StgStatus.SERVER_LOST) + ", " + why);
        }
        synchronized (this) {
            downCount++;
        }
        failIfAllDown(why);
    }

    /** A server is back. */
    synchronized void up() {
        downCount--;
    }

    /** Tasks that nobody will take fail. */
    void failIfAllDown(String why) {
        List<Task> failed;
        synchronized (this) {
            if (downCount < engineCount) {
                return;
            }
            failed = new ArrayList<>(waiting);
            waiting.clear();
        }
        for (Task each : failed) {
            ended(each, StgStatus.SERVER_LOST, why);
        }
    }

    /** Takes no more; what waits fails. */
    public void close() {
        List<Task> failed;
        synchronized (this) {
            isClosed = true;
            failed = new ArrayList<>(waiting);
            waiting.clear();
        }
        for (Task each : failed) {
            ended(each, StgStatus.CANCELLED, "the client was closed");
        }
    }
}
