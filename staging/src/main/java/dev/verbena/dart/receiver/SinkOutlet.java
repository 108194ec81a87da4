package dev.verbena.dart.receiver;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.ReadableFile;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.SinkStatistics;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.staging.CounterMirror;
import dev.verbena.staging.Counters;
import dev.verbena.staging.forward.FileTransfers;
import dev.verbena.staging.forward.SenderPool;
import dev.verbena.staging.forward.SinkTask;
import dev.verbena.staging.sink.SinkDataset;
import java.io.UncheckedIOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * Hands complete messages to a sink, from their files, in the order in which they were complete. A
 * message is settled, and so confirmed to its sender, when the sink has it; then its file goes. One
 * that the sink refuses is settled as a file of the directory, under a name that its sender knows.
 * While the sink cannot be reached all wait, in their files and, not confirmed, with the servers.
 * One whose file somebody took away is lost after a while, and the others of its step are not.
 *
 * <p>A receiver that is killed may have handed over messages that are not settled: they come again,
 * and the sink knows them by their names. Owned by the receiver's agent; anybody may read the
 * counts.
 */
final class SinkOutlet {
    private static final long RETRY_FIRST_NS = 200_000_000L;
    private static final long RETRY_LAST_NS = 30_000_000_000L;
    private static final long CLOSE_MS = 5_000;

    /** A file that was gone for so long comes no more. */
    private static final long GONE_NS = 600_000_000_000L;

    private final ReceiverShared shared;
    private final SenderPool senders;
    private final Consumer<InboundMessage> refused;
    private final ArrayDeque<List<InboundMessage>> waiting = new ArrayDeque<>();
    private final List<Refusal> refusals = new ArrayList<>();
    private final List<Twin> twins = new ArrayList<>();

    /** Messages of the step that is just being let go; null: none. */
    private List<InboundMessage> step;

    private boolean isDown;
    private long retryNs;
    private long backOffNs = RETRY_FIRST_NS;

    /** Whose files cannot be read now. */
    private final List<List<InboundMessage>> unreadable = new ArrayList<>();

    /** Since when, by the first of those that are handed over at once; until it is settled. */
    private final IdentityHashMap<InboundMessage, Long> unreadableSince = new IdentityHashMap<>();

    private long unreadableNs;
    private long unreadableBackOffNs = RETRY_FIRST_NS;

    private final AtomicLong deliveredCount = new AtomicLong();
    private final AtomicLong refusedCount = new AtomicLong();
    private final AtomicLong waitingCount = new AtomicLong();
    private final AtomicLong retryCount = new AtomicLong();

    /** A message whose file gets a name that is to stay. */
    private record Refusal(InboundMessage message, Completion rename, String text) {}

    /** The same message, through another server: it is settled with the first. */
    private record Twin(InboundMessage first, InboundMessage second) {}

    /** What is handed over at once. */
    private record Group(List<InboundMessage> messages) {}

    /**
     * @param refused told of messages whose files stay, and have their names
     */
    SinkOutlet(ReceiverShared shared, Consumer<InboundMessage> refused) {
        this.shared = shared;
        this.refused = refused;
        this.senders =
                new SenderPool(shared.settings.sink(), shared.settings.sinkSenders(), CLOSE_MS);
    }

    void onReady(Runnable wakeup) {
        senders.onReady(wakeup);
    }

    void show(CounterMirror mirror) {
        mirror.show("in the sink", deliveredCount)
                .show("refused by the sink", refusedCount)
                .show("waiting for the sink", waitingCount)
                .show("tries without a sink", retryCount);
    }

    SinkStatistics statistics() {
        return new SinkStatistics(
                deliveredCount.get(), refusedCount.get(), waitingCount.get(), retryCount.get());
    }

    /** A message has its file. */
    void add(InboundMessage message) {
        List<InboundMessage> alone = new ArrayList<>(1);
        alone.add(message);
        waiting.add(alone);
        Counters.add(waitingCount, 1);
    }

    /** A step lets a message go; those of one step follow each other, and stay together. */
    void addOfStep(InboundMessage message) {
        if (step == null || !isSameStep(step.get(0), message)) {
            add(message);
            step = waiting.peekLast();
        } else {
            step.add(message);
            Counters.add(waitingCount, 1);
        }
    }

    private static boolean isSameStep(InboundMessage one, InboundMessage other) {
        return one.metadata().step() == other.metadata().step()
                && one.metadata().applicationId() == other.metadata().applicationId()
                && one.job().equals(other.job());
    }

    /** The same message came through another server; the first one is still to be settled. */
    void follow(InboundMessage first, InboundMessage second) {
        twins.add(new Twin(first, second));
    }

    int doWork(long now) {
        step = null;
        int work = senders.poll(this::ended) + checkRefusals();
        tryAgain(now);
        boolean isDue = !isDown || now - retryNs >= 0 && senders.inFlight() == 0;
        while (isDue && senders.hasRoom() && !waiting.isEmpty()) {
            submit(waiting.poll());
            work++;
            isDue = !isDown; // One try shows whether the sink is back.
        }
        return work;
    }

    /** When the sink is tried again. */
    long nextDeadlineNs() {
        long next = unreadable.isEmpty() ? ProtocolAgent.NO_DEADLINE : unreadableNs;
        return isDown && !waiting.isEmpty() ? Math.min(next, retryNs) : next;
    }

    private void submit(List<InboundMessage> messages) {
        List<InboundMessage> sent = new ArrayList<>(messages.size());
        List<String> files = new ArrayList<>(messages.size());
        List<SinkDataset> datasets = new ArrayList<>(messages.size());
        for (InboundMessage message : messages) {
            try {
                if (message.isCorrupt()) {
                    throw new IllegalArgumentException("it is damaged");
                }
                datasets.add(MessagePieces.dataset(message));
                files.add(message.fileName());
                sent.add(message);
            } catch (IllegalArgumentException e) {
                refuse(message, e.getMessage());
            }
        }
        if (!sent.isEmpty()) {
            String folder = shared.settings.directory();
            senders.submit(new FileTransfers(new Group(sent), folder, files, datasets));
        }
    }

    private void ended(SinkTask task) {
        List<InboundMessage> messages = ((Group) task.owner()).messages();
        switch (task.result()) {
            case OK -> {
                reached();
                messages.forEach(this::delivered);
            }
            case REJECTED -> {
                reached();
                rejected(messages, task.text());
            }
            case NOT_BEGUN ->
                    unreadable(
                            messages, "a stored message cannot be read, and waits: " + task.text());
            default -> {
                waiting.addFirst(messages);
                hold("the sink does not take messages, which wait: " + task.text());
            }
        }
    }

    /** The sink may well be there: the others go on. */
    private void unreadable(List<InboundMessage> messages, String text) {
        long now = shared.clock.nanoTime();
        Long since = unreadableSince.get(messages.get(0));
        if (since != null && now - since - GONE_NS >= 0 && shared.files.isThere()) {
            messages.removeIf(this::isGivenUp);
        }
        if (messages.isEmpty()) {
            return;
        }
        shared.report(Code.TRANSFER_FAILED.because(text));
        unreadableSince.putIfAbsent(messages.get(0), now);
        if (unreadable.isEmpty()) {
            unreadableNs = now + unreadableBackOffNs;
            unreadableBackOffNs = Math.min(2 * unreadableBackOffNs, RETRY_LAST_NS);
        }
        unreadable.add(messages);
    }

    /** Gives it up if its file is gone, or too short for any sink; whether it did. */
    private boolean isGivenUp(InboundMessage message) {
        try (ReadableFile file = shared.files.store().read(message.fileName())) {
            long length = message.metadata().payloadLength();
            if (file == null) {
                lost(message);
            } else if (file.length() < length) {
                refuse(message, "its file has " + file.length() + " bytes instead of " + length);
            }
            return file == null || file.length() < length;
        } catch (UncheckedIOException e) {
            return false;
        }
    }

    private void lost(InboundMessage message) {
        shared.report(
                Code.TRANSFER_FAILED.because(
                        "%s is lost: its file %s is gone", message, message.fileName()));
        Counters.add(shared.abandoned, 1);
        settle(message);
    }

    private void tryAgain(long now) {
        if (!unreadable.isEmpty() && now - unreadableNs >= 0) {
            waiting.addAll(unreadable);
            unreadable.clear();
        }
    }

    private void reached() {
        isDown = false;
        backOffNs = RETRY_FIRST_NS;
    }

    private void hold(String why) {
        long now = shared.clock.nanoTime();
        Counters.add(retryCount, 1);
        if (!isDown) {
            shared.report(Code.TRANSFER_FAILED.because(why));
        } else if (retryNs - now > 0) {
            return; // Another sender has found the same.
        }
        isDown = true;
        retryNs = now + backOffNs;
        backOffNs = Math.min(2 * backOffNs, RETRY_LAST_NS);
    }

    private void delivered(InboundMessage message) {
        shared.files.store().delete(message.fileName());
        Counters.add(deliveredCount, 1);
        settle(message);
    }

    /** Of several, those are found that the sink takes. */
    private void rejected(List<InboundMessage> messages, String text) {
        if (messages.size() == 1) {
            refuse(messages.get(0), text);
            return;
        }
        for (int i = messages.size() - 1; i >= 0; i--) {
            waiting.addFirst(new ArrayList<>(List.of(messages.get(i))));
        }
    }

    private void refuse(InboundMessage message, String why) {
        String name = shared.files.refusedName(message);
        message.movedTo(name);
        String text =
                "%s is not taken by the sink, and stays as '%s': %s".formatted(message, name, why);
        refusals.add(new Refusal(message, rename(message, name), text));
    }

    private Completion rename(InboundMessage message, String name) {
        return shared.files.store().rename(message.fileName(), name);
    }

    private int checkRefusals() {
        int work = 0;
        for (int i = refusals.size() - 1; i >= 0; i--) {
            Refusal refusal = refusals.get(i);
            if (!refusal.rename().isDone()) {
                continue;
            }
            work++;
            refusals.remove(i);
            String error = refusal.rename().error();
            if (error.isEmpty()) {
                stays(refusal);
            } else {
                // It stays unconfirmed, and the sink is asked once more.
                unreadable(
                        new ArrayList<>(List.of(refusal.message())),
                        "a refused message keeps its name, and waits: " + error);
            }
        }
        return work;
    }

    private void stays(Refusal refusal) {
        shared.report(Code.TRANSFER_FAILED.because(refusal.text()));
        Counters.add(refusedCount, 1);
        refused.accept(refusal.message());
        settle(refusal.message());
    }

    private void settle(InboundMessage message) {
        Counters.add(waitingCount, -1);
        for (int i = twins.size() - 1; i >= 0; i--) {
            if (twins.get(i).first() == message) {
                shared.letGo(twins.remove(i).second());
            }
        }
        shared.letGo(message);
        if (unreadableSince.remove(message) != null && unreadableSince.isEmpty()) {
            unreadableBackOffNs = RETRY_FIRST_NS;
        }
    }

    /** Waits for what is being handed over, for 5 s at most, and closes the sink. */
    void close() {
        senders.close();
        senders.poll(this::ended);
    }
}
