package dev.verbena.portals.transport;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.transport.internal.ConnectionLife;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A record of the system queue, 280 bytes, little-endian; who sent it is in the event.
 *
 * <pre>
 * offset size field
 *  0     1   version (1)
 *  1     1   type: below
 *  2     2   length of the private data
 *  4     4   connection at the receiver, 0 in CONNECT
 *  8     4   connection at the sender
 * 12     4   messages that the receiver may have in flight towards the sender
 * 16     4   longest message that the sender takes
 * 20     4   zero
 * 24   256   private data
 * </pre>
 */
final class ControlRecord {
    static final int LENGTH = 280;
    static final int VERSION = 1;
    static final int PRIVATE_MAX = 256;

    static final int CONNECT = ConnectionLife.CONNECT;
    static final int ACCEPT = ConnectionLife.ACCEPT;
    static final int REJECT = ConnectionLife.REJECT;
    static final int DISCONNECT = ConnectionLife.DISCONNECT;

    /** The receiver's room is used up: as REJECT, with a reason of its own. */
    static final int FULL = 5;

    private static final int VERSION_OFFSET = 0;
    private static final int TYPE_OFFSET = 1;
    private static final int PRIVATE_LENGTH_OFFSET = 2;
    private static final int TO_OFFSET = 4;
    private static final int FROM_OFFSET = 8;
    private static final int CREDITS_OFFSET = 12;
    private static final int MESSAGE_LENGTH_OFFSET = 16;
    private static final int ZERO_OFFSET = 20;
    private static final int PRIVATE_OFFSET = 24;
    private static final int CREDITS_MAX = 1 << 12;

    private UnsafeBuffer buffer;
    private int offset;

    ControlRecord wrap(UnsafeBuffer buffer, int offset) {
        this.buffer = buffer;
        this.offset = offset;
        return this;
    }

    ControlRecord write(
            int type, int to, int from, int credits, int messageLengthMax, byte[] privateData) {
        int privateLength = privateData == null ? 0 : privateData.length;
        buffer.putByte(offset + VERSION_OFFSET, (byte) VERSION);
        buffer.putByte(offset + TYPE_OFFSET, (byte) type);
        buffer.putShort(offset + PRIVATE_LENGTH_OFFSET, (short) privateLength, LITTLE_ENDIAN);
        buffer.putInt(offset + TO_OFFSET, to, LITTLE_ENDIAN);
        buffer.putInt(offset + FROM_OFFSET, from, LITTLE_ENDIAN);
        buffer.putInt(offset + CREDITS_OFFSET, credits, LITTLE_ENDIAN);
        buffer.putInt(offset + MESSAGE_LENGTH_OFFSET, messageLengthMax, LITTLE_ENDIAN);
        buffer.putInt(offset + ZERO_OFFSET, 0, LITTLE_ENDIAN);
        buffer.setMemory(offset + PRIVATE_OFFSET, PRIVATE_MAX, (byte) 0);
        if (privateLength > 0) {
            buffer.putBytes(offset + PRIVATE_OFFSET, privateData);
        }
        return this;
    }

    /** Empty if every field makes sense, else what does not. */
    String fault() {
        if (buffer.getByte(offset + VERSION_OFFSET) != VERSION) {
            return "version " + buffer.getByte(offset + VERSION_OFFSET);
        }
        if (type() < CONNECT || type() > FULL) {
            return "type " + type();
        }
        if (privateLength() > PRIVATE_MAX) {
            return "private data of " + privateLength() + " bytes";
        }
        if (credits() < 0 || credits() > CREDITS_MAX) {
            return credits() + " credits";
        }
        return messageLengthMax() < 0 ? "message length " + messageLengthMax() : "";
    }

    int type() {
        return buffer.getByte(offset + TYPE_OFFSET);
    }

    int privateLength() {
        return buffer.getShort(offset + PRIVATE_LENGTH_OFFSET, LITTLE_ENDIAN) & 0xFFFF;
    }

    int to() {
        return buffer.getInt(offset + TO_OFFSET, LITTLE_ENDIAN);
    }

    int from() {
        return buffer.getInt(offset + FROM_OFFSET, LITTLE_ENDIAN);
    }

    int credits() {
        return buffer.getInt(offset + CREDITS_OFFSET, LITTLE_ENDIAN);
    }

    int messageLengthMax() {
        return buffer.getInt(offset + MESSAGE_LENGTH_OFFSET, LITTLE_ENDIAN);
    }

    byte[] privateData() {
        byte[] data = new byte[privateLength()];
        buffer.getBytes(offset + PRIVATE_OFFSET, data);
        return data;
    }
}
