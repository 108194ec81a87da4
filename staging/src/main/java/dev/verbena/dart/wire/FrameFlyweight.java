package dev.verbena.dart.wire;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.staging.Checksum;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Header of a frame between server and receiver: 48 bytes, big-endian, then the payload. Movable
 * view, one thread.
 *
 * <pre>
 *  0:4 magic 0x44525431   4:1 version (1)   5:1 type
 *  6:2 flags: 1 first part, 2 last part, 4 file begin, 8 file end, 16 message given up,
 *      32 process of the client was lost, 64 process is served here (both: payload is a ClientNotice)
 *  8:8 frame sequence (DATA: per stream, from 1; ERROR gap: first one held; others: 0)   16:4 client id   20:4 tag
 * 24:8 message sequence of that client   32:8 offset of the payload within the message
 * 40:4 payload length   44:4 CRC-32C of bytes 0 to 43 followed by the payload
 *
 * payloads: HELLO      0:16 job   16:4 server id   20:8 window wanted   28:8 last sequence sent
 *           HELLO_ACK  0:8 window granted   8:8 next sequence wanted   16:8 longest message that is taken
 *           ACK        0:8 next sequence wanted   8:8 free window
 *           NACK       0:8 sequence wanted again; with a message in the header: give it up, it cannot be taken
 *           FIN        0:8 last sequence
 *           ERROR      0:4 code   then text
 *           HEARTBEAT, FIN_ACK   none
 *           CHALLENGE    0:32 nonce   32:16 job   48:4 server id
 *           PROOF        0:32 see SecretProof
 *           REVERSE (receiver to server)        a piece, see PieceFlyweight
 *           REVERSE_STATE (server to receiver)  see ReverseLink
 * </pre>
 */
public final class FrameFlyweight {
    public static final int LENGTH = 48;
    public static final int MAGIC = 0x44525431;
    public static final int VERSION = 1;
    public static final int PAYLOAD_MAX = 1024 * 1024;
    public static final int CONTROL_PAYLOAD_MAX = 1024;

    /**
     * Highest number, position and length that is taken from a peer or a file: sums and differences
     * of two of them do not wrap.
     */
    public static final long NUMBER_MAX = Long.MAX_VALUE / 2;

    public static final int HELLO = 1;
    public static final int HELLO_ACK = 2;
    public static final int DATA = 3;
    public static final int ACK = 4;
    public static final int NACK = 5;
    public static final int HEARTBEAT = 6;
    public static final int FIN = 7;
    public static final int FIN_ACK = 8;
    public static final int ERROR = 9;
    public static final int REVERSE = 10;
    public static final int REVERSE_STATE = 11;
    public static final int CHALLENGE = 12;
    public static final int PROOF = 13;

    public static final int FIRST = 1;
    public static final int LAST = 2;
    public static final int FILE_BEGIN = 4;
    public static final int FILE_END = 8;
    public static final int GIVEN_UP = 16;

    /** A frame about a client, with a {@link ClientNotice}: its process was lost. */
    public static final int CLIENT_LOST = 32;

    /** As the other: it is served here from now on, and was served before. */
    public static final int CLIENT_HERE = 64;

    public static final int NOTICES = CLIENT_LOST | CLIENT_HERE;
    private static final int KNOWN_FLAGS = 127;

    public static final int HELLO_LENGTH = 36;
    public static final int HELLO_ACK_LENGTH = 24;
    public static final int ACK_LENGTH = 16;
    public static final int NACK_LENGTH = 8;
    public static final int FIN_LENGTH = 8;
    public static final int CHALLENGE_LENGTH = 52;

    /** Kinds of REVERSE_STATE: only the grant; an inbox is there; it has gone. */
    public static final int REVERSE_GRANT = 0;

    public static final int REVERSE_HERE = 1;
    public static final int REVERSE_GONE = 2;
    public static final int REVERSE_STATE_LENGTH = 40;

    public static final int ERROR_PROTOCOL = 1;
    public static final int ERROR_GAP = 2;
    public static final int ERROR_TOO_LONG = 3;
    public static final int ERROR_STORE = 4;
    public static final int ERROR_WINDOW = 5;
    public static final int ERROR_STOPPED = 6;
    public static final int ERROR_SECRET = 7;

    private static final int TYPE_OFFSET = 5;
    private static final int FLAGS_OFFSET = 6;
    private static final int SEQUENCE_OFFSET = 8;
    private static final int CLIENT_OFFSET = 16;
    private static final int TAG_OFFSET = 20;
    private static final int MESSAGE_OFFSET = 24;
    private static final int POSITION_OFFSET = 32;
    private static final int PAYLOAD_OFFSET = 40;
    private static final int CRC_OFFSET = 44;

    private final Checksum crc = new Checksum();
    private MutableDirectBuffer buffer;
    private int offset;
    private int payloadChecksum;

    /** Starts a frame of this type, all other fields zero. */
    public FrameFlyweight begin(MutableDirectBuffer target, int at, int type) {
        target.boundsCheck(at, LENGTH);
        target.setMemory(at, LENGTH, (byte) 0);
        target.putInt(at, MAGIC, BIG_ENDIAN);
        target.putByte(at + 4, (byte) VERSION);
        target.putByte(at + TYPE_OFFSET, (byte) type);
        buffer = target;
        offset = at;
        return this;
    }

    public FrameFlyweight flags(int flags) {
        buffer.putShort(offset + FLAGS_OFFSET, (short) flags, BIG_ENDIAN);
        return this;
    }

    public FrameFlyweight sequence(long sequence) {
        buffer.putLong(offset + SEQUENCE_OFFSET, sequence, BIG_ENDIAN);
        return this;
    }

    public FrameFlyweight message(int clientId, long messageSequence, int tag, long position) {
        buffer.putInt(offset + CLIENT_OFFSET, clientId, BIG_ENDIAN);
        buffer.putInt(offset + TAG_OFFSET, tag, BIG_ENDIAN);
        buffer.putLong(offset + MESSAGE_OFFSET, messageSequence, BIG_ENDIAN);
        buffer.putLong(offset + POSITION_OFFSET, position, BIG_ENDIAN);
        return this;
    }

    /** Writes payload length and checksum; the header is complete. */
    public void end(DirectBuffer payload, int payloadOffset, int payloadLength) {
        buffer.putInt(offset + PAYLOAD_OFFSET, payloadLength, BIG_ENDIAN);
        crc.reset().update(buffer, offset, CRC_OFFSET);
        if (payloadLength > 0) {
            crc.update(payload, payloadOffset, payloadLength);
        }
        buffer.putInt(offset + CRC_OFFSET, crc.value(), BIG_ENDIAN);
    }

    /** As the other, with a payload whose checksum is known. */
    public void end(int payloadChecksum, int payloadLength) {
        buffer.putInt(offset + PAYLOAD_OFFSET, payloadLength, BIG_ENDIAN);
        crc.reset().update(buffer, offset, CRC_OFFSET).append(payloadChecksum, payloadLength);
        buffer.putInt(offset + CRC_OFFSET, crc.value(), BIG_ENDIAN);
    }

    /**
     * Moves to a header that may come from anywhere and checks its fixed fields; the checksum is
     * checked by {@link #isIntact} once the payload is there.
     *
     * @throws DartException MALFORMED naming the field
     */
    public FrameFlyweight wrap(MutableDirectBuffer from, int at) {
        from.boundsCheck(at, LENGTH);
        buffer = from;
        offset = at;
        if (from.getInt(at, BIG_ENDIAN) != MAGIC) {
            throw malformed("magic 0x" + Integer.toHexString(from.getInt(at, BIG_ENDIAN)));
        }
        if (from.getByte(at + 4) != VERSION) {
            throw malformed("version " + from.getByte(at + 4));
        }
        if (type() < HELLO || type() > PROOF) {
            throw malformed("type " + type());
        }
        int max =
                type() == DATA
                        ? PAYLOAD_MAX
                        : type() == REVERSE ? PieceFlyweight.LENGTH_MAX : CONTROL_PAYLOAD_MAX;
        if (payloadLength() < 0 || payloadLength() > max) {
            throw malformed("payload length " + payloadLength() + " of type " + type());
        }
        return this;
    }

    /** Whether the checksum matches header and payload. */
    public boolean isIntact(DirectBuffer payload, int payloadOffset) {
        crc.reset().update(buffer, offset, CRC_OFFSET);
        if (payloadLength() > 0) {
            crc.update(payload, payloadOffset, payloadLength());
        }
        return crc.value() == buffer.getInt(offset + CRC_OFFSET, BIG_ENDIAN);
    }

    /**
     * As the other, with the checksum of the payload computed while it came in.
     *
     * @param checksum of the payload alone; 0 if there is none
     */
    public boolean isIntact(int checksum) {
        payloadChecksum = checksum;
        crc.reset().update(buffer, offset, CRC_OFFSET).append(checksum, payloadLength());
        return crc.value() == buffer.getInt(offset + CRC_OFFSET, BIG_ENDIAN);
    }

    /** Checksum of the payload alone, after {@link #isIntact(int)}. */
    public int payloadChecksum() {
        return payloadChecksum;
    }

    /**
     * Checks the fields of an intact frame.
     *
     * @throws DartException MALFORMED naming the field
     */
    public void check() {
        switch (type()) {
            case HELLO -> needLength(HELLO_LENGTH);
            case HELLO_ACK -> needLength(HELLO_ACK_LENGTH);
            case ACK -> needLength(ACK_LENGTH);
            case NACK -> needLength(NACK_LENGTH);
            case FIN -> needLength(FIN_LENGTH);
            case CHALLENGE -> needLength(CHALLENGE_LENGTH);
            case PROOF -> needLength(SecretProof.PROOF_LENGTH);
            case HEARTBEAT, FIN_ACK -> needLength(0);
            case REVERSE_STATE -> needLength(REVERSE_STATE_LENGTH);
            case REVERSE -> {
                if (payloadLength() < PieceFlyweight.HEADER_LENGTH) {
                    throw malformed("REVERSE of " + payloadLength() + " bytes");
                }
            }
            case DATA -> {
                if ((flags() & ~KNOWN_FLAGS) != 0) {
                    throw malformed("flags 0x" + Integer.toHexString(flags()));
                }
                boolean isPossible =
                        isNumber(sequence())
                                && sequence() > 0
                                && messageSequence() > 0
                                && isNumber(position());
                if (!isPossible) {
                    throw malformed(
                            "sequence %s, message %s, position %s"
                                    .formatted(sequence(), messageSequence(), position()));
                }
            }
            default -> {
                if (payloadLength() < 4 || !isNumber(sequence())) {
                    throw malformed(
                            "ERROR of " + payloadLength() + " bytes, sequence " + sequence());
                }
            }
        }
    }

    /** Whether it is in the range 0 to {@link #NUMBER_MAX}. */
    public static boolean isNumber(long value) {
        return value >= 0 && value <= NUMBER_MAX;
    }

    private void needLength(int length) {
        if (payloadLength() != length) {
            throw malformed("type " + type() + " with " + payloadLength() + " bytes of payload");
        }
    }

    public int type() {
        return buffer.getByte(offset + TYPE_OFFSET);
    }

    public int flags() {
        return buffer.getShort(offset + FLAGS_OFFSET, BIG_ENDIAN) & 0xFFFF;
    }

    public long sequence() {
        return buffer.getLong(offset + SEQUENCE_OFFSET, BIG_ENDIAN);
    }

    public int clientId() {
        return buffer.getInt(offset + CLIENT_OFFSET, BIG_ENDIAN);
    }

    public int tag() {
        return buffer.getInt(offset + TAG_OFFSET, BIG_ENDIAN);
    }

    public long messageSequence() {
        return buffer.getLong(offset + MESSAGE_OFFSET, BIG_ENDIAN);
    }

    public long position() {
        return buffer.getLong(offset + POSITION_OFFSET, BIG_ENDIAN);
    }

    public int payloadLength() {
        return buffer.getInt(offset + PAYLOAD_OFFSET, BIG_ENDIAN);
    }

    private static DartException malformed(String what) {
        return Code.MALFORMED.because("frame: " + what);
    }
}
