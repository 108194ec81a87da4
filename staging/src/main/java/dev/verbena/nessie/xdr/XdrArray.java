package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.Objects;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What all arrays share: the number of elements and its bound. A fixed array always has its number
 * of elements; of any other the number precedes the elements, and is 0 at first. Memory grows with
 * the number of elements and is kept.
 */
public abstract class XdrArray extends XdrObject {
    private final boolean isFixed;
    private final int countMax;
    private int count;

    XdrArray(boolean isFixed, int countMax) {
        if (countMax < 0) {
            throw new IllegalArgumentException("bound " + countMax + " is negative");
        }
        this.isFixed = isFixed;
        this.countMax = countMax;
    }

    /** Number of elements. */
    public final int count() {
        return count;
    }

    /** Most elements that there may be. */
    public final int countMax() {
        return countMax;
    }

    /** True if the number of elements never changes. */
    public final boolean isFixed() {
        return isFixed;
    }

    /**
     * Changes the number of elements. Those that come to it have the value of new ones.
     *
     * @throws IllegalArgumentException beyond the bound, or for another number in a fixed array
     */
    public final void resize(int count) {
        if (count < 0 || count > countMax || isFixed && count != countMax) {
            String bound = (isFixed ? "always " : "at most ") + countMax;
            throw new IllegalArgumentException(count + " elements; there are " + bound);
        }
        int before = this.count;
        setCount(count);
        if (count > before) {
            resetElements(before, count);
        }
    }

    @Override
    public final void reset() {
        count = 0;
        resize(isFixed ? countMax : 0);
    }

    /** Makes room for so many elements, and keeps those that there are. */
    abstract void ensureCapacity(int capacity);

    abstract void resetElements(int begin, int end);

    /** For descriptions. */
    abstract Object element(int index);

    private void setCount(int count) {
        ensureCapacity(count);
        this.count = count;
    }

    /** One element more, which the caller sets; its index. */
    final int grow() {
        if (count == countMax) {
            throw new IllegalStateException("there are " + countMax + " elements, and no more");
        }
        setCount(count + 1);
        return count - 1;
    }

    final int check(int index) {
        return Objects.checkIndex(index, count);
    }

    /** Capacity of a memory that has to grow. */
    final long grown(int capacity, int needed) {
        return isFixed ? countMax : Math.min(countMax, Math.max(needed, 2L * capacity));
    }

    final int headerLength() {
        return isFixed ? 0 : UNIT;
    }

    final int putCount(MutableDirectBuffer buffer, int index) {
        if (!isFixed) {
            buffer.putInt(index, count, ByteOrder.BIG_ENDIAN);
        }
        return index + headerLength();
    }

    /**
     * Decodes the number of elements and makes room for them, if the bytes that follow can hold so
     * many. The caller sets them.
     *
     * @param elementMin bytes that an element takes at least
     */
    final int takeCount(DirectBuffer buffer, int index, int limit, int elementMin) {
        need(headerLength(), index, limit);
        int at = index + headerLength();
        int number = isFixed ? countMax : buffer.getInt(index, ByteOrder.BIG_ENDIAN);
        if (number < 0 || number > countMax) {
            String wanted = Integer.toUnsignedString(number);
            throw new XdrException(wanted + " elements; there may be " + countMax);
        }
        need((long) number * elementMin, at, limit);
        setCount(number);
        return at;
    }

    @Override
    protected void xdrDescribe(StringBuilder text) {
        text.append('[');
        for (int i = 0; i < count; i++) {
            describe(text, "", element(i));
        }
        text.append(']');
    }
}
