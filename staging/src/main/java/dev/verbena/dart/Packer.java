package dev.verbena.dart;

import dev.verbena.staging.Arguments;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Packs many small items into one message: the buffered form of a restart file (section 3.1 of the
 * specification). Items are written one after the other, little-endian, without gaps, so the
 * payload is the concatenation of what unbuffered sends would carry. Rows of a two-dimensional
 * array follow each other; they may differ in length.
 *
 * <p>Off-heap memory that grows, at most to the limit, and is kept for the next message; it goes
 * with the packer. An array allocates a small view, a single value nothing. One thread.
 */
public final class Packer {
    private static final int LENGTH_FIRST = 4096;

    private final int lengthMax;
    private ByteBuffer memory;

    /** Over the memory; made when it is first asked for, which may need Agrona's memory access. */
    private UnsafeBuffer view;

    private int length;
    private int itemCount;

    /**
     * A packer.
     *
     * @param lengthMax most bytes of one message
     */
    public Packer(int lengthMax) {
        Arguments.range("lengthMax", lengthMax, 1, Integer.MAX_VALUE - 4096);
        this.lengthMax = lengthMax;
        grow(Math.min(lengthMax, LENGTH_FIRST));
    }

    /** Appends 4 bytes. */
    public Packer putInt(int value) {
        memory.putInt(claim(4), value);
        return this;
    }

    /** Appends 8 bytes. */
    public Packer putLong(long value) {
        memory.putLong(claim(8), value);
        return this;
    }

    /** Appends 4 bytes. */
    public Packer putFloat(float value) {
        memory.putFloat(claim(4), value);
        return this;
    }

    /** Appends 8 bytes. */
    public Packer putDouble(double value) {
        memory.putDouble(claim(8), value);
        return this;
    }

    /** Appends all elements as one item, 4 bytes each. */
    public Packer putArray(int[] values) {
        at(claim(size(4, values.length))).asIntBuffer().put(values);
        return this;
    }

    /** Appends all rows as one item, 4 bytes each element. */
    public Packer putArray(int[][] rows) {
        var target = at(claim(size(4, count(rows)))).asIntBuffer();
        for (int[] row : rows) {
            target.put(row);
        }
        return this;
    }

    /** Appends all elements as one item, 8 bytes each. */
    public Packer putArray(long[] values) {
        at(claim(size(8, values.length))).asLongBuffer().put(values);
        return this;
    }

    /** Appends all rows as one item, 8 bytes each element. */
    public Packer putArray(long[][] rows) {
        var target = at(claim(size(8, count(rows)))).asLongBuffer();
        for (long[] row : rows) {
            target.put(row);
        }
        return this;
    }

    /** Appends all elements as one item, 4 bytes each. */
    public Packer putArray(float[] values) {
        at(claim(size(4, values.length))).asFloatBuffer().put(values);
        return this;
    }

    /** Appends all rows as one item, 4 bytes each element. */
    public Packer putArray(float[][] rows) {
        var target = at(claim(size(4, count(rows)))).asFloatBuffer();
        for (float[] row : rows) {
            target.put(row);
        }
        return this;
    }

    /** Appends all elements as one item, 8 bytes each. */
    public Packer putArray(double[] values) {
        at(claim(size(8, values.length))).asDoubleBuffer().put(values);
        return this;
    }

    /** Appends all rows as one item, 8 bytes each element. */
    public Packer putArray(double[][] rows) {
        var target = at(claim(size(8, count(rows)))).asDoubleBuffer();
        for (double[] row : rows) {
            target.put(row);
        }
        return this;
    }

    /** Appends bytes as one item. Copies. */
    public Packer putBytes(DirectBuffer source, int offset, int count) {
        source.boundsCheck(offset, count);
        int at = claim(count);
        view().putBytes(at, source, offset, count);
        return this;
    }

    /** Bytes packed. */
    public int length() {
        return length;
    }

    /** Items packed. */
    public int itemCount() {
        return itemCount;
    }

    /** What was packed, from 0 to {@link #length()}; valid until the next item is appended. */
    public MutableDirectBuffer buffer() {
        return view();
    }

    /**
     * Sends everything packed as one message, by copy, and empties the packer. Waits as {@link
     * DartClient#sendCopy} does.
     */
    public DartTicket commit(DartClient client, DartMetadata metadata, int tag) {
        DartTicket ticket = client.sendCopy(view(), 0, length, metadata, tag);
        clear();
        return ticket;
    }

    /** Forgets what was packed. */
    public Packer clear() {
        length = 0;
        itemCount = 0;
        return this;
    }

    /** Room for one item; what it begins at. */
    private int claim(int count) {
        if (count > lengthMax - length) {
            throw new IllegalStateException(
                    "packer holds %s bytes; %s more exceed its limit of %s"
                            .formatted(length, count, lengthMax));
        }
        int at = length;
        int needed = at + count;
        if (needed > memory.capacity()) {
            grow((int) Math.min(lengthMax, Math.max(needed, 2L * memory.capacity())));
        }
        length = needed;
        itemCount++;
        return at;
    }

    private static long count(Object[] rows) {
        long count = 0;
        for (Object row : rows) {
            count += Array.getLength(row);
        }
        return count;
    }

    private static int size(int elementSize, long count) {
        return Math.toIntExact(Math.multiplyExact(elementSize, count));
    }

    private ByteBuffer at(int position) {
        return memory.duplicate().order(ByteOrder.LITTLE_ENDIAN).position(position);
    }

    private void grow(int capacity) {
        ByteBuffer grown = ByteBuffer.allocateDirect(capacity).order(ByteOrder.LITTLE_ENDIAN);
        if (memory != null) {
            grown.put(0, memory, 0, length);
        }
        memory = grown;
        view = null;
    }

    private UnsafeBuffer view() {
        if (view == null) {
            view = new UnsafeBuffer(memory);
        }
        return view;
    }
}
