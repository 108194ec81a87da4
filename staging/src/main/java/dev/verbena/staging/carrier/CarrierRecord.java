package dev.verbena.staging.carrier;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.memory.RemoteDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What the two ends of a carried stream tell each other in messages; 64 bytes, little-endian.
 *
 * <pre>
 *  offset size field
 *       0    4 type
 *       4    4 GREETING: length of the ring
 *       8    8 READ: bytes read since the stream began
 *      16   48 GREETING: descriptor of the ring
 * </pre>
 */
final class CarrierRecord {
    /** Bytes of every record. */
    static final int LENGTH = 64;

    /** Where the peer may write; the first record of each end. */
    static final int GREETING = 1;

    /** How much was read. */
    static final int READ = 2;

    /** Most bytes of a ring. */
    static final int RING_MAX = 1 << 28;

    private static final int RING_OFFSET = 4;
    private static final int READ_OFFSET = 8;
    private static final int DESCRIPTOR_OFFSET = 16;

    private CarrierRecord() {}

    static void greeting(
            MutableDirectBuffer buffer, int at, int ringLength, RemoteDescriptor descriptor) {
        buffer.putInt(at, GREETING, LITTLE_ENDIAN);
        buffer.putInt(at + RING_OFFSET, ringLength, LITTLE_ENDIAN);
        buffer.putLong(at + READ_OFFSET, 0, LITTLE_ENDIAN);
        descriptor.encode(buffer, at + DESCRIPTOR_OFFSET);
    }

    static void read(MutableDirectBuffer buffer, int at, long read) {
        buffer.setMemory(at, LENGTH, (byte) 0);
        buffer.putInt(at, READ, LITTLE_ENDIAN);
        buffer.putLong(at + READ_OFFSET, read, LITTLE_ENDIAN);
    }

    static int type(DirectBuffer buffer, int at) {
        return buffer.getInt(at, LITTLE_ENDIAN);
    }

    static int ringLength(DirectBuffer buffer, int at) {
        return buffer.getInt(at + RING_OFFSET, LITTLE_ENDIAN);
    }

    static long read(DirectBuffer buffer, int at) {
        return buffer.getLong(at + READ_OFFSET, LITTLE_ENDIAN);
    }

    /**
     * The ring's descriptor.
     *
     * @throws IllegalArgumentException if it is none
     */
    static RemoteDescriptor descriptor(DirectBuffer buffer, int at) {
        return new RemoteDescriptor().decode(buffer, at + DESCRIPTOR_OFFSET);
    }
}
