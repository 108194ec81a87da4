package dev.verbena.dart.store;

import dev.verbena.agent.DurableStore;
import dev.verbena.dart.DartException.Code;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.agrona.ErrorHandler;

/**
 * Takes up what an earlier receiver of the same directory left: its streams, its half-written
 * files, files that were about to get their name. Deletes leftovers that nobody will go on with.
 * Used once, before a receiver listens; reads files, and may take as long as that takes.
 */
public final class ReceiverRecovery {
    private final MessageFiles files;
    private final ErrorHandler errorHandler;
    private List<RankEntry> processes = List.of();
    private boolean hasFile;
    private int lostCount;

    public ReceiverRecovery(MessageFiles files, ErrorHandler errorHandler) {
        this.files = files;
        this.errorHandler = errorHandler;
    }

    /** Messages that were begun and cannot be gone on with. */
    public int lostCount() {
        return lostCount;
    }

    /**
     * The journal that goes on.
     *
     * @param ranks what it remembers of processes, live
     */
    public ReceiverJournal journal(long nowNs, Collection<RankEntry> ranks) {
        return new ReceiverJournal(files.store(), errorHandler, ranks, nowNs, hasFile);
    }

    /** What is known of processes. */
    public List<RankEntry> processes() {
        return processes;
    }

    public List<InboundStream> recover() {
        JournalReader reader = new JournalReader();
        try (DurableStore.ReadableFile file = files.store().read(ReceiverJournal.NAME)) {
            if (file != null) {
                hasFile = true;
                reader.read(file);
            }
        }
        if (!reader.damage().isEmpty()) {
            report("receiver's state: " + reader.damage() + "; going on with what is before it");
        }
        if (reader.forgottenCount() > 0) {
            report(
                    ("receiver's state: %s lost processes are more than can be remembered; "
                                    + "nobody is notified of them")
                            .formatted(reader.forgottenCount()));
        }
        List<InboundStream> streams = new ArrayList<>(reader.streams());
        boolean isOver = streams.stream().allMatch(stream -> stream.isFinished);
        Set<String> wanted = new HashSet<>();
        for (InboundMessage message : reader.messages()) {
            resume(streams, reader.streamOf(message), message, wanted);
        }
        files.deleteLeftovers(wanted);
        if (isOver && wanted.isEmpty()) {
            // Every server had finished: the next ones have nothing to do with them.
            streams.clear();
        }
        processes = reader.processes();
        if (streams.isEmpty()) {
            // Nobody will say more of these; the user has still to hear of some.
            processes.removeIf(entry -> entry.state() != RankEntry.LOST);
        }
        return streams;
    }

    private void resume(
            List<InboundStream> streams,
            InboundStream stream,
            InboundMessage message,
            Set<String> wanted) {
        if (isDeliveredElsewhere(streams, stream, message)) {
            stream.neverAgain(message.clientId, message.sequence);
            return;
        }
        if (files.isToComeAgain(message)) {
            // Should this receiver die before its own journal is there, the next one asks too.
            wanted.add(message.temporaryName);
            files.denied(message.temporaryName);
            return;
        }
        if (files.isTooLong(message)) {
            // Nothing was changed yet; to go on without it would lose what was acknowledged of it.
            throw Code.TOO_LONG.because(
                    "an earlier receiver of this directory has begun %s with %s bytes: start with "
                            + "a messageLengthMax that is not below that, or without a handler",
                    message, message.metadata.payloadLength());
        }
        String whyNot = files.resume(message);
        if (whyNot.isEmpty()) {
            if (message.state == InboundMessage.RECEIVING) {
                stream.open.put(message.clientId, message);
            } else {
                message.takeChecksum();
                stream.storing(message);
            }
            wanted.add(message.temporaryName);
            // With a sink that is a name of the receiver's own.
            wanted.add(message.fileName);
            return;
        }
        if (message.state == InboundMessage.RENAMED) {
            // It was stored and somebody took it: there is nothing left to do.
            stream.neverAgain(message.clientId, message.sequence);
            return;
        }
        lostCount++;
        report("%s, half received before, is lost: %s".formatted(message, whyNot));
    }

    /** Its process was moved, and the message came whole through another server. */
    private static boolean isDeliveredElsewhere(
            List<InboundStream> streams, InboundStream stream, InboundMessage message) {
        for (InboundStream other : streams) {
            if (other != stream
                    && other.job.equals(stream.job)
                    && other.hasDelivered(message.clientId, message.sequence)) {
                return true;
            }
        }
        return false;
    }

    private void report(String what) {
        errorHandler.onError(Code.TRANSFER_FAILED.because(what));
    }
}
