package dev.verbena.flesnet;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.MutableDirectBuffer;

/**
 * Descriptor of a microslice, as in detector data and archives (spec section 3.1).
 *
 * <pre>
 * offset size field, little-endian
 *  0     1    header id, 0xDD
 *  1     1    header version, 1
 *  2     2    equipment id
 *  4     2    flags: bit 0 CRC valid, 1 and 2 truncated, 3 data error
 *  6     1    subsystem
 *  7     1    format of the subsystem
 *  8     8    index or start time
 * 16     4    CRC-32C of the content
 * 20     4    content bytes
 * 24     8    position of the content in its stream
 * </pre>
 *
 * <p>A movable view; one thread; allocates nothing.
 */
public final class MicrosliceFlyweight {
    /** Bytes of a descriptor. */
    public static final int LENGTH = 32;

    /** Flag: {@link #checksum()} is set. */
    public static final int CRC_VALID = 1;

    /** Flag: the content was cut by the front end's logic, or dropped because a ring was full. */
    public static final int TRUNCATED = 4;

    /** Subsystem of data that FLESnet itself makes. */
    public static final int SYSTEM_FLES = 0xF0;

    /** Format of the ramp: 64-bit words, 16 bits input, 48 bits position of the word. */
    public static final int FORMAT_RAMP = 0x81;

    private static final int HEADER_ID = 0xDD;
    private static final int HEADER_VERSION = 1;

    private MutableDirectBuffer buffer;
    private int offset;

    /** Of nothing until {@link #wrap}. */
    public MicrosliceFlyweight() {}

    /** Moves to a descriptor. */
    public MicrosliceFlyweight wrap(MutableDirectBuffer newBuffer, int newOffset) {
        newBuffer.boundsCheck(newOffset, LENGTH);
        buffer = newBuffer;
        offset = newOffset;
        return this;
    }

    /**
     * Checks header id and version.
     *
     * @throws IllegalArgumentException naming what was found
     */
    public MicrosliceFlyweight check() {
        if (!isKnown()) {
            int id = buffer.getByte(offset) & 0xFF;
            int version = buffer.getByte(offset + 1) & 0xFF;
            throw new IllegalArgumentException(
                    "microslice descriptor: header id 0x%X version %s, not 0xDD version 1"
                            .formatted(id, version));
        }
        return this;
    }

    /** Whether header id and version are those that this class reads. */
    public boolean isKnown() {
        int id = buffer.getByte(offset) & 0xFF;
        return id == HEADER_ID && buffer.getByte(offset + 1) == HEADER_VERSION;
    }

    /** Writes all fields. */
    public MicrosliceFlyweight set(
            int equipment, int flags, int system, int format, long index, int checksum, int size) {
        buffer.putByte(offset, (byte) HEADER_ID);
        buffer.putByte(offset + 1, (byte) HEADER_VERSION);
        buffer.putShort(offset + 2, (short) equipment, LITTLE_ENDIAN);
        buffer.putShort(offset + 4, (short) flags, LITTLE_ENDIAN);
        buffer.putByte(offset + 6, (byte) system);
        buffer.putByte(offset + 7, (byte) format);
        buffer.putLong(offset + 8, index, LITTLE_ENDIAN);
        buffer.putInt(offset + 16, checksum, LITTLE_ENDIAN);
        buffer.putInt(offset + 20, size, LITTLE_ENDIAN);
        return this;
    }

    /** Where its content begins in a stream. */
    public MicrosliceFlyweight contentOffset(long position) {
        buffer.putLong(offset + 24, position, LITTLE_ENDIAN);
        return this;
    }

    /** Equipment. */
    public int equipment() {
        return buffer.getShort(offset + 2, LITTLE_ENDIAN) & 0xFFFF;
    }

    /** Flags. */
    public int flags() {
        return buffer.getShort(offset + 4, LITTLE_ENDIAN) & 0xFFFF;
    }

    /** Subsystem. */
    public int system() {
        return buffer.getByte(offset + 6) & 0xFF;
    }

    /** Format of the subsystem. */
    public int format() {
        return buffer.getByte(offset + 7) & 0xFF;
    }

    /** Index or start time. */
    public long index() {
        return buffer.getLong(offset + 8, LITTLE_ENDIAN);
    }

    /** CRC-32C of the content, if {@link #CRC_VALID}. */
    public int checksum() {
        return buffer.getInt(offset + 16, LITTLE_ENDIAN);
    }

    /** Content bytes, 0 to 2^32 - 1. */
    public long size() {
        return buffer.getInt(offset + 20, LITTLE_ENDIAN) & 0xFFFFFFFFL;
    }

    /** Position of the content. */
    public long contentOffset() {
        return buffer.getLong(offset + 24, LITTLE_ENDIAN);
    }

    /** Whether this content is what the descriptor says; true if it says nothing. */
    public boolean isContentValid(int contentChecksum) {
        return (flags() & CRC_VALID) == 0 || checksum() == contentChecksum;
    }
}
