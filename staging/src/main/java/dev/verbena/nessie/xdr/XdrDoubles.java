package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** An array of {@code double}; an element takes 8 bytes. */
public class XdrDoubles extends XdrArray {
    private static final int LENGTH = 8;
    private static final double[] NONE = {};

    private double[] values = NONE;

    /**
     * An array of zeros, or an empty one.
     *
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrDoubles(boolean isFixed, int countMax) {
        super(isFixed, countMax);
        ensureCapacity(count());
    }

    /** An element. */
    public final double get(int index) {
        return values[check(index)];
    }

    /** Replaces an element. */
    public final void set(int index, double value) {
        values[check(index)] = value;
    }

    /** Appends an element. */
    public final void add(double value) {
        values[grow()] = value;
    }

    /** Replaces all elements by copies. */
    public final void set(double[] source, int offset, int count) {
        java.util.Objects.checkFromIndexSize(offset, count, source.length);
        resize(count);
        System.arraycopy(source, offset, values, 0, count);
    }

    /** A copy of the elements. */
    public final double[] toArray() {
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
        Arrays.fill(values, begin, end, 0d);
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
            buffer.putDouble(at, values[i], ByteOrder.BIG_ENDIAN);
        }
        return at;
    }

    @Override
    protected final int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        int at = takeCount(buffer, index, limit, LENGTH);
        int count = count();
        for (int i = 0; i < count; i++, at += LENGTH) {
            values[i] = buffer.getDouble(at, ByteOrder.BIG_ENDIAN);
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
