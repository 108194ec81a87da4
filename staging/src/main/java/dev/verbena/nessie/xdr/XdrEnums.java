package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntFunction;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** An array of an enum; an element takes 4 bytes. */
public class XdrEnums<E extends Enum<E> & XdrEnum> extends XdrArray {
    private static final int LENGTH = 4;

    private final IntFunction<E> of;
    private final E first;
    private final String name;
    private E[] values;

    /**
     * An array of the enum's first constant, or an empty one.
     *
     * @param of constant of a number, or null
     * @param constants of the enum; not kept
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrEnums(IntFunction<E> of, E[] constants, boolean isFixed, int countMax) {
        super(isFixed, countMax);
        this.of = of;
        this.first = constants[0];
        this.name = first.getDeclaringClass().getSimpleName();
        this.values = Arrays.copyOf(constants, 0);
        ensureCapacity(count());
        resetElements(0, count());
    }

    /** An element. */
    public final E get(int index) {
        return values[check(index)];
    }

    /** Replaces an element. */
    public final void set(int index, E value) {
        values[check(index)] = Objects.requireNonNull(value, "element");
    }

    /** Appends an element. */
    public final void add(E value) {
        Objects.requireNonNull(value, "element");
        values[grow()] = value;
    }

    @Override
    final void ensureCapacity(int capacity) {
        int before = values.length;
        if (capacity > before) {
            values = Arrays.copyOf(values, grown(before, capacity));
            // A decoder that stops halfway leaves no null.
            resetElements(before, values.length);
        }
    }

    @Override
    final void resetElements(int begin, int end) {
        Arrays.fill(values, begin, end, first);
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
            buffer.putInt(at, values[i].value(), ByteOrder.BIG_ENDIAN);
        }
        return at;
    }

    @Override
    protected final int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        int at = takeCount(buffer, index, limit, LENGTH);
        int count = count();
        for (int i = 0; i < count; i++, at += LENGTH) {
            values[i] = known(of.apply(buffer.getInt(at, ByteOrder.BIG_ENDIAN)), name);
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
