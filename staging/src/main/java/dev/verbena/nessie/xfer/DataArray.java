package dev.verbena.nessie.xfer;

import static java.nio.ByteOrder.BIG_ENDIAN;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import java.nio.ByteBuffer;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * {@code data_array_t}: elements of an int, a float and a double. In memory an element takes 16
 * bytes, little-endian, as it does in XDR, big-endian. One thread; allocates only to grow.
 *
 * <pre>
 * 0: int_val  4: float_val  8: double_val (8)
 * </pre>
 */
public final class DataArray implements XdrValue {
    /** Bytes of an element. */
    public static final int ELEMENT_LENGTH = 16;

    /** Most elements of an array: 1 GiB. */
    public static final int COUNT_MAX = 1 << 26;

    private static final int FIRST_VALUE = 1024;
    private static final int KEPT_LENGTH_MAX = 1 << 20;

    private final UnsafeBuffer memory = new UnsafeBuffer(0, 0);
    private int count;

    /** Empty. */
    public DataArray() {}

    /** Gives it so many elements; what they hold is open. */
    public DataArray resize(int newCount) {
        long length = (long) newCount * ELEMENT_LENGTH;
        if (length > memory.capacity()) {
            memory.wrap(ByteBuffer.allocateDirect(Math.toIntExact(length)));
        }
        count = newCount;
        return this;
    }

    /** Empties it; its memory is kept only if it is at most 1 MiB. */
    void release() {
        count = 0;
        if (memory.capacity() > KEPT_LENGTH_MAX) {
            memory.wrap(0, 0);
        }
    }

    /** Number of elements. */
    public int count() {
        return count;
    }

    /** Bytes in memory. */
    public int length() {
        return count * ELEMENT_LENGTH;
    }

    /** The elements; valid until the array grows. */
    public MutableDirectBuffer memory() {
        return memory;
    }

    /**
     * Fills elements of an array as its seed says: number {@code i} is seed + 1024 + i in all three
     * fields.
     *
     * @param from number of the first
     */
    public static void fill(MutableDirectBuffer to, int at, int count, int seed, int from) {
        for (int i = 0; i < count; i++) {
            int value = seed + FIRST_VALUE + from + i;
            int index = at + i * ELEMENT_LENGTH;
            to.putInt(index, value, LITTLE_ENDIAN);
            to.putFloat(index + 4, value, LITTLE_ENDIAN);
            to.putDouble(index + 8, value, LITTLE_ENDIAN);
        }
    }

    /**
     * Compares elements with what {@link #fill} gives.
     *
     * @return number of the first that differs; -1: none does
     */
    public static int mismatch(DirectBuffer in, int at, int count, int seed, int from) {
        for (int i = 0; i < count; i++) {
            int value = seed + FIRST_VALUE + from + i;
            int index = at + i * ELEMENT_LENGTH;
            boolean isEqual =
                    in.getInt(index, LITTLE_ENDIAN) == value
                            && in.getFloat(index + 4, LITTLE_ENDIAN) == (float) value
                            && in.getDouble(index + 8, LITTLE_ENDIAN) == value;
            if (!isEqual) {
                return from + i;
            }
        }
        return -1;
    }

    @Override
    public int encodedLength() {
        return Math.addExact(Integer.BYTES, length());
    }

    @Override
    public int encode(MutableDirectBuffer buffer, int index) {
        buffer.boundsCheck(index, encodedLength());
        buffer.putInt(index, count, BIG_ENDIAN);
        swap(memory, 0, buffer, index + Integer.BYTES, count);
        return encodedLength();
    }

    @Override
    public int decode(DirectBuffer buffer, int index, int limit) {
        int left = limit - index - Integer.BYTES;
        int announced = left < 0 ? -1 : buffer.getInt(index, BIG_ENDIAN);
        if (announced < 0 || announced > left / ELEMENT_LENGTH) {
            throw new XdrException("an array of " + announced + " elements in " + left + " bytes");
        }
        resize(announced);
        swap(buffer, index + Integer.BYTES, memory, 0, count);
        return encodedLength();
    }

    /** Copies elements between the two orders of bytes. */
    private static void swap(
            DirectBuffer from, int fromAt, MutableDirectBuffer to, int toAt, int count) {
        for (int at = 0; at < count * ELEMENT_LENGTH; at += ELEMENT_LENGTH) {
            to.putInt(toAt + at, from.getInt(fromAt + at, LITTLE_ENDIAN), BIG_ENDIAN);
            to.putInt(toAt + at + 4, from.getInt(fromAt + at + 4, LITTLE_ENDIAN), BIG_ENDIAN);
            to.putLong(toAt + at + 8, from.getLong(fromAt + at + 8, LITTLE_ENDIAN), BIG_ENDIAN);
        }
    }
}
