package dev.verbena.nessie.xdr;

/** Arguments or result of an operation that has none: no bytes. */
public final class XdrVoid extends XdrOpaque {
    /** A value of no bytes. */
    public XdrVoid() {
        super(true, 0);
    }

    @Override
    protected void xdrDescribe(StringBuilder text) {
        text.append("void");
    }
}
