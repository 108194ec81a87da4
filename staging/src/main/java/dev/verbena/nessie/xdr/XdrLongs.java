package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;

/** An array of {@code hyper}, signed or unsigned (as the same bits). */
public class XdrLongs extends XdrPacked {
    /**
     * An array of zeros, or an empty one.
     *
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrLongs(boolean isFixed, int countMax) {
        super(isFixed, countMax, 8, (bytes, at) -> bytes.getLong(at, ByteOrder.BIG_ENDIAN));
        reset();
    }

    /** An element. */
    public final long get(int index) {
        return elements.getLong(at(index), ByteOrder.BIG_ENDIAN);
    }

    /** Replaces an element. */
    public final void set(int index, long value) {
        elements.putLong(at(index), value, ByteOrder.BIG_ENDIAN);
    }

    /** Appends an element. */
    public final void add(long value) {
        set(grow(), value);
    }
}
