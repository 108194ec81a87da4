package dev.verbena.flesnet;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.MutableDirectBuffer;

/**
 * Descriptor of what one input contributes to one timeslice (spec section 3.2).
 *
 * <pre>
 * offset size field, little-endian
 *  0     8    timeslice
 *  8     8    position in the receive ring's stream, never reduced
 * 16     8    bytes: 32 for each microslice, and all contents
 * 24     8    microslices
 * 32     4    flags: bit 0 missing microslices, bit 1 overflow, bit 2 missing component
 * </pre>
 *
 * <p>A movable view; one thread; allocates nothing.
 */
public final class ComponentFlyweight {
    /** Bytes of a descriptor. */
    public static final int LENGTH = 36;

    /** Flag: microslices were dropped. */
    public static final int MISSING_MICROSLICES = 1;

    /** Flag: an input did not contribute. */
    public static final int MISSING_COMPONENT = 4;

    private MutableDirectBuffer buffer;
    private int offset;

    /** Of nothing until {@link #wrap}. */
    public ComponentFlyweight() {}

    /** Moves to a descriptor. */
    public ComponentFlyweight wrap(MutableDirectBuffer newBuffer, int newOffset) {
        newBuffer.boundsCheck(newOffset, LENGTH);
        buffer = newBuffer;
        offset = newOffset;
        return this;
    }

    /** Writes all fields. */
    public ComponentFlyweight set(
            long timeslice, long position, long size, long microslices, int flags) {
        buffer.putLong(offset, timeslice, LITTLE_ENDIAN);
        buffer.putLong(offset + 8, position, LITTLE_ENDIAN);
        buffer.putLong(offset + 16, size, LITTLE_ENDIAN);
        buffer.putLong(offset + 24, microslices, LITTLE_ENDIAN);
        buffer.putInt(offset + 32, flags, LITTLE_ENDIAN);
        return this;
    }

    /** Number of the timeslice. */
    public long timeslice() {
        return buffer.getLong(offset, LITTLE_ENDIAN);
    }

    /** Position in the stream of the receive ring. */
    public long position() {
        return buffer.getLong(offset + 8, LITTLE_ENDIAN);
    }

    /** Bytes. */
    public long size() {
        return buffer.getLong(offset + 16, LITTLE_ENDIAN);
    }

    /** Microslices. */
    public long microslices() {
        return buffer.getLong(offset + 24, LITTLE_ENDIAN);
    }

    /** Flags. */
    public int flags() {
        return buffer.getInt(offset + 32, LITTLE_ENDIAN);
    }
}
