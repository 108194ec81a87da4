package dev.verbena.dart.store;

import dev.verbena.agent.DurableStore;
import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.DartException.Code;
import dev.verbena.staging.DeliveredNumbers;
import dev.verbena.staging.file.AtomicFile;
import java.util.Collection;
import java.util.List;
import org.agrona.ErrorHandler;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;

/**
 * What a receiver must still know when it comes back after a crash: how far each stream is settled,
 * which messages were delivered, which files are half-written, and which were about to get their
 * final name. A file of the receiver's directory, appended to and forced in rounds; what a round
 * holds may be acknowledged when it is on the device. Rewritten when it has grown, under another
 * name which then replaces the first. Records: {@link JournalRecord}. Owned by the receiver's
 * agent.
 */
public final class ReceiverJournal {
    static final String NAME = ".receiving-state";
    private static final String NEXT_NAME = ".receiving-state-next";

    /** The round of what a receiver before this one was told. */
    static final long EARLIER = -1;

    private static final long RETRY_NS = 500_000_000;
    private static final long GROWTH_MAX = 4 * 1024 * 1024;

    private final DurableStore store;
    private final ErrorHandler errorHandler;
    private final Collection<RankEntry> processes;
    private boolean hasFile;
    private final ExpandableArrayBuffer staged = new ExpandableArrayBuffer(4096);
    private final JournalRecord record = new JournalRecord(staged);
    private int stagedLength;
    private final AtomicFile file;

    /** The file is to be written anew, when it is time. */
    private boolean isBroken = true;

    private long rewriteAbove;
    private long retryAtNs;
    private boolean isReported;
    private int lastIndex;

    /** Rounds begun, and rounds that are on the device. */
    private long round = 1;

    private long durableRound;
    private long rewritesBegun;
    private long rewritesDone;

    /**
     * @param processes what is known of processes, live
     * @param hasFile there is a file of an earlier receiver, and what it held is in the streams
     */
    ReceiverJournal(
            DurableStore store,
            ErrorHandler errorHandler,
            Collection<RankEntry> processes,
            long nowNs,
            boolean hasFile) {
        this.processes = processes;
        this.store = store;
        this.file = new AtomicFile(store, NAME, NEXT_NAME);
        this.errorHandler = errorHandler;
        this.retryAtNs = nowNs;
        this.hasFile = hasFile;
        this.durableRound = hasFile ? EARLIER - 1 : 0;
    }

    /**
     * Whether what an earlier receiver left is certainly on the device: it may have been killed
     * before it had forced what was read here. Nothing may follow from that before.
     */
    public boolean isEarlierSafe() {
        return isDurable(EARLIER);
    }

    /** Whether this round is on the device; {@link #EARLIER}: as part of the first of this one. */
    boolean isDurable(long promiseRound) {
        return promiseRound != 0 && durableRound >= promiseRound;
    }

    public int doWork(long nowNs, List<InboundStream> streams) {
        if (isBroken) {
            return isTooEarly(nowNs, streams) ? 0 : rewrite(nowNs, streams);
        }
        if (!file.error().isEmpty()) {
            broken(nowNs, file.error());
            return 1;
        }
        return file.isIdle() ? collect(nowNs, streams) : goOn(nowNs, streams);
    }

    private boolean isTooEarly(long nowNs, List<InboundStream> streams) {
        return nowNs - retryAtNs < 0 || !file.canReplace() || isUseless(streams);
    }

    /** Number of the last rewrite that began; 0: none. */
    long rewritesBegun() {
        return rewritesBegun;
    }

    /** Number of the last rewrite that is on the device under the journal's name. */
    long rewritesDone() {
        return rewritesDone;
    }

    private boolean isUseless(List<InboundStream> streams) {
        return streams.isEmpty() && !hasFile;
    }

    /** The file may be gone or incomplete: writes all of it anew. */
    public void rewriteSoon(long nowNs) {
        if (!isBroken) {
            isBroken = true;
            retryAtNs = nowNs;
        }
    }

    private void broken(long nowNs, String why) {
        if (!isReported) {
            isReported = true;
            errorHandler.onError(
                    Code.TRANSFER_FAILED.because(
                            "receiver's state cannot be written, so nothing is acknowledged: "
                                    + why));
        }
        isBroken = true;
        retryAtNs = nowNs + RETRY_NS;
    }

    // ---- rounds

    private int collect(long nowNs, List<InboundStream> streams) {
        for (int i = 0; i < streams.size(); i++) {
            stage(streams.get(i), false);
        }
        if (stagedLength == 0) {
            return 0;
        }
        if (file.length() > rewriteAbove) {
            return rewrite(nowNs, streams);
        }
        file.append();
        return 1 + goOn(nowNs, streams);
    }

    private int rewrite(long nowNs, List<InboundStream> streams) {
        isBroken = false;
        rewritesBegun++;
        file.replace();
        if (!file.error().isEmpty()) {
            broken(nowNs, file.error());
            return 1;
        }
        stagedLength =
                record.begin(0, JournalRecord.HEADER)
                        .putInt(JournalRecord.MAGIC)
                        .putInt(JournalRecord.VERSION)
                        .end();
        for (int i = 0; i < streams.size(); i++) {
            stage(streams.get(i), true);
        }
        processes.forEach(this::process);
        return 1 + goOn(nowNs, streams);
    }

    private int goOn(long nowNs, List<InboundStream> streams) {
        boolean wasWriting = file.isWriting();
        int work = file.doWork(staged, stagedLength);
        if (!file.error().isEmpty()) {
            broken(nowNs, file.error());
            return 1;
        }
        if (wasWriting && !file.isWriting()) {
            stagedLength = 0;
            round++;
        } else if (file.isIdle()) {
            done(streams);
        }
        return work;
    }

    private void done(List<InboundStream> streams) {
        if (rewritesDone < rewritesBegun) {
            rewritesDone = rewritesBegun;
            hasFile = true;
            isReported = false;
            rewriteAbove = GROWTH_MAX + 4 * file.length();
        }
        durableRound = round - 1;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            stream.journaled(stream.journalingNext);
        }
    }

    // ---- records

    /** Stages what the journal does not know of a stream, or all of it. */
    private void stage(InboundStream stream, boolean isAll) {
        if (isAll || stream.journalIndex == 0) {
            if (stream.journalIndex == 0) {
                stream.indexed(++lastIndex);
            }
            stagedLength =
                    record.begin(stagedLength, JournalRecord.STREAM)
                            .putInt(stream.journalIndex)
                            .putJob(stream.job)
                            .putInt(stream.serverId)
                            .putLong(stream.acknowledgedNext())
                            .end();
        } else if (!stream.isDirty) {
            return;
        }
        stream.unchanged();
        stageMessages(stream, stream.open.values(), isAll);
        stageMessages(stream, stream.storing, isAll);
        if (isAll) {
            stageMessages(stream, stream.delivered, true);
        }
        stageSettled(stream, isAll);
        if (stream.isFinished && isAll) {
            stageFinished(stream);
        }
    }

    private void stageSettled(InboundStream stream, boolean isAll) {
        int count = isAll ? stream.deliveredUpTo.size() : stream.newsOf.size();
        stream.journaling();
        stageRanges(stream, isAll);
        record.begin(stagedLength, JournalRecord.SETTLED)
                .putInt(stream.journalIndex)
                .putLong(stream.journalingNext)
                .putInt(count);
        if (isAll) {
            Int2ObjectHashMap<DeliveredNumbers>.KeyIterator clients =
                    stream.deliveredUpTo.keySet().iterator();
            while (clients.hasNext()) {
                stageClient(stream, clients.nextInt());
            }
        } else {
            IntHashSet.IntIterator clients = stream.newsOf.iterator();
            while (clients.hasNext()) {
                stageClient(stream, clients.nextValue());
            }
        }
        stagedLength = record.end();
        stream.newsOf.clear();
    }

    /** Where the numbers begin of which SETTLED says how far they go. */
    private void stageRanges(InboundStream stream, boolean isAll) {
        if (isAll) {
            Int2ObjectHashMap<DeliveredNumbers>.KeyIterator clients =
                    stream.deliveredUpTo.keySet().iterator();
            while (clients.hasNext()) {
                stageRanges(stream, clients.nextInt(), true);
            }
        } else {
            IntHashSet.IntIterator clients = stream.newsOf.iterator();
            while (clients.hasNext()) {
                stageRanges(stream, clients.nextValue(), false);
            }
        }
    }

    private void stageRanges(InboundStream stream, int client, boolean isAll) {
        DeliveredNumbers numbers = stream.numbersOf(client);
        if (!isAll && !numbers.hasNews()) {
            return;
        }
        long remembered = stream.rememberedUpTo(client);
        numbers.told(remembered);
        for (int i = 0; i < numbers.rangeCount() && numbers.from(i) <= remembered; i++) {
            stagedLength =
                    record.begin(stagedLength, JournalRecord.RANGE)
                            .putInt(stream.journalIndex)
                            .putInt(client)
                            .putLong(numbers.from(i))
                            .putLong(Math.min(numbers.upTo(i), remembered))
                            .end();
        }
    }

    private void stageClient(InboundStream stream, int client) {
        // A number that never came must not become one of a range.
        long upTo = stream.numbersOf(client).floor(stream.rememberedUpTo(client));
        record.putInt(client).putLong(upTo);
    }

    private void stageMessages(
            InboundStream stream, Collection<InboundMessage> messages, boolean isAll) {
        for (InboundMessage message : messages) {
            if (message.state == InboundMessage.SETTLED) {
                continue;
            }
            boolean isPromised = message.state >= InboundMessage.PROMISING;
            boolean isNew = isAll || !message.isJournaled;
            boolean needsProgress =
                    message.isBegunSettled && (isNew || message.settledEnd > message.journaledEnd);
            boolean needsPromise =
                    message.state == InboundMessage.PROMISING && message.promiseRound == 0
                            || isAll && isPromised && message.isJournaled;
            if (!needsProgress && !needsPromise) {
                continue;
            }
            if (isNew) {
                stageBegin(stream, message);
            }
            if (needsProgress) {
                message.progressJournaled();
                stagedLength =
                        begin(stream, message, JournalRecord.PROGRESS)
                                .putLong(message.settledEnd)
                                .end();
            }
            if (needsPromise) {
                message.promisedIn(round);
                stagedLength =
                        begin(stream, message, JournalRecord.STORE)
                                .putInt(message.flags)
                                .putInt(message.checksum)
                                .end();
            }
        }
    }

    private JournalRecord begin(InboundStream stream, InboundMessage message, int type) {
        return record.begin(stagedLength, type)
                .putInt(stream.journalIndex)
                .putInt(message.clientId)
                .putLong(message.sequence);
    }

    private void stageBegin(InboundStream stream, InboundMessage message) {
        message.journaled();
        stagedLength =
                begin(stream, message, JournalRecord.BEGIN)
                        .putInt(message.tag)
                        .putInt(message.flags)
                        .putText(message.temporaryName)
                        .putText(message.fileName)
                        .putBytes(message.block, message.metadataLength)
                        .end();
    }

    /** A message was given up by its server. */
    public void forget(InboundStream stream, InboundMessage message) {
        if (message.isJournaled) {
            stagedLength = begin(stream, message, JournalRecord.FORGET).end();
        }
    }

    /** Something was heard of a process, or the user has heard of its loss. */
    public void process(RankEntry entry) {
        stagedLength =
                record.begin(stagedLength, JournalRecord.PROCESS)
                        .putInt(entry.state())
                        .putJob(entry.job())
                        .putInt(entry.clientId())
                        .putInt(entry.applicationId())
                        .putInt(entry.rank())
                        .putInt(entry.registration())
                        .end();
    }

    /** A stream ended in order. */
    public void finished(InboundStream stream) {
        if (stream.journalIndex > 0) {
            stageFinished(stream);
        }
    }

    private void stageFinished(InboundStream stream) {
        stagedLength =
                record.begin(stagedLength, JournalRecord.FINISHED)
                        .putInt(stream.journalIndex)
                        .end();
    }

    /** A stream will never go on. */
    public void drop(InboundStream stream) {
        if (stream.journalIndex > 0) {
            stagedLength =
                    record.begin(stagedLength, JournalRecord.DROP)
                            .putInt(stream.journalIndex)
                            .end();
        }
    }

    public long nextDeadlineNs(List<InboundStream> streams) {
        return isBroken && !isUseless(streams) ? retryAtNs : ProtocolAgent.NO_DEADLINE;
    }

    /** Ends; if nobody needs the state any more, it goes too. */
    public void close(boolean isNeeded) {
        boolean isThere = hasFile || file.isRenaming();
        file.close();
        if (!isNeeded && isThere) {
            store.delete(NAME);
        }
    }
}
