package dev.verbena.savime.server;

import dev.verbena.savime.forward.ForwardTask;
import dev.verbena.savime.server.ServerCounts.Count;
import dev.verbena.savime.server.ServerCounts.Step;
import dev.verbena.savime.wire.DatasetState;
import dev.verbena.savime.wire.StgFlags;
import dev.verbena.savime.wire.StgFlyweight;
import dev.verbena.savime.wire.StgStatus;
import dev.verbena.staging.forward.Senders;
import dev.verbena.staging.forward.SinkTask;
import dev.verbena.staging.sink.StagedArrays;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.NanoClock;

/**
 * The queue to the sink (specification, section 5.5): datasets in the order in which they were
 * complete, and ordered commands behind all that their session sent before. A sink that cannot be
 * reached holds all of it; what a sink refuses is not tried again.
 */
final class Forwarding {
    private static final int COMMANDS_MAX = 4096;

    private final ServerSettings settings;
    private final NanoClock clock;
    private final Registry registry;
    private final Ends ends;
    private final StorageJobs jobs;
    private final ServerCounts counts;
    private final Commands commands = new Commands();
    private final Senders senders;
    private final StagedArrays arrays;
    private final List<Entry> queue = new ArrayList<>();
    private long retryNs;
    private long backOffNs;
    private boolean isHeld;
    private boolean isStopping;

    /** A dataset or a command. */
    private static final class Entry {
        private final Session session;
        private final Dataset dataset;
        private final Connection connection;
        private final long request;
        private final long number;
        private final boolean isImmediate;
        private final boolean isEvenIfFailed;
        private final boolean isBehindFailed;
        private final boolean isFailureKnown;
        private String text;
        private boolean isSending;
        private long waitNs;
        private long notBeforeNs = Long.MIN_VALUE;

        Entry(Dataset dataset) {
            this(dataset.session, dataset, null, 0, null, 0, 0);
        }

        Entry(
                Session session,
                Dataset dataset,
                Connection connection,
                long request,
                String text,
                long number,
                int flags) {
            this.session = session;
            this.dataset = dataset;
            this.connection = connection;
            this.request = request;
            this.text = text;
            this.number = number;
            this.isImmediate = (flags & StgFlags.FLAG_IMMEDIATE) != 0;
            this.isEvenIfFailed = (flags & StgFlags.FLAG_EVEN_IF_FAILED) != 0;
            this.isBehindFailed = (flags & StgFlags.FLAG_BEHIND_FAILED) != 0;
            this.isFailureKnown = (flags & StgFlags.FLAG_FAILURES_KNOWN) != 0;
        }

        void sending(boolean is) {
            isSending = is;
        }

        void text(String read) {
            text = read;
        }

        /** Names of datasets before it that failed and whose failure counts; empty: none. */
        String takeFailed() {
            String failed = isImmediate ? "" : session.takeFailed(number);
            return isFailureKnown ? "" : failed;
        }

        /** It alone cannot be sent now; true: that is new. */
        boolean postpone(long nowNs, ServerSettings settings) {
            boolean isNew = waitNs == 0;
            waitNs = isNew ? settings.retryFirstNs() : 2 * waitNs;
            waitNs = Math.min(waitNs, settings.retryLastNs());
            notBeforeNs = nowNs + waitNs;
            return isNew;
        }
    }

    Forwarding(
            ServerSettings settings,
            Registry registry,
            Ends ends,
            StorageJobs jobs,
            ServerCounts counts,
            Senders senders,
            StagedArrays arrays) {
        this.settings = settings;
        this.clock = settings.environment().nanoClock();
        this.registry = registry;
        this.ends = ends;
        this.jobs = jobs;
        this.counts = counts;
        this.senders = senders;
        this.arrays = arrays;
        this.backOffNs = settings.retryFirstNs();
    }

    /** No further task is given to a sender. */
    void stop() {
        isStopping = true;
    }

    /** A dataset is complete. */
    void add(Dataset dataset) {
        if (dataset.meta.type().equals(Openings.COMMAND)) {
            return; // The text of a command, which RUN names.
        }
        int at = queue.size();
        while (at > 0 && isLater(queue.get(at - 1), dataset)) {
            at--;
        }
        queue.add(at, new Entry(dataset));
        arrays.arrived(dataset.meta.toSink(dataset.isRepeated), dataset.file.data());
    }

    private static boolean isLater(Entry entry, Dataset than) {
        return entry.dataset != null && entry.dataset.meta.syncedOrder() > than.meta.syncedOrder();
    }

    // ---- commands

    void onRun(Connection by, StgFlyweight message) {
        long number = by.session.nextCommand();
        if ((message.flags() & StgFlags.FLAG_TEXT_IS_DATASET) == 0) {
            run(by, message, number, message.runText());
            return;
        }
        Dataset text = registry.text(by.session, message.textDatasetId());
        if (text == null) {
            commands.answer(by, message.request(), StgStatus.NO_SUCH_DATASET, "");
            return;
        }
        // It has its place already: a later command does not overtake it.
        Entry entry = run(by, message, number, null);
        String[] read = new String[1];
        jobs.submit(
                text.file.isInMemory(),
                () -> read[0] = text.file.text(),
                failure -> {
                    ends.remove(text, DatasetState.FORWARDED);
                    if (failure == null) {
                        entry.text(read[0]);
                    } else if (queue.remove(entry)) {
                        commands.answer(by, entry.request, StgStatus.IO_ERROR, "");
                    }
                });
    }

    /** Queues a command, unless there are too many; its text may come later. */
    private Entry run(Connection by, StgFlyweight message, long number, String text) {
        Entry entry =
                new Entry(by.session, null, by, message.request(), text, number, message.flags());
        if (queue.size() - registry.datasetCount() >= COMMANDS_MAX) {
            commands.answer(by, message.request(), StgStatus.TOO_MANY, "");
        } else {
            queue.add(entry);
        }
        return entry;
    }

    /** A client is gone: nobody waits for its commands. */
    void lost(Connection connection) {
        boolean isOver = connection.session != null && connection.session.connection() == null;
        queue.removeIf(
                entry ->
                        isOver
                                && entry.dataset == null
                                && entry.session == connection.session
                                && !entry.isSending);
    }

    // ---- sending

    /** Takes results, gives senders what is next; work done. */
    int doWork() {
        int work = senders.poll(this::ended) + commands.doWork();
        long now = clock.nanoTime();
        boolean isDue = !isHeld || now - retryNs >= 0 && senders.inFlight() == 0;
        if (!isStopping && isDue) {
            work += sendNext();
        }
        counts.set(Count.QUEUED, queue.size());
        counts.set(Count.FORWARDING, senders.inFlight());
        return work;
    }

    private int sendNext() {
        int work = 0;
        while (senders.hasRoom()) {
            Entry next = next();
            if (next == null) {
                return work;
            }
            work++;
            if (next.dataset == null) {
                runNow(next);
            } else {
                send(next);
            }
            if (isHeld) {
                return work; // One try shows whether the sink is back.
            }
        }
        return work;
    }

    /** The first that may be sent; commands that need not wait for data come first. */
    private Entry next() {
        for (Entry entry : queue) {
            boolean isRead = entry.dataset != null || entry.text != null;
            if (entry.isImmediate && isRead && !entry.isSending) {
                return entry;
            }
        }
        long now = clock.nanoTime();
        for (int i = 0; i < queue.size(); i++) {
            Entry entry = queue.get(i);
            boolean isFree =
                    entry.dataset == null
                            ? entry.text != null && isFirstOfSession(i)
                            : entry.dataset.isWaiting();
            if (!entry.isSending && isFree && now >= entry.notBeforeNs) {
                return entry;
            }
        }
        return null;
    }

    private boolean isFirstOfSession(int index) {
        for (int i = 0; i < index; i++) {
            Entry before = queue.get(i);
            if (before.session == queue.get(index).session && !before.isImmediate) {
                return false;
            }
        }
        return true;
    }

    private void send(Entry entry) {
        Dataset dataset = entry.dataset;
        entry.sending(true);
        dataset.state(DatasetState.FORWARDING);
        senders.submit(ForwardTask.dataset(entry, dataset.file, dataset.meta, dataset.isRepeated));
    }

    private void runNow(Entry entry) {
        String failed = entry.takeFailed();
        boolean isBehindFailed = entry.isBehindFailed || !failed.isEmpty();
        if (isBehindFailed && !entry.isEvenIfFailed) {
            queue.remove(entry);
            commands.answer(entry.connection, entry.request, StgStatus.PREDECESSOR_FAILED, failed);
            return;
        }
        entry.sending(true);
        senders.submit(ForwardTask.command(entry, entry.text));
    }

    private void ended(SinkTask task) {
        Entry entry = (Entry) task.owner();
        entry.sending(false);
        if (task.result() == SinkTask.Result.NOT_BEGUN) {
            notBegun(entry, task.text());
            return;
        }
        boolean isReached =
                task.result() == SinkTask.Result.OK || task.result() == SinkTask.Result.REJECTED;
        if (isReached) {
            isHeld = false;
            backOffNs = settings.retryFirstNs();
        } else {
            hold();
        }
        if (entry.dataset == null) {
            commandEnded(entry, task);
        } else {
            datasetEnded(entry, task);
        }
    }

    /** Its meta file could not be written: it is tried again, others go on. */
    private void notBegun(Entry entry, String why) {
        entry.dataset.state(DatasetState.HELD);
        if (entry.postpone(clock.nanoTime(), settings)) {
            String text =
                    "dataset %s waits, as its meta file cannot be written: %s; make room there"
                            .formatted(entry.dataset.name(), why);
            settings.environment().errorHandler().onError(new IllegalStateException(text));
        }
    }

    private void hold() {
        long now = clock.nanoTime();
        counts.add(Count.RETRIES, 1);
        if (isHeld && retryNs - now > 0) {
            return; // Another sender has found the same.
        }
        isHeld = true;
        retryNs = now + backOffNs;
        backOffNs = Math.min(2 * backOffNs, settings.retryLastNs());
    }

    private void commandEnded(Entry entry, SinkTask task) {
        boolean mayHaveRun = task.result() == SinkTask.Result.UNKNOWN;
        if (task.result() == SinkTask.Result.UNREACHABLE && !entry.isImmediate) {
            return; // It stays in the queue.
        }
        queue.remove(entry);
        int status =
                switch (task.result()) {
                    case OK -> StgStatus.OK;
                    case REJECTED -> StgStatus.SINK_REJECTED;
                    default -> StgStatus.SINK_DOWN;
                };
        String text = mayHaveRun ? "it may have run: " + task.text() : task.text();
        commands.answer(entry.connection, entry.request, status, text);
    }

    private void datasetEnded(Entry entry, SinkTask task) {
        Dataset dataset = entry.dataset;
        switch (task.result()) {
            case OK -> {
                queue.remove(entry);
                counts.add(Count.DATASETS_OUT, 1);
                counts.add(Count.BYTES_OUT, dataset.length());
                if (dataset.doneNs != 0) {
                    counts.took(Step.FORWARD, clock.nanoTime() - dataset.doneNs);
                }
                dataset.session.forwarded(dataset.length());
                ends.remove(dataset, DatasetState.FORWARDED);
            }
            case REJECTED -> {
                queue.remove(entry);
                refused(dataset, task.text());
            }
            case UNKNOWN -> {
                dataset.repeated();
                dataset.state(DatasetState.HELD);
            }
            default -> dataset.state(DatasetState.HELD);
        }
    }

    private void refused(Dataset dataset, String text) {
        counts.add(Count.REFUSED, 1);
        dataset.failed();
        dataset.state(DatasetState.FAILED);
        dataset.ended(clock.nanoTime());
        ends.tell(dataset, text);
        dataset.jobs(1);
        jobs.submit(
                dataset.file.isInMemory(),
                () -> dataset.file.writeMeta(dataset.meta.in(DatasetState.FAILED)),
                failure -> dataset.jobs(-1));
    }

    /** Removes what was refused long ago, and queue entries whose dataset was replaced. */
    int expire(long nowNs) {
        queue.removeIf(
                entry -> entry.dataset != null && entry.dataset.state == DatasetState.ABORTED);
        int work = 0;
        for (Dataset dataset : registry.all()) {
            boolean isOld =
                    dataset.state == DatasetState.FAILED
                            && !dataset.hasJobs()
                            && nowNs - dataset.endedNs - settings.keepFailedNs() >= 0;
            if (isOld) {
                work++;
                ends.remove(dataset, DatasetState.FAILED);
            }
        }
        return work;
    }

    /** Datasets and commands that wait. */
    int queued() {
        return queue.size();
    }

    /** Tries that are under way. */
    int sending() {
        return senders.inFlight();
    }

    /** When something is due although nothing happens. */
    long nextDeadlineNs() {
        long next = Long.MAX_VALUE;
        for (int i = 0; i < queue.size() && isHeld && next > retryNs; i++) {
            next = Math.min(next, Math.max(retryNs, queue.get(i).notBeforeNs));
        }
        return next;
    }
}
