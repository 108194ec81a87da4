package dev.verbena.transport.core;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.concurrent.UnsafeBuffer;

/**
 * The first {@value #LENGTH} bytes of a control record, little-endian; the rest is the provider's.
 *
 * <pre>
 * offset size field
 *   0     1   version (1)
 *   1     1   type: one of {@link ConnectionLife}, or of the provider's own
 *   2     2   length of the private data
 *   4     4   connection at the receiver, 0 in CONNECT
 *   8     4   connection at the sender
 *  12     4   messages that the sender takes in flight
 *  16     4   longest message that the sender takes
 * </pre>
 */
public class ControlHeader {
    /** Bytes of the header. */
    public static final int LENGTH = 20;

    /** Longest private data. */
    public static final int PRIVATE_MAX = 256;

    private static final int VERSION = 1;
    private static final int TYPE_OFFSET = 1;
    private static final int PRIVATE_LENGTH_OFFSET = 2;
    private static final int TO_OFFSET = 4;
    private static final int FROM_OFFSET = 8;
    private static final int CREDITS_OFFSET = 12;
    private static final int MESSAGE_LENGTH_OFFSET = 16;
    private static final int CREDITS_MAX = 1 << 12;

    private final int privateOffset;
    private UnsafeBuffer buffer;
    private int offset;

    /**
     * Of no record yet.
     *
     * @param privateOffset where private data begins in the record
     */
    protected ControlHeader(int privateOffset) {
        this.privateOffset = privateOffset;
    }

    /** It is of the record that begins there. */
    protected final void wrapRecord(UnsafeBuffer buffer, int offset) {
        this.buffer = buffer;
        this.offset = offset;
    }

    /** Writes all of it, and the private data; null: none. */
    public void write(int type, int to, int from, int credits, int messageLengthMax, byte[] data) {
        int length = data == null ? 0 : data.length;
        buffer.putByte(offset, (byte) VERSION);
        buffer.putByte(offset + TYPE_OFFSET, (byte) type);
        buffer.putShort(offset + PRIVATE_LENGTH_OFFSET, (short) length, LITTLE_ENDIAN);
        buffer.putInt(offset + TO_OFFSET, to, LITTLE_ENDIAN);
        buffer.putInt(offset + FROM_OFFSET, from, LITTLE_ENDIAN);
        buffer.putInt(offset + CREDITS_OFFSET, credits, LITTLE_ENDIAN);
        buffer.putInt(offset + MESSAGE_LENGTH_OFFSET, messageLengthMax, LITTLE_ENDIAN);
        buffer.setMemory(offset + privateOffset, PRIVATE_MAX, (byte) 0);
        if (length > 0) {
            buffer.putBytes(offset + privateOffset, data);
        }
    }

    /** Empty if every field of the header makes sense, else what does not. */
    protected final String headerFault(int typeMax, int messageLengthLimit) {
        if (buffer.getByte(offset) != VERSION) {
            return "version " + buffer.getByte(offset);
        }
        if (type() < ConnectionLife.CONNECT || type() > typeMax) {
            return "type " + type();
        }
        if (privateLength() > PRIVATE_MAX) {
            return "private data of " + privateLength() + " bytes";
        }
        if (credits() < 0 || credits() > CREDITS_MAX) {
            return credits() + " credits";
        }
        return messageLengthMax() < 0 || messageLengthMax() > messageLengthLimit
                ? "message length " + messageLengthMax()
                : "";
    }

    /** What it asks for or answers. */
    public final int type() {
        return buffer.getByte(offset + TYPE_OFFSET);
    }

    /** Connection at the receiver. */
    public final int to() {
        return buffer.getInt(offset + TO_OFFSET, LITTLE_ENDIAN);
    }

    /** Connection at the sender. */
    public final int from() {
        return buffer.getInt(offset + FROM_OFFSET, LITTLE_ENDIAN);
    }

    /** Messages that the sender takes in flight. */
    public final int credits() {
        return buffer.getInt(offset + CREDITS_OFFSET, LITTLE_ENDIAN);
    }

    /** Longest message that the sender takes. */
    public final int messageLengthMax() {
        return buffer.getInt(offset + MESSAGE_LENGTH_OFFSET, LITTLE_ENDIAN);
    }

    private int privateLength() {
        return buffer.getShort(offset + PRIVATE_LENGTH_OFFSET, LITTLE_ENDIAN) & 0xFFFF;
    }

    /** A copy. */
    public final byte[] privateData() {
        byte[] data = new byte[privateLength()];
        buffer.getBytes(offset + privateOffset, data);
        return data;
    }
}
