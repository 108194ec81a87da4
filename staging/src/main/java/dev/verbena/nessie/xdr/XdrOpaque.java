package dev.verbena.nessie.xdr;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** Opaque data: bytes, with zeros behind them up to a multiple of 4. */
public class XdrOpaque extends XdrPacked {
    /**
     * Zeros, or nothing.
     *
     * @param countMax most bytes; of fixed data, their number
     */
    public XdrOpaque(boolean isFixed, int countMax) {
        super(isFixed, countMax, 1, UnsafeBuffer::getByte);
        reset();
    }

    /** A byte. */
    public final byte get(int index) {
        return elements.getByte(at(index));
    }

    /** Replaces a byte. */
    public final void set(int index, byte value) {
        elements.putByte(at(index), value);
    }

    /** Replaces all bytes by copies. */
    public final void set(DirectBuffer source, int offset, int count) {
        source.boundsCheck(offset, count);
        resize(count);
        elements.putBytes(0, source, offset, count);
    }

    /** Replaces all bytes by copies. */
    public final void set(byte[] source) {
        resize(source.length);
        elements.putBytes(0, source);
    }

    /** A copy of the bytes. */
    public final byte[] toArray() {
        byte[] copy = new byte[count()];
        elements.getBytes(0, copy);
        return copy;
    }

    @Override
    protected void xdrDescribe(StringBuilder text) {
        text.append('[').append(count()).append(" bytes]");
    }
}
