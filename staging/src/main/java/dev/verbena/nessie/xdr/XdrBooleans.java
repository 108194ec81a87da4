package dev.verbena.nessie.xdr;

/** An array of {@code bool}, which XDR has as an enum of two constants. */
public class XdrBooleans extends XdrEnums<Boolean> {
    /**
     * An array of false, or an empty one.
     *
     * @param countMax most elements; of a fixed array, their number
     */
    public XdrBooleans(boolean isFixed, int countMax) {
        super(XdrObject::bool, value -> value ? 1 : 0, false, isFixed, countMax);
    }
}
