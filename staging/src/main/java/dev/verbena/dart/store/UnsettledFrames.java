package dev.verbena.dart.store;

import dev.verbena.agent.ProtocolAgent;
import org.agrona.collections.IntHashSet;

/**
 * The frames of one stream that were taken and are not settled, in order, with the messages that
 * they wait for. Owned by the receiver's agent. Allocates only until every place was used once.
 */
public final class UnsettledFrames {
    private static final int COUNT_MAX = 8192;
    private static final long BLOCKED_NS = 20_000_000;

    /** A frame that is taken: settled when its message has got that far. */
    private static final class Taken {
        InboundMessage message;
        long payloadEnd;
        int length;
        boolean isLast;
    }

    private final Taken[] ring = new Taken[COUNT_MAX];
    private final boolean isJournaling;
    private long head = 1;
    private long tail = 1;
    private long bytes;

    /** Frames before this one were taken before, if they come again. */
    private long takenBefore;

    private long blockedAt;
    private long blockedSinceNs;

    /**
     * @param isJournaling nothing is settled that a journal would not remember
     */
    UnsettledFrames(boolean isJournaling) {
        this.isJournaling = isJournaling;
    }

    /** The next frame that is taken has this number; there are no others. */
    void beginAt(long next) {
        head = next;
        tail = next;
    }

    /** Number of the first frame that is not settled. */
    long first() {
        return head;
    }

    /** Number of the next frame that is wanted from the wire. */
    long next() {
        return tail;
    }

    /** Length of their payloads. */
    long bytes() {
        return bytes;
    }

    public boolean isFull() {
        return tail - head == COUNT_MAX;
    }

    private Taken at(long number) {
        return ring[(int) (number & (COUNT_MAX - 1))];
    }

    /** A frame was taken; a null message: nothing depends on it. */
    void add(InboundMessage message, long payloadEnd, int length, boolean isLast) {
        int at = (int) (tail++ & (COUNT_MAX - 1));
        if (ring[at] == null) {
            ring[at] = new Taken();
        }
        ring[at].message = message;
        ring[at].payloadEnd = payloadEnd;
        ring[at].length = length;
        ring[at].isLast = isLast;
        bytes += length;
    }

    /** Forgets all: they will come again. */
    public void rewind() {
        for (long i = head; i < tail; i++) {
            at(i).message = null;
        }
        takenBefore = Math.max(takenBefore, tail);
        tail = head;
        bytes = 0;
    }

    /** Whether this frame was taken once, before a {@link #rewind}. */
    public boolean wasTaken(long number) {
        return number < takenBefore;
    }

    /**
     * The unfinished message whose bytes must be forced so that the server gets its buffers back:
     * because they are many, or because nothing else happened for a while; null if none.
     *
     * @param window granted to the server, bytes
     */
    InboundMessage needsForce(long nowNs, long window) {
        if (head == tail) {
            return null;
        }
        Taken frame = at(head);
        InboundMessage message = frame.message;
        if (message == null
                || message.state != InboundMessage.RECEIVING
                || message.file == null
                || message.forceAsked >= frame.payloadEnd) {
            return null;
        }
        if (blockedAt != head) {
            blockedAt = head;
            blockedSinceNs = nowNs;
        }
        boolean isLate = nowNs - blockedSinceNs - BLOCKED_NS >= 0;
        return isLate || bytes >= window / 4 ? message : null;
    }

    /** The unfinished message that keeps the first frame from being settled; null if none. */
    public InboundMessage firstUnsettled() {
        InboundMessage message = head == tail ? null : at(head).message;
        return message != null && message.state == InboundMessage.RECEIVING ? message : null;
    }

    public long nextDeadlineNs() {
        return blockedAt == head && head < tail
                ? blockedSinceNs + BLOCKED_NS
                : ProtocolAgent.NO_DEADLINE;
    }

    /**
     * Settles what can be; frames settled. A frame in the middle of a message is settled when its
     * bytes are assembled, or forced to the device if the message is to be durable; the last one
     * when the message is delivered.
     *
     * @param newsOf gets the clients whose messages were settled to the end
     */
    int settle(IntHashSet newsOf) {
        int settled = 0;
        while (head < tail) {
            Taken frame = at(head);
            InboundMessage message = frame.message;
            if (message != null && message.state != InboundMessage.SETTLED) {
                if (!isPartSafe(frame, message)) {
                    break;
                }
                message.settledTo(frame.payloadEnd);
            }
            if (message != null && frame.isLast) {
                newsOf.add(message.clientId);
            }
            frame.message = null;
            bytes -= frame.length;
            head++;
            settled++;
        }
        return settled;
    }

    private boolean isPartSafe(Taken frame, InboundMessage message) {
        if (frame.isLast) {
            return false;
        }
        if (!isJournaling) {
            return true;
        }
        // Its beginning would be given away, and the journal not know of it.
        boolean isUnknown = message.state != InboundMessage.RECEIVING && message.promiseRound == 0;
        return !isUnknown
                && (message.file == null || message.file.forcedPosition() >= frame.payloadEnd);
    }

    /** A message that was given up half-way settles nothing any more. */
    public void forget(InboundMessage message) {
        for (long i = head; i < tail; i++) {
            Taken frame = at(i);
            if (frame.message == message) {
                frame.message = null;
            }
        }
    }

    /** Whether a frame still depends on this message. */
    public boolean dependsOn(InboundMessage message) {
        for (long i = head; i < tail; i++) {
            if (at(i).message == message) {
                return true;
            }
        }
        return false;
    }
}
