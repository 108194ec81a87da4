package dev.verbena.dart.stream;

import dev.verbena.dart.DartException.Code;
import java.util.function.Consumer;

/**
 * Buffers in the order of the stream: sent, not yet acknowledged, and still to be sent. Gives
 * frames their numbers, counts what is unacknowledged against the window, goes back when told to.
 * No allocation unless parts are spilled to files, which makes it grow. Owned by t3.
 */
public final class HeldBuffers {
    private ServerBuffer[] ring;
    private int mask;
    private final int framePayloadMax;
    private long head;
    private long tail;
    private long sendAt;
    private int sendFrame;
    private long nextNumber = 1;
    private long acknowledgedNext = 1;
    private long sentUpTo;
    long unacknowledged;
    private long window = Long.MAX_VALUE;

    HeldBuffers(int capacity, int framePayloadMax) {
        int size = Math.max(2, Integer.highestOneBit(Math.max(1, capacity - 1)) << 1);
        this.ring = new ServerBuffer[size];
        this.mask = size - 1;
        this.framePayloadMax = framePayloadMax;
    }

    void add(ServerBuffer buffer) {
        buffer.numbered(
                nextNumber,
                Math.max(
                        1, (int) (((long) buffer.length + framePayloadMax - 1) / framePayloadMax)));
        nextNumber += buffer.frameCount;
        append(buffer);
    }

    /** A frame that an earlier server left; the first one says where the numbers begin. */
    void addFound(ServerBuffer frame) {
        if (tail == 0) {
            acknowledgedNext = frame.firstFrame;
        }
        nextNumber = frame.firstFrame + frame.frameCount;
        sentUpTo = nextNumber - 1;
        append(frame);
    }

    /** Nothing is held, and the receiver has had later frames: numbers go on behind them. */
    void arrivedBeyond(long last) {
        sentUpTo = last;
        acknowledgedNext = last + 1;
        nextNumber = last + 1;
    }

    private void append(ServerBuffer buffer) {
        if (tail - head == ring.length) {
            ServerBuffer[] larger = new ServerBuffer[2 * ring.length];
            for (long i = head; i < tail; i++) {
                larger[(int) (i & (larger.length - 1))] = ring[(int) (i & mask)];
            }
            ring = larger;
            mask = larger.length - 1;
        }
        ring[(int) (tail++ & mask)] = buffer;
    }

    /** Position of the oldest part that is held. */
    long head() {
        return head;
    }

    /** Position behind the newest part. */
    long tail() {
        return tail;
    }

    ServerBuffer at(long position) {
        return ring[(int) (position & mask)];
    }

    /** What this position stands for is in a file now. */
    void standIn(long position, ServerBuffer buffer) {
        ring[(int) (position & mask)] = buffer;
    }

    /** The first part that is held of this message; null: none. */
    ServerBuffer find(int clientId, long sequence) {
        for (long i = head; i < tail; i++) {
            ServerBuffer part = ring[(int) (i & mask)];
            if (part.clientId == clientId && part.sequence == sequence && !part.isNotice()) {
                return part;
            }
        }
        return null;
    }

    /** Leaves out what is not sent of this message of this registration. */
    public void giveUp(int slot, int generation, long sequence) {
        for (long i = head; i < tail; i++) {
            ring[(int) (i & mask)].dropIfOf(slot, generation, sequence);
        }
    }

    boolean isEmpty() {
        return head == tail;
    }

    int count() {
        return (int) (tail - head);
    }

    /** Highest frame number of which anything was ever written. */
    long sentUpTo() {
        return sentUpTo;
    }

    long acknowledgedNext() {
        return acknowledgedNext;
    }

    void window(long bytes) {
        window = bytes;
    }

    /** Whether there is a frame to send and room for it; one frame may always be under way. */
    boolean hasNext() {
        if (sendAt == tail) {
            return false;
        }
        int length = frameLength(ring[(int) (sendAt & mask)], sendFrame);
        return unacknowledged == 0 || unacknowledged + length <= window;
    }

    ServerBuffer next() {
        return ring[(int) (sendAt & mask)];
    }

    int nextFrame() {
        return sendFrame;
    }

    int frameLength(ServerBuffer buffer, int frame) {
        return Math.min(framePayloadMax, buffer.length - frame * framePayloadMax);
    }

    /**
     * Writing the frame given by {@link #next} begins. The receiver may have all of it, and say so,
     * before this side knows that it was written: a put has arrived before it has completed.
     */
    void begun() {
        sentUpTo = Math.max(sentUpTo, next().firstFrame + sendFrame);
    }

    /** The frame given by {@link #next} was written. */
    void written() {
        ServerBuffer buffer = next();
        unacknowledged += frameLength(buffer, sendFrame);
        sentUpTo = Math.max(sentUpTo, buffer.firstFrame + sendFrame);
        sendFrame++;
        if (sendFrame == buffer.frameCount) {
            sendFrame = 0;
            sendAt++;
        }
    }

    void checkAcknowledgement(long next) {
        if (next < 1 || next > sentUpTo + 1) {
            throw Code.MALFORMED.because(
                    "frame: ACK asks for %s although %s is the last one sent", next, sentUpTo);
        }
    }

    /** Everything before this number has arrived; older news are ignored. */
    void acknowledge(long next, Consumer<ServerBuffer> giveBack) {
        checkAcknowledgement(next);
        while (acknowledgedNext < next) {
            ServerBuffer buffer = ring[(int) (head & mask)];
            int frame = (int) (acknowledgedNext - buffer.firstFrame);
            boolean isAhead = sendAt == head && frame >= sendFrame;
            if (isAhead) {
                // Arrived over the connection before: it need not be sent again.
                sendFrame = frame + 1;
                if (sendFrame == buffer.frameCount) {
                    sendFrame = 0;
                    sendAt++;
                }
            } else {
                unacknowledged -= frameLength(buffer, frame);
            }
            acknowledgedNext++;
            if (acknowledgedNext > buffer.lastFrame()) {
                ring[(int) (head & mask)] = null;
                head++;
                giveBack.accept(buffer);
            }
        }
    }

    /** Sends again from this number on. */
    void rewind(long next) {
        if (next < acknowledgedNext || next > sentUpTo + 1) {
            throw Code.MALFORMED.because(
                    "frame: asked for %s, which is outside %s to %s",
                    next, acknowledgedNext, sentUpTo + 1);
        }
        unacknowledged = 0;
        sendAt = head;
        sendFrame = head == tail ? 0 : (int) (acknowledgedNext - next().firstFrame);
        for (long number = acknowledgedNext; number < next; number++) {
            written();
        }
    }

    void reportUnacknowledged(LostMessages lost) {
        for (long i = head; i < tail; i++) {
            ServerBuffer buffer = ring[(int) (i & mask)];
            if (!buffer.isDropped && !buffer.isStandIn() && !buffer.isNotice()) {
                lost.add(buffer.clientId, buffer.sequence, buffer.name(), "the receiver confirmed");
            }
        }
    }
}
