package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;

/** An array of {@code float}. */
public class XdrFloats extends XdrPacked {
    /**
     * An array of zeros, or an empty one.
     *
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrFloats(boolean isFixed, int countMax) {
        super(isFixed, countMax, 4, (bytes, at) -> bytes.getFloat(at, ByteOrder.BIG_ENDIAN));
        reset();
    }

    /** An element. */
    public final float get(int index) {
        return elements.getFloat(at(index), ByteOrder.BIG_ENDIAN);
    }

    /** Replaces an element. */
    public final void set(int index, float value) {
        elements.putFloat(at(index), value, ByteOrder.BIG_ENDIAN);
    }

    /** Appends an element. */
    public final void add(float value) {
        set(grow(), value);
    }
}
