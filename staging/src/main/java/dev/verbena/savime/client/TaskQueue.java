package dev.verbena.savime.client;

import dev.verbena.savime.wire.StgStatus;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Tasks in the order in which they were queued, and datasets that a server has and the sink has
 * not. Thread-safe.
 */
public final class TaskQueue {
    /** Failed datasets that are remembered for the commands behind them. */
    private static final int FAILED_MAX = 1024;

    private final int serverCount;
    private final int engineCount;
    private final Runnable changed;
    private final ArrayDeque<Task> waiting = new ArrayDeque<>();
    private final TreeSet<Long> pending = new TreeSet<>();
    private final TreeSet<Long> uploads = new TreeSet<>();
    private final Map<String, Owed> owed = new HashMap<>();

    /** Datasets that took, or are to take, the place of another one at their server. */
    private final Map<String, Upload> replacing = new HashMap<>();

    private final List<String> failures = new ArrayList<>();
    private final List<String> lost = new ArrayList<>();

    /** Datasets of whose failure the server of a command behind them may not know any more. */
    private final List<Upload> failed = new ArrayList<>();

    /** Engines of a server that cannot reach it. */
    private final Map<String, Integer> down = new HashMap<>();

    /** Servers that may have told of datasets on a connection that was lost. */
    private final Set<String> toAsk = new HashSet<>();

    /** Texts that servers may have of commands that will not be sent. */
    private final List<Owed> unsent = new ArrayList<>();

    private long lastSequence;
    private long queuedBytes;
    private int downCount;
    private boolean isClosed;

    /**
     * @param replacedBy a later dataset of this client that is to take its place; null: none
     */
    private record Owed(String server, Upload upload, Upload replacedBy) {}

    /**
     * @param engineCount engines that take tasks, as many for each server
     * @param changed called when something changed that callers may wait for
     */
    public TaskQueue(int serverCount, int engineCount, Runnable changed) {
        this.serverCount = serverCount;
        this.engineCount = engineCount;
        this.changed = changed;
    }

    /**
     * Queues a task, and before it the dataset that is its text; its place in the order.
     *
     * @throws IllegalStateException after close
     */
    public synchronized long add(Task task) {
        if (isClosed) {
            throw new IllegalStateException("closed: staging server");
        }
        RunCommand run = task instanceof RunCommand command ? command : null;
        if (run != null && run.textDataset() != null) {
            add(run.textDataset());
        }
        task.number(++lastSequence);
        pending.add(lastSequence);
        if (task instanceof Upload upload) {
            queuedBytes += upload.length();
            uploads.add(lastSequence);
        }
        if (run != null && run.isImmediate()) {
            waiting.addFirst(task);
            if (waiting.remove(run.textDataset())) {
                waiting.addFirst(run.textDataset());
            }
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

    /** Takes the next task for a server; null: there is none, or it has to wait. */
    synchronized Task take(String server) {
        Task next = waiting.peek();
        if (next instanceof RunCommand run && (mustWait(run) || !isFor(server, run))) {
            return null;
        }
        if (next instanceof Upload upload && upload.isReplacing()) {
            replacing.put(server + " " + upload.givenName(), upload);
            owed.replaceAll((key, each) -> each.replacedBy == null ? owed(each) : each);
        }
        return waiting.poll();
    }

    private boolean mustWait(RunCommand run) {
        Upload text = run.textDataset();
        if (run.isImmediate()) {
            return text != null && uploads.contains(text.sequence());
        }
        // One connection keeps the order of commands, several do not.
        TreeSet<Long> before = engineCount == 1 ? uploads : pending;
        boolean isBehind = !before.isEmpty() && before.first() < run.sequence();
        return isBehind || hasManyServers() && !owed.isEmpty();
    }

    private static boolean isFor(String server, RunCommand run) {
        return run.textDataset() == null || run.textDataset().server().equals(server);
    }

    /** No server then knows of every failure before a command, and the client does. */
    boolean hasManyServers() {
        return serverCount > 1;
    }

    /** Names of the datasets before a command that failed and were not taken yet; empty: none. */
    synchronized String takeFailed(RunCommand command) {
        StringJoiner names = new StringJoiner(", ");
        failed.removeIf(
                each -> {
                    boolean isBefore = each.sequence() < command.sequence();
                    if (isBefore) {
                        names.add(each.givenName());
                    }
                    return isBefore;
                });
        return names.toString();
    }

    /** A task goes on elsewhere or later, before all others. */
    synchronized void putBack(Task task) {
        waiting.addFirst(task);
    }

    /** A task has ended; its owner is notified. */
    void ended(Task task, int status, String text) {
        try {
            // Its owner first: who waits finds the result.
            task.end(status, text);
        } finally {
            settle(task, status, text);
        }
    }

    private void settle(Task task, int status, String text) {
        if (status != StgStatus.OK && task instanceof Upload upload && upload.isText()) {
            commandsOf(upload::equals).forEach(each -> ended(each, status, text));
        }
        synchronized (this) {
            pending.remove(task.sequence());
            if (task instanceof RunCommand run && hasLeftText(run, status)) {
                unsent.add(new Owed(run.textDataset().server(), run.textDataset(), null));
            }
            if (task instanceof Upload upload) {
                queuedBytes -= upload.length();
                uploads.remove(task.sequence());
                if (status != StgStatus.OK) {
                    notReplacing(upload);
                    failures.add(task.what() + ": " + StgStatus.name(status));
                    failedBeforeCommands(upload);
                }
            }
        }
        changed.run();
    }

    /** Whether a server may have the text of a command, and not know that this has ended. */
    private static boolean hasLeftText(RunCommand run, int status) {
        boolean isUntold = status == StgStatus.SERVER_LOST || status == StgStatus.TIMEOUT;
        Upload text = run.textDataset();
        return isUntold && text != null && !text.server().isEmpty();
    }

    private void failedBeforeCommands(Upload upload) {
        if (failed.size() == FAILED_MAX) {
            failed.remove(0);
        }
        if (!upload.isText()) {
            failed.add(upload);
        }
    }

    /** Takes the commands out that wait and whose text is one of these datasets. */
    private synchronized List<Task> commandsOf(Predicate<Upload> isText) {
        List<Task> taken = new ArrayList<>();
        for (Task each : waiting) {
            if (each instanceof RunCommand run
                    && run.textDataset() != null
                    && isText.test(run.textDataset())) {
                taken.add(each);
            }
        }
        waiting.removeAll(taken);
        return taken;
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
    synchronized void owe(String server, Upload upload) {
        owed.put(server + " " + upload.id(), owed(new Owed(server, upload, null)));
    }

    /** With the one that is to take its place as things are. */
    private Owed owed(Owed what) {
        Upload by = replacing.get(what.server + " " + what.upload.givenName());
        boolean isLater = by != null && by.sequence() > what.upload.sequence();
        return new Owed(what.server, what.upload, isLater ? by : null);
    }

    /** It was refused. */
    private void notReplacing(Upload upload) {
        replacing.values().removeIf(upload::equals);
        owed.replaceAll((key, each) -> each.replacedBy == upload ? owed(each) : each);
    }

    /** The sink has it, or never will: then why. */
    void paid(String server, long id, String failure) {
        paid(server, id, failure, false);
    }

    /**
     * Another dataset has its name at the server. If that is a later one of this client no command
     * is between the two: it would have waited for the first, and the other one for it.
     */
    void replaced(String server, long id, String failure) {
        paid(server, id, failure, true);
    }

    private void paid(String server, long id, String failure, boolean isReplaced) {
        synchronized (this) {
            Owed was = owed.remove(server + " " + id);
            if (was != null) {
                replacing.values().removeIf(was.upload::equals);
            }
            if (was != null && !failure.isEmpty()) {
                lost.add(was.upload.givenName() + ": " + failure);
                boolean isOwn = isReplaced && was.replacedBy != null;
                if (hasManyServers() && !isOwn) {
                    failedBeforeCommands(was.upload);
                }
            }
        }
        changed.run();
    }

    /** Numbers of the datasets that this server has not handed over. */
    synchronized long[] owedBy(String server) {
        return owed.values().stream()
                .filter(each -> each.server.equals(server))
                .mapToLong(each -> each.upload.id())
                .toArray();
    }

    /** Numbers of texts that this server may have and no command will name, since the last call. */
    synchronized List<Long> takeUnsent(String server) {
        List<Long> taken = new ArrayList<>();
        unsent.removeIf(each -> each.server.equals(server) && taken.add(each.upload.id()));
        return taken;
    }

    /** Whether to ask this server again how its datasets are; then it is asked. */
    synchronized boolean takeToAsk(String server) {
        return toAsk.remove(server);
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

    /**
     * An engine cannot reach its server. When none can, what the server had is reported; tasks fail
     * when there is no other one.
     */
    void down(String server, String why) {
        synchronized (this) {
            downCount++;
            if (down.merge(server, 1, Integer::sum) < engineCount / serverCount) {
                toAsk.add(server);
                return;
            }
        }
        for (long id : owedBy(server)) {
            paid(server, id, StgStatus.name(StgStatus.SERVER_LOST) + ", " + why);
        }
        for (Task each : commandsOf(text -> text.server().equals(server))) {
            ended(each, StgStatus.SERVER_LOST, why);
        }
        failIfAllDown(why);
    }

    /** An engine has its server back. */
    synchronized void up(String server) {
        downCount--;
        down.merge(server, -1, Integer::sum);
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
