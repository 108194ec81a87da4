package dev.verbena.ugni.transport;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

import org.agrona.MutableDirectBuffer;
import org.agrona.UnsafeApi;

/**
 * The short message that follows a notifying put, {@value #LENGTH} bytes: memory handle (16),
 * address (8), length (8), tag (4); little-endian.
 */
final class Notice {
    static final int LENGTH = 36;

    /** Where it is written in the NIC's scratch memory. */
    static final int SCRATCH_AT = 64;

    private static final int HIGH = 8;
    private static final int ADDRESS = 16;
    private static final int BYTES = 24;
    private static final int TAG = 32;

    private Notice() {}

    static void write(
            MutableDirectBuffer buffer, long low, long high, long address, long bytes, int tag) {
        buffer.putLong(0, low, LITTLE_ENDIAN);
        buffer.putLong(HIGH, high, LITTLE_ENDIAN);
        buffer.putLong(ADDRESS, address, LITTLE_ENDIAN);
        buffer.putLong(BYTES, bytes, LITTLE_ENDIAN);
        buffer.putInt(TAG, tag, LITTLE_ENDIAN);
    }

    static long low(long at) {
        return UnsafeApi.getLong(null, at);
    }

    static long high(long at) {
        return UnsafeApi.getLong(null, at + HIGH);
    }

    static long address(long at) {
        return UnsafeApi.getLong(null, at + ADDRESS);
    }

    static long bytes(long at) {
        return UnsafeApi.getLong(null, at + BYTES);
    }

    static int tag(long at) {
        return UnsafeApi.getInt(null, at + TAG);
    }
}
