package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.function.IntFunction;

/** An array of an enum. */
public class XdrEnums<E extends Enum<E> & XdrEnum> extends XdrPacked {
    private final IntFunction<E> of;
    private final E first;

    /**
     * An array of the enum's first constant, or an empty one.
     *
     * @param of constant of a number, or null
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrEnums(IntFunction<E> of, E first, boolean isFixed, int countMax) {
        super(isFixed, countMax, 4);
        this.of = of;
        this.first = first;
        reset();
    }

    /** An element. */
    public final E get(int index) {
        return of.apply(elements.getInt(at(index), ByteOrder.BIG_ENDIAN));
    }

    /** Replaces an element. */
    public final void set(int index, E value) {
        elements.putInt(at(index), value.value(), ByteOrder.BIG_ENDIAN);
    }

    /** Appends an element. */
    public final void add(E value) {
        int number = value.value();
        elements.putInt(at(grow()), number, ByteOrder.BIG_ENDIAN);
    }

    @Override
    final void resetElements(int begin, int end) {
        for (int i = begin; i < end; i++) {
            set(i, first);
        }
    }

    @Override
    final String flaw() {
        for (int i = 0; i < count(); i++) {
            if (get(i) == null) {
                return "a number is none of enum " + first.getDeclaringClass().getSimpleName();
            }
        }
        return null;
    }

    @Override
    final Object element(int index) {
        return get(index);
    }
}
