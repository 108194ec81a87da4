package dev.verbena.dart.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.staging.Checksum;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Piece of a message that goes from a receiver back to a compute process: 40 bytes, little-endian,
 * then the payload. It travels unchanged through the server and lies so in a slot of the process'
 * inbox. Movable view, one thread.
 *
 * <pre>
 *  0:4 magic 0x4B434142   4:4 CRC-32C of byte 8 to the end of the payload
 *  8:8 number of the piece at this destination, from 1
 * 16:4 kind (1 data, 2 steering)   20:4 type, the user's   24:4 length of the message
 * 28:4 position of this payload in the message   32:4 payload length   36:4 zero
 * </pre>
 */
public final class PieceFlyweight {
    public static final int HEADER_LENGTH = 40;

    /** Longest piece, header included; also the length of a slot. */
    public static final int LENGTH_MAX = 64 * 1024;

    /** Most slots of an inbox. */
    public static final int SLOTS_MAX = 1024;

    public static final int PAYLOAD_MAX = LENGTH_MAX - HEADER_LENGTH;
    public static final int DATA = 1;
    public static final int STEERING = 2;

    private static final int MAGIC = 0x4B434142;
    private static final int CRC_OFFSET = 4;
    private static final int NUMBER_OFFSET = 8;
    private static final int KIND_OFFSET = 16;
    private static final int TYPE_OFFSET = 20;
    private static final int MESSAGE_OFFSET = 24;
    private static final int POSITION_OFFSET = 28;
    private static final int PAYLOAD_OFFSET = 32;
    private static final int ZERO_OFFSET = 36;

    private final Checksum crc = new Checksum();
    private DirectBuffer buffer;
    private int offset;

    /** Pieces of a message of this length; an empty one has one, too. */
    public static int count(int messageLength) {
        return Math.max(1, (int) (((long) messageLength + PAYLOAD_MAX - 1) / PAYLOAD_MAX));
    }

    /** Writes a piece; its length with header. */
    public int encode(
            MutableDirectBuffer to,
            int at,
            long number,
            int kind,
            int type,
            byte[] message,
            int position) {
        int length = Math.min(PAYLOAD_MAX, message.length - position);
        to.putInt(at, MAGIC, LITTLE_ENDIAN);
        to.putLong(at + NUMBER_OFFSET, number, LITTLE_ENDIAN);
        to.putInt(at + KIND_OFFSET, kind, LITTLE_ENDIAN);
        to.putInt(at + TYPE_OFFSET, type, LITTLE_ENDIAN);
        to.putInt(at + MESSAGE_OFFSET, message.length, LITTLE_ENDIAN);
        to.putInt(at + POSITION_OFFSET, position, LITTLE_ENDIAN);
        to.putInt(at + PAYLOAD_OFFSET, length, LITTLE_ENDIAN);
        to.putInt(at + ZERO_OFFSET, 0, LITTLE_ENDIAN);
        to.putBytes(at + HEADER_LENGTH, message, position, length);
        int value = crc.of(to, at + NUMBER_OFFSET, HEADER_LENGTH - NUMBER_OFFSET + length);
        to.putInt(at + CRC_OFFSET, value, LITTLE_ENDIAN);
        return HEADER_LENGTH + length;
    }

    /**
     * Moves to a piece that may come from anywhere.
     *
     * @param available bytes that there are, header included
     * @return null if it is whole and makes sense; otherwise what is wrong
     */
    public String wrap(DirectBuffer from, int at, int available) {
        buffer = from;
        offset = at;
        if (available < HEADER_LENGTH || from.getInt(at, LITTLE_ENDIAN) != MAGIC) {
            return "no piece";
        }
        int length = payloadLength();
        if (length < 0 || length > PAYLOAD_MAX || length > available - HEADER_LENGTH) {
            return "payload length";
        }
        int value = crc.of(from, at + NUMBER_OFFSET, HEADER_LENGTH - NUMBER_OFFSET + length);
        if (value != from.getInt(at + CRC_OFFSET, LITTLE_ENDIAN)) {
            return "checksum";
        }
        boolean isPossible =
                number() >= 1
                        && FrameFlyweight.isNumber(number())
                        && kind() >= DATA
                        && kind() <= STEERING
                        && messageLength() >= 0
                        && position() >= 0
                        && (long) position() + length <= messageLength()
                        && (length > 0 || messageLength() == 0);
        return isPossible ? null : "number, kind, position or length";
    }

    public long number() {
        return buffer.getLong(offset + NUMBER_OFFSET, LITTLE_ENDIAN);
    }

    public int kind() {
        return buffer.getInt(offset + KIND_OFFSET, LITTLE_ENDIAN);
    }

    public int type() {
        return buffer.getInt(offset + TYPE_OFFSET, LITTLE_ENDIAN);
    }

    public int messageLength() {
        return buffer.getInt(offset + MESSAGE_OFFSET, LITTLE_ENDIAN);
    }

    public int position() {
        return buffer.getInt(offset + POSITION_OFFSET, LITTLE_ENDIAN);
    }

    public int payloadLength() {
        return buffer.getInt(offset + PAYLOAD_OFFSET, LITTLE_ENDIAN);
    }

    /** Where the payload begins in the buffer. */
    public int payloadOffset() {
        return offset + HEADER_LENGTH;
    }
}
