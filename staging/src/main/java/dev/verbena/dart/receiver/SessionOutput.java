package dev.verbena.dart.receiver;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.ByteStreams.ByteStream;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.dart.wire.PieceFlyweight;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The frames that one connection at a receiver writes: control frames, and pieces of the reverse
 * stream in between, each frame to its end. Owned by the receiver's agent.
 */
final class SessionOutput {
    /** Returned by {@link #write}: the connection has ended. */
    static final int ENDED = -1;

    private static final int FRAME_LIMIT = 16;
    private static final int ERROR_TEXT_MAX = 400;
    private static final int ROOM = FrameFlyweight.LENGTH + 512;

    private final InboundSession session;
    private final ByteStream stream;
    private final FrameFlyweight frame = new FrameFlyweight();
    private final UnsafeBuffer out = new UnsafeBuffer(new byte[4 * ROOM]);
    private int length;
    private int done;
    long lastSentNs;

    // The way back: a frame of its own memory, made when there is a first one.
    private UnsafeBuffer reverse;
    private int reverseLength;
    private int reverseDone;
    private long reverseSent;

    /** Pieces that the server can take in all. */
    private long reverseGrant;

    /** Where the outlet goes on looking for something to send. */
    private int reverseAt;

    /** Client of the piece that the outlet wrote last. */
    private int reverseClient;

    SessionOutput(InboundSession session, ByteStream stream, long now) {
        this.session = session;
        this.stream = stream;
        this.lastSentNs = now;
    }

    // ---- the outlet's

    /** The server can take as many pieces in all. */
    void granted(long pieces) {
        reverseGrant = pieces;
    }

    /** Index of the destination whose turn is next. */
    int nextOf(int count) {
        reverseAt = (reverseAt + 1) % count;
        return reverseAt;
    }

    /** The piece that is written now is for this client. */
    void writesFor(int client) {
        reverseClient = client;
    }

    // ---- control frames

    /** All control frames are written. */
    boolean isIdle() {
        return done == length;
    }

    /** And no piece is half written. */
    boolean isAllWritten() {
        return isIdle() && reverseDone == reverseLength;
    }

    /** Where the next control frame begins. */
    private int at() {
        if (done == length) {
            done = 0;
            length = 0;
        }
        return length;
    }

    boolean hasRoom() {
        return at() + ROOM <= out.capacity();
    }

    /** Where the payload of the next control frame is put before it is sent. */
    UnsafeBuffer payload() {
        return out;
    }

    /** Where in {@link #payload} it begins. */
    int payloadAt() {
        return at() + FrameFlyweight.LENGTH;
    }

    /** A control frame whose payload, if any, is there already. */
    void send(int type, int payloadLength) {
        int at = at();
        frame.begin(out, at, type).end(out, at + FrameFlyweight.LENGTH, payloadLength);
        length = at + FrameFlyweight.LENGTH + payloadLength;
    }

    /** Everything from a frame on is to come again; the message is to be given up, if it is one. */
    void sendNack(long wanted, int clientId, long messageSequence) {
        int at = payloadAt();
        out.putLong(at, wanted, BIG_ENDIAN);
        frame.begin(out, length, FrameFlyweight.NACK)
                .message(clientId, messageSequence, 0, 0)
                .end(out, at, FrameFlyweight.NACK_LENGTH);
        length = at + FrameFlyweight.NACK_LENGTH;
    }

    void sendAck(long acknowledged, long window) {
        int at = payloadAt();
        out.putLong(at, acknowledged, BIG_ENDIAN);
        out.putLong(at + 8, window, BIG_ENDIAN);
        send(FrameFlyweight.ACK, FrameFlyweight.ACK_LENGTH);
    }

    void sendHelloAck(long window, long acknowledged, long messageLengthMax) {
        int at = payloadAt();
        out.putLong(at, window, BIG_ENDIAN);
        out.putLong(at + 8, acknowledged, BIG_ENDIAN);
        out.putLong(at + 16, messageLengthMax, BIG_ENDIAN);
        send(FrameFlyweight.HELLO_ACK, FrameFlyweight.HELLO_ACK_LENGTH);
    }

    /** Why the connection ends, if there is room to say it. */
    void sendError(int code, String text) {
        if (hasRoom()) {
            byte[] bytes = text.getBytes(UTF_8);
            int taken = Math.min(bytes.length, ERROR_TEXT_MAX);
            int at = payloadAt();
            out.putInt(at, code, BIG_ENDIAN);
            out.putBytes(at + 4, bytes, 0, taken);
            send(FrameFlyweight.ERROR, 4 + taken);
        }
    }

    // ---- writing

    /**
     * Writes what there is.
     *
     * @param mayReverse pieces of the reverse stream may begin
     * @return work done; {@link #ENDED}
     */
    int write(long now, boolean mayReverse) {
        int work = 0;
        if (reverseDone < reverseLength) {
            // A frame that was begun is written to its end before any other.
            work = writeReverse(now, mayReverse);
            if (work == ENDED || reverseDone < reverseLength) {
                return work;
            }
        }
        if (done < length) {
            int n = stream.write(out, done, length - done);
            if (n < 0) {
                return ENDED;
            }
            done += n;
            lastSentNs = n > 0 ? now : lastSentNs;
            work += n > 0 ? 1 : 0;
        }
        if (done == length) {
            int more = writeReverse(now, mayReverse);
            return more == ENDED ? ENDED : work + more;
        }
        return work;
    }

    /** Pieces for processes behind this connection, as far as the server has room for them. */
    private int writeReverse(long now, boolean mayBegin) {
        int work = 0;
        while (work < FRAME_LIMIT) {
            if (reverseDone == reverseLength && !(mayBegin && beginReverse())) {
                break;
            }
            int n = stream.write(reverse, reverseDone, reverseLength - reverseDone);
            if (n < 0) {
                return ENDED;
            }
            reverseDone += n;
            if (n == 0) {
                break;
            }
            lastSentNs = now;
            work++;
        }
        return work;
    }

    private boolean beginReverse() {
        if (done < length || reverseSent >= reverseGrant) {
            return false;
        }
        if (reverse == null) {
            reverse = new UnsafeBuffer(new byte[FrameFlyweight.LENGTH + PieceFlyweight.LENGTH_MAX]);
        }
        int pieceLength = session.nextPiece(reverse, FrameFlyweight.LENGTH);
        if (pieceLength == 0) {
            return false;
        }
        frame.begin(reverse, 0, FrameFlyweight.REVERSE)
                .message(reverseClient, 0, 0, 0)
                .end(reverse, FrameFlyweight.LENGTH, pieceLength);
        reverseSent++;
        reverseDone = 0;
        reverseLength = FrameFlyweight.LENGTH + pieceLength;
        return true;
    }
}
