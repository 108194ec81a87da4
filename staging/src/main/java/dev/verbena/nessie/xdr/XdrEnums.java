package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;

/** An array of an enum. */
public class XdrEnums<E> extends XdrPacked {
    private final IntFunction<E> of;
    private final ToIntFunction<E> number;
    private final E first;

    /**
     * An array of the enum's first constant, or an empty one.
     *
     * @param of constant of a number, or null
     * @param number of a constant
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrEnums(
            IntFunction<E> of, ToIntFunction<E> number, E first, boolean isFixed, int countMax) {
        super(isFixed, countMax, 4, (in, at) -> of.apply(in.getInt(at, ByteOrder.BIG_ENDIAN)));
        this.of = of;
        this.number = number;
        this.first = first;
        reset();
    }

    /** An element. */
    public final E get(int index) {
        return of.apply(elements.getInt(at(index), ByteOrder.BIG_ENDIAN));
    }

    /** Replaces an element. */
    public final void set(int index, E value) {
        elements.putInt(at(index), number.applyAsInt(value), ByteOrder.BIG_ENDIAN);
    }

    /** Appends an element. */
    public final void add(E value) {
        int encoded = number.applyAsInt(value);
        elements.putInt(at(grow()), encoded, ByteOrder.BIG_ENDIAN);
    }

    @Override
    final void resetElements(int begin, int end) {
        for (int i = begin; i < end; i++) {
            set(i, first);
        }
    }

    @Override
    final void checkElements() {
        String type = first.getClass().getSimpleName();
        for (int i = 0; i < count(); i++) {
            known(get(i), type);
        }
    }
}
