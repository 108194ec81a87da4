package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;

/** An array of {@code int}, {@code unsigned int} (as the same bits) or a shorter type of rpcgen. */
public class XdrInts extends XdrPacked {
    private final int min;
    private final int max;

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
        super(isFixed, countMax, 4, (bytes, at) -> bytes.getInt(at, ByteOrder.BIG_ENDIAN));
        this.min = min;
        this.max = max;
        reset();
    }

    /** An element. */
    public final int get(int index) {
        return elements.getInt(at(index), ByteOrder.BIG_ENDIAN);
    }

    /** Replaces an element. */
    public final void set(int index, int value) {
        elements.putInt(at(index), requireRange(value, min, max), ByteOrder.BIG_ENDIAN);
    }

    /** Appends an element. */
    public final void add(int value) {
        requireRange(value, min, max);
        set(grow(), value);
    }

    @Override
    final void checkElements() {
        boolean isNarrow = min > Integer.MIN_VALUE || max < Integer.MAX_VALUE;
        for (int i = 0; isNarrow && i < count(); i++) {
            narrow(get(i), min, max);
        }
    }
}
