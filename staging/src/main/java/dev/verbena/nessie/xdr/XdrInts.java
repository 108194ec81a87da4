package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * An array of {@code int}, {@code unsigned int} (as the same bits) or of one of the shorter types
 * of rpcgen; an element takes 4 bytes.
 */
public class XdrInts extends XdrArray {
    private static final int LENGTH = 4;
    private static final int[] NONE = {};

    private final int min;
    private final int max;
    private int[] values = NONE;

    /**
     * An array of zeros, or an empty one.
     *
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrInts(boolean isFixed, int countMax) {
        this(isFixed, countMax, Integer.MIN_VALUE, Integer.MAX_VALUE);
    }

    /** As the other; elements are in a range. */
    public XdrInts(boolean isFixed, int countMax, int min, int max) {
        super(isFixed, countMax);
        this.min = min;
        this.max = max;
        ensureCapacity(count());
    }

    /** An element. */
    public final int get(int index) {
        return values[check(index)];
    }

    /** Replaces an element. */
    public final void set(int index, int value) {
        values[check(index)] = requireRange(value, min, max);
    }

    /** Appends an element. */
    public final void add(int value) {
        requireRange(value, min, max);
        values[grow()] = value;
    }

    /** Replaces all elements by copies. */
    public final void set(int[] source, int offset, int count) {
        java.util.Objects.checkFromIndexSize(offset, count, source.length);
        for (int i = 0; i < count; i++) {
            requireRange(source[offset + i], min, max);
        }
        resize(count);
        System.arraycopy(source, offset, values, 0, count);
    }

    /** A copy of the elements. */
    public final int[] toArray() {
        return Arrays.copyOf(values, count());
    }

    @Override
    final void ensureCapacity(int capacity) {
        if (capacity > values.length) {
            values = Arrays.copyOf(values, grown(values.length, capacity));
        }
    }

    @Override
    final void resetElements(int begin, int end) {
        Arrays.fill(values, begin, end, 0);
    }

    @Override
    protected final long xdrLength(int depth) {
        return headerLength() + (long) count() * LENGTH;
    }

    @Override
    protected final int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {
        int at = putCount(buffer, index);
        int count = count();
        for (int i = 0; i < count; i++, at += LENGTH) {
            buffer.putInt(at, values[i], ByteOrder.BIG_ENDIAN);
        }
        return at;
    }

    @Override
    protected final int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        int at = takeCount(buffer, index, limit, LENGTH);
        int count = count();
        for (int i = 0; i < count; i++, at += LENGTH) {
            values[i] = narrow(buffer.getInt(at, ByteOrder.BIG_ENDIAN), min, max);
        }
        return at;
    }

    @Override
    protected final void xdrDescribe(StringBuilder text) {
        text.append('[');
        for (int i = 0; i < count(); i++) {
            describe(text, "", values[i]);
        }
        text.append(']');
    }
}
