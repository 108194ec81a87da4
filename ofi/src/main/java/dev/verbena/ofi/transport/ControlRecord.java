package dev.verbena.ofi.transport;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.transport.core.ControlHeader;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * What makes and ends connections, {@value #LENGTH} bytes, little-endian.
 *
 * <pre>
 * offset size field
 *   0    20   {@link ControlHeader}
 *  20     4   zero
 *  24     8   the sender's incarnation
 *  32     8   incarnation that is wanted; 0: any
 *  40     8   hash of the sender's job
 *  48     8   longest silence that the sender bears, ns
 *  56     4   length of the name of the sender's endpoint
 *  60     4   zero
 *  64   128   that name
 * 192   256   private data
 * </pre>
 */
final class ControlRecord extends ControlHeader {
    static final int LENGTH = 448;
    static final int NAME_MAX = 128;
    static final int ANY_LENGTH = 0;

    /** As REJECT: the receiver does not listen. */
    static final int DEAF = 6;

    /** The request to connect has arrived; the user is to answer. */
    static final int SEEN = 7;

    /** As REJECT: another incarnation is wanted. */
    static final int OTHER = 8;

    /** As REJECT: another job. */
    static final int FOREIGN = 9;

    /** As REJECT: the receiver's records have another version; in the version of the request. */
    static final int VERSION = 10;

    /** The connection ends: nothing has arrived from the receiver for the peer timeout. */
    static final int SILENT = 11;

    /** The last of these types. */
    static final int TYPE_MAX = SILENT;

    /** Sender of a DISCONNECT whose provider may go on with operations that it has given up. */
    static final int GIVEN_UP = -1;

    private static final int INCARNATION = 24;
    private static final int WANTED = 32;
    private static final int JOB = 40;
    private static final int SILENCE = 48;
    private static final int NAME_LENGTH = 56;
    private static final int NAME = 64;
    private static final int PRIVATE = 192;
    private static final int MESSAGE_LENGTH_MAX = 1 << 30;

    private UnsafeBuffer buffer;
    private int offset;

    ControlRecord() {
        super(PRIVATE);
    }

    ControlRecord wrap(UnsafeBuffer buffer, int offset) {
        this.buffer = buffer;
        this.offset = offset;
        wrapRecord(buffer, offset);
        return this;
    }

    /** Who sends. */
    void sender(long incarnation, long job, long silenceNs, byte[] name) {
        buffer.setMemory(offset, LENGTH, (byte) 0);
        buffer.putLong(offset + INCARNATION, incarnation, LITTLE_ENDIAN);
        buffer.putLong(offset + JOB, job, LITTLE_ENDIAN);
        buffer.putLong(offset + SILENCE, silenceNs, LITTLE_ENDIAN);
        buffer.putInt(offset + NAME_LENGTH, name.length, LITTLE_ENDIAN);
        buffer.putBytes(offset + NAME, name);
    }

    void wanted(long incarnation) {
        buffer.putLong(offset + WANTED, incarnation, LITTLE_ENDIAN);
    }

    /** It is in this version of the records, which the receiver speaks. */
    void version(int version) {
        buffer.putByte(offset, (byte) version);
    }

    /** Whether there is a name of a length that makes sense; in records of every version. */
    boolean hasName() {
        int nameLength = buffer.getInt(offset + NAME_LENGTH, LITTLE_ENDIAN);
        return nameLength >= 1 && nameLength <= NAME_MAX;
    }

    /**
     * Empty if every field makes sense, else what does not.
     *
     * @param nameLength of every endpoint's name, or {@link #ANY_LENGTH}
     */
    String fault(int nameLength) {
        if (!hasName() || nameLength != ANY_LENGTH && name().length != nameLength) {
            return "a name of " + buffer.getInt(offset + NAME_LENGTH, LITTLE_ENDIAN) + " bytes";
        }
        if (silenceNs() < 1 || incarnation() == 0) {
            return "a silence of " + silenceNs() + " ns, incarnation " + incarnation();
        }
        return headerFault(TYPE_MAX, MESSAGE_LENGTH_MAX);
    }

    long incarnation() {
        return buffer.getLong(offset + INCARNATION, LITTLE_ENDIAN);
    }

    long wanted() {
        return buffer.getLong(offset + WANTED, LITTLE_ENDIAN);
    }

    long job() {
        return buffer.getLong(offset + JOB, LITTLE_ENDIAN);
    }

    long silenceNs() {
        return buffer.getLong(offset + SILENCE, LITTLE_ENDIAN);
    }

    /** A copy. */
    byte[] name() {
        byte[] name = new byte[buffer.getInt(offset + NAME_LENGTH, LITTLE_ENDIAN)];
        buffer.getBytes(offset + NAME, name);
        return name;
    }
}
