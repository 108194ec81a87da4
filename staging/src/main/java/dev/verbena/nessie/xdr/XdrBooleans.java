package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;

/** An array of {@code bool}. */
public class XdrBooleans extends XdrPacked {
    /**
     * An array of false, or an empty one.
     *
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrBooleans(boolean isFixed, int countMax) {
        super(isFixed, countMax, 4);
        reset();
    }

    /** An element. */
    public final boolean get(int index) {
        return elements.getInt(at(index), ByteOrder.BIG_ENDIAN) != 0;
    }

    /** Replaces an element. */
    public final void set(int index, boolean value) {
        elements.putInt(at(index), value ? 1 : 0, ByteOrder.BIG_ENDIAN);
    }

    /** Appends an element. */
    public final void add(boolean value) {
        set(grow(), value);
    }

    @Override
    final String flaw() {
        for (int i = 0; i < count(); i++) {
            int value = elements.getInt(at(i), ByteOrder.BIG_ENDIAN);
            if ((value & ~1) != 0) {
                return "a bool is " + value;
            }
        }
        return null;
    }

    @Override
    final Object element(int index) {
        return get(index);
    }
}
