package dev.verbena.nessie.xdr;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Arguments or result of an operation that has none: no bytes. */
public final class XdrVoid extends XdrObject {
    /** A value of no bytes. */
    public XdrVoid() {}

    @Override
    public void reset() {
        // There is nothing in it.
    }

    @Override
    protected long xdrLength(int depth) {
        return 0;
    }

    @Override
    protected int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {
        return index;
    }

    @Override
    protected int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        return index;
    }

    @Override
    protected void xdrDescribe(StringBuilder text) {
        text.append("void");
    }
}
