package dev.verbena.dart.receiver;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.dart.store.StreamSession;
import dev.verbena.dart.wire.PieceFlyweight;
import java.util.ArrayDeque;
import java.util.UUID;

/**
 * A compute process as a receiver knows it, and what it has not yet taken out of its inbox. Guarded
 * by the {@link ReverseOutlet} that owns it.
 */
final class ReverseDestination {
    /** Taken for a message beside its bytes. */
    static final int OVERHEAD = 64;

    private static final long AGAIN_MIN_NS = 5_000_000_000L;
    private static final long AGAIN_MAX_NS = 60_000_000_000L;

    /** A message; the bytes may be shared with other destinations and are never changed. */
    private static final class Message {
        final byte[] bytes;
        final int kind;
        final int type;
        long firstPiece;

        Message(byte[] bytes, int kind, int type) {
            this.bytes = bytes;
            this.kind = kind;
            this.type = type;
        }

        long lastPiece() {
            return firstPiece + PieceFlyweight.count(bytes.length) - 1;
        }
    }

    final UUID job;
    final int clientId;
    final int applicationId;
    final int rank;

    /** Over which pieces go now; null: over none. */
    private InboundSession session;

    /** Its connection has ended, since when, and it was not heard of since. */
    boolean isAway;

    private long awaySinceNs;

    /** Server of the process. */
    private int serverId;

    /** Has an inbox, as far as its server has said. */
    boolean isHere;

    /** Rises with every process that appears. */
    private long appeared;

    long bytes;
    private final ArrayDeque<Message> messages = new ArrayDeque<>();
    private int slotCount = 1;
    private long assigned;
    private long taken;
    private long next = 1;
    private long everSent;
    private long quietSinceNs;
    private long againNs = AGAIN_MIN_NS;

    ReverseDestination(UUID job, int clientId, int applicationId, int rank) {
        this.job = job;
        this.clientId = clientId;
        this.applicationId = applicationId;
        this.rank = rank;
    }

    /** Whether pieces for it go over this connection. */
    boolean isOver(StreamSession of) {
        return session == of;
    }

    boolean isAtServer(int id) {
        return serverId == id;
    }

    boolean isLaterThan(ReverseDestination other) {
        return appeared > other.appeared;
    }

    /** It was not here, and is now. */
    void appears(long count) {
        appeared = count;
    }

    /** Its server has said over this connection that it has an inbox. */
    void reachedOver(InboundSession over, int server) {
        isHere = true;
        session = over;
        isAway = false;
        serverId = server;
    }

    /** It has no inbox any more. */
    void gone() {
        isHere = false;
        session = null;
        isAway = false;
    }

    boolean hasRoom(int length, long bytesMax) {
        return messages.isEmpty() || bytes + length + OVERHEAD <= bytesMax;
    }

    void add(byte[] message, int kind, int type) {
        Message added = new Message(message, kind, type);
        added.firstPiece = assigned + 1;
        assigned = added.lastPiece();
        messages.add(added);
        bytes += message.length + OVERHEAD;
    }

    int messageCount() {
        return messages.size();
    }

    /** The process has this many slots and has begun, or is known by another server now. */
    void here(int slots, long takenUpTo, boolean isNewConnection, long nowNs) {
        slotCount = slots;
        if (takenUpTo < 0) {
            // A new process: from the beginning of what its predecessor did not take whole.
            takenUpTo = messages.isEmpty() ? assigned : messages.peek().firstPiece - 1;
            taken = takenUpTo;
        } else if (takenUpTo > assigned) {
            // This receiver is a new one: it goes on with the numbers of its predecessor.
            renumber(takenUpTo);
        }
        if (isNewConnection) {
            rewind();
        }
        quietSinceNs = nowNs;
    }

    private void renumber(long from) {
        assigned = from;
        taken = from;
        next = from + 1;
        for (Message message : messages) {
            message.firstPiece = assigned + 1;
            assigned = message.lastPiece();
        }
    }

    /** Sends again what was not taken. */
    void rewind() {
        next = taken + 1;
    }

    /** Pieces up to this one were taken; how many messages are over by that. */
    int taken(long upTo, long nowNs) {
        if (upTo <= taken) {
            return 0;
        }
        taken = upTo;
        next = Math.max(next, taken + 1);
        quietSinceNs = nowNs;
        againNs = AGAIN_MIN_NS;
        int over = 0;
        while (!messages.isEmpty() && messages.peek().lastPiece() <= taken) {
            bytes -= messages.poll().bytes.length + OVERHEAD;
            over++;
        }
        return over;
    }

    /**
     * Sends again after a long time without news: whatever the reason, numbers make it harmless.
     */
    void checkQuiet(long nowNs) {
        if (next <= taken + 1) {
            quietSinceNs = nowNs;
        } else if (nowNs - quietSinceNs - againNs >= 0) {
            quietSinceNs = nowNs;
            againNs = Math.min(AGAIN_MAX_NS, 2 * againNs);
            rewind();
        }
    }

    /**
     * Not here once its server has been away for so long; keeps its messages. It stays away: the
     * same process comes back, and is no later one than it was.
     */
    void checkAway(long nowNs, long silenceNs) {
        if (session == null || !session.isEnded) {
            return;
        }
        if (!isAway) {
            isAway = true;
            awaySinceNs = nowNs;
        } else if (nowNs - awaySinceNs - silenceNs >= 0) {
            isHere = false;
            session = null;
        }
    }

    long deadlineNs(long silenceNs) {
        long quiet = next > taken + 1 ? quietSinceNs + againNs : ProtocolAgent.NO_DEADLINE;
        boolean isHereYet = isAway && session != null;
        return isHereYet ? Math.min(quiet, awaySinceNs + silenceNs) : quiet;
    }

    boolean canSend() {
        return next <= assigned && next <= taken + slotCount;
    }

    /** Whether the next piece was written before. */
    boolean isRepeating() {
        return next <= everSent;
    }

    /** Writes the next piece; its length. */
    int encode(PieceFlyweight piece, org.agrona.MutableDirectBuffer out, int at) {
        for (Message message : messages) {
            if (next <= message.lastPiece()) {
                int position = (int) (next - message.firstPiece) * PieceFlyweight.PAYLOAD_MAX;
                int length =
                        piece.encode(
                                out, at, next, message.kind, message.type, message.bytes, position);
                everSent = Math.max(everSent, next);
                next++;
                return length;
            }
        }
        throw new IllegalStateException("no piece " + next);
    }
}
