package dev.verbena.dart.receiver;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.store.InboundMessage;
import dev.verbena.dart.store.InboundStream;
import dev.verbena.staging.Counters;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/** The streams that a receiver knows: which of them a connection goes on with, and from where. */
final class StreamTable {
    static final int STREAMS_MAX = 1024;

    /**
     * Streams of servers that are away, with half messages, that one host may have in a full table.
     */
    static final int SOURCE_MAX = STREAMS_MAX / 8;

    private static final int OVER = 0;
    private static final int UNUSED = 1;
    private static final int USED = 2;
    private static final int HALF = 3;
    private static final int BUSY = 4;

    private final ReceiverShared shared;
    private final Consumer<UUID> ended;
    private final List<InboundStream> streams;

    /**
     * @param ended told of jobs of which no server is left that may serve on
     */
    StreamTable(ReceiverShared shared, Consumer<UUID> ended) {
        this.shared = shared;
        this.ended = ended;
        this.streams = shared.streams;
    }

    /** What is known of this server; null: nothing. */
    InboundStream find(UUID job, int serverId) {
        for (InboundStream stream : streams) {
            if (stream.serverId() == serverId && stream.job().equals(job)) {
                return stream;
            }
        }
        return null;
    }

    /**
     * Gives the server's stream to this connection.
     *
     * @param known what {@link #find} answered
     * @param lastSent highest number that the server has sent, as it says
     * @throws DartException RECEIVER_UNREACHABLE if what it would go on with is lost, or if it
     *     begins anew and something of it is just being stored
     */
    InboundStream attach(
            InboundStream known, InboundSession session, UUID job, int serverId, long lastSent) {
        InboundStream found = known;
        if (found != null && lastSent + 1 < found.nextWanted()) {
            // The server begins anew: what was open from it will never be completed.
            checkNothingIsBeingNamed(found);
            drop(found);
            found = null;
        }
        if (found != null && found.isHalfLost()) {
            goOnWithoutHalves(found);
        }
        if (found == null) {
            makeRoom(job);
            found = new InboundStream(job, serverId, shared.journal != null);
            streams.add(found);
        }
        if (found.session() != null) {
            found.session().end();
        }
        found.attach(session, session == null ? "" : session.source());
        return found;
    }

    /** A file that is about to get its name, or has it, can no more be given up. */
    private static void checkNothingIsBeingNamed(InboundStream stream) {
        for (InboundMessage message : stream.storing()) {
            if (message.rename() != null || message.state() == InboundMessage.RENAMED) {
                throw Code.RECEIVER_UNREACHABLE.because(
                        "%s begins anew while %s is being stored: it has to connect again",
                        stream, message);
            }
        }
    }

    /** What is left of messages that were given up can be taken only if that is accepted. */
    private void goOnWithoutHalves(InboundStream stream) {
        if (!shared.settings.isAcceptingGaps()) {
            throw Code.RECEIVER_UNREACHABLE.because(
                    "messages that were half received from %s were given up while it was away "
                            + "(unfinishedBytesMax). Tell the receiver to accept the gap, or give "
                            + "it a directory",
                    stream);
        }
        stream.goOnWithoutHalves();
    }

    /**
     * Streams of servers that are long gone do not stay indefinitely: one that has ended in order
     * goes first, then one of which nothing ever came, then one of which nothing is half received,
     * then one with half messages, see {@link #leastHalf}. The last two are named, for their
     * server, should it come back, is told of a gap.
     *
     * @param coming the job of the server that gets the room
     */
    private void makeRoom(UUID coming) {
        if (streams.size() < STREAMS_MAX) {
            return;
        }
        InboundStream least = null;
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            if (stream.session() == null && (least == null || worth(stream) < worth(least))) {
                least = stream;
            }
        }
        if (least == null || worth(least) == BUSY) {
            throw Code.RECEIVER_UNREACHABLE.because(
                    "this receiver knows %s servers that are connected, and takes no other",
                    STREAMS_MAX);
        }
        if (worth(least) == HALF) {
            least = leastHalf();
        }
        if (worth(least) >= USED) {
            forget(least, "to make room: the receiver knows " + STREAMS_MAX + " servers");
        } else {
            drop(least);
        }
        if (!least.job().equals(coming)) {
            checkEnded(least.job());
        }
    }

    /**
     * Of many streams from one host, which one process can make, the one of which the fewest frames
     * came, and of these the last: whoever makes up servers replaces those. Otherwise the one whose
     * server has been away longest.
     */
    private InboundStream leastHalf() {
        Map<String, Integer> counts = new HashMap<>();
        for (InboundStream stream : streams) {
            if (isHalfAway(stream)) {
                counts.merge(stream.source(), 1, Integer::sum);
            }
        }
        int most = Collections.max(counts.values());
        boolean isFlooded = most > SOURCE_MAX;
        InboundStream least = null;
        for (InboundStream stream : streams) {
            boolean isCandidate =
                    isHalfAway(stream) && (!isFlooded || counts.get(stream.source()) == most);
            if (isCandidate && (least == null || isLess(stream, least, isFlooded))) {
                least = stream;
            }
        }
        return least;
    }

    private static boolean isLess(InboundStream one, InboundStream other, boolean isFlooded) {
        if (isFlooded) {
            return one.settledNext() <= other.settledNext();
        }
        boolean isSeenAway = one.awaySinceNs() != 0;
        return isSeenAway
                && (other.awaySinceNs() == 0 || one.awaySinceNs() - other.awaySinceNs() < 0);
    }

    private static boolean isHalfAway(InboundStream stream) {
        return stream.session() == null && worth(stream) == HALF;
    }

    /** Gives up, by name, what is half received of servers that have been away for so long. */
    void expire(long now, long keptNs) {
        for (int i = streams.size() - 1; i >= 0; i--) {
            InboundStream stream = streams.get(i);
            boolean isExpired =
                    isHalfAway(stream)
                            && stream.awaySinceNs() != 0
                            && now - stream.awaySinceNs() - keptNs >= 0;
            if (isExpired) {
                forget(stream, "after " + keptNs / 1_000_000_000 + " s (halfKeptNs)");
                checkEnded(stream.job());
            }
        }
    }

    private void checkEnded(UUID job) {
        if (!isAnyServing(job)) {
            ended.accept(job);
        }
    }

    /** Whether a server of this job is known that has not finished. */
    boolean isAnyServing(UUID job) {
        for (int i = 0; i < streams.size(); i++) {
            InboundStream stream = streams.get(i);
            if (!stream.isFinished() && stream.job().equals(job)) {
                return true;
            }
        }
        return false;
    }

    private void forget(InboundStream stream, String why) {
        shared.report(
                Code.RECEIVER_UNREACHABLE.because(
                        "%s, which went away and did not end in order, is forgotten %s",
                        stream, why));
        for (InboundMessage message : new ArrayList<>(stream.open().values())) {
            shared.loseHalf(stream, message, "its server is forgotten");
        }
        drop(stream);
    }

    /** What would be lost with a stream whose server is away. */
    private static int worth(InboundStream stream) {
        if (!stream.storing().isEmpty()) {
            return BUSY;
        }
        if (!stream.open().isEmpty()) {
            return HALF;
        }
        boolean isNew = stream.nextWanted() == 1;
        return stream.isFinished() ? OVER : isNew ? UNUSED : USED;
    }

    /**
     * A server does not hold the frames any more that are wanted next: they were acknowledged by a
     * receiver of which this one knows nothing.
     */
    void gap(InboundStream stream, long firstHeld) {
        String what =
                ("%s holds nothing before frame %s, but frame %s is wanted: what an earlier "
                                + "receiver got is not known here. ")
                        .formatted(stream, firstHeld, stream.acknowledgedNext());
        if (shared.settings.isAcceptingGaps() && firstHeld > stream.nextWanted()) {
            shared.report(
                    Code.RECEIVER_UNREACHABLE.because(what + "Going on behind the gap, as told"));
            shared.abandonOpen(stream);
            stream.frames().rewind();
            stream.beginAt(firstHeld);
            stream.loseBeginnings();
            return;
        }
        Counters.add(shared.protocolErrors, 1);
        shared.report(
                Code.RECEIVER_UNREACHABLE.because(
                        "%sStart this receiver on the directory of the earlier one, or tell it "
                                + "to accept the gap",
                        what));
    }

    private void drop(InboundStream stream) {
        if (stream.session() != null) {
            // What it is reading would go into the memory of a message that is given up.
            stream.session().end();
        }
        shared.abandonOpen(stream);
        shared.abandonStoring(stream);
        streams.remove(stream);
        if (shared.journal != null) {
            shared.journal.drop(stream);
        }
    }
}
