package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;

/** An array of {@code double}. */
public class XdrDoubles extends XdrPacked {
    /**
     * An array of zeros, or an empty one.
     *
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrDoubles(boolean isFixed, int countMax) {
        super(isFixed, countMax, 8, (bytes, at) -> bytes.getDouble(at, ByteOrder.BIG_ENDIAN));
        reset();
    }

    /** An element. */
    public final double get(int index) {
        return elements.getDouble(at(index), ByteOrder.BIG_ENDIAN);
    }

    /** Replaces an element. */
    public final void set(int index, double value) {
        elements.putDouble(at(index), value, ByteOrder.BIG_ENDIAN);
    }

    /** Appends an element. */
    public final void add(double value) {
        set(grow(), value);
    }
}
