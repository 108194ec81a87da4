package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.Arrays;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/** Opaque data: bytes, with zeros behind them up to a multiple of 4. */
public class XdrOpaque extends XdrArray {
    private static final byte[] NONE = {};

    private byte[] bytes = NONE;

    /**
     * Zeros, or nothing.
     *
     * @param countMax most bytes; of fixed data, their number
     */
    public XdrOpaque(boolean isFixed, int countMax) {
        super(isFixed, countMax);
        ensureCapacity(count());
    }

    /** A byte. */
    public final byte get(int index) {
        return bytes[check(index)];
    }

    /** Replaces a byte. */
    public final void set(int index, byte value) {
        bytes[check(index)] = value;
    }

    /** Replaces all bytes by copies. */
    public final void set(DirectBuffer source, int offset, int count) {
        source.boundsCheck(offset, count);
        resize(count);
        source.getBytes(offset, bytes, 0, count);
    }

    /** Replaces all bytes by copies. */
    public final void set(byte[] source) {
        resize(source.length);
        System.arraycopy(source, 0, bytes, 0, source.length);
    }

    /** Copies all bytes into a buffer. */
    public final void copyTo(MutableDirectBuffer target, int offset) {
        target.boundsCheck(offset, count());
        target.putBytes(offset, bytes, 0, count());
    }

    /** A copy of the bytes. */
    public final byte[] toArray() {
        return Arrays.copyOf(bytes, count());
    }

    /** Compares without a copy. */
    public final boolean contentEquals(DirectBuffer other, int offset, int length) {
        other.boundsCheck(offset, length);
        boolean isEqual = length == count();
        for (int i = 0; isEqual && i < length; i++) {
            isEqual = other.getByte(offset + i) == bytes[i];
        }
        return isEqual;
    }

    @Override
    final void ensureCapacity(int capacity) {
        if (capacity > bytes.length) {
            bytes = Arrays.copyOf(bytes, grown(bytes.length, capacity));
        }
    }

    @Override
    final void resetElements(int begin, int end) {
        Arrays.fill(bytes, begin, end, (byte) 0);
    }

    private static long padded(int count) {
        return (count + (UNIT - 1L)) & -UNIT;
    }

    @Override
    protected final long xdrLength(int depth) {
        return headerLength() + padded(count());
    }

    @Override
    protected final int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {
        int at = putCount(buffer, index);
        int count = count();
        int end = at + (int) padded(count);
        if (end > at) {
            // Where the padding is, if there is any; the bytes come over it.
            buffer.putInt(end - UNIT, 0, ByteOrder.BIG_ENDIAN);
        }
        buffer.putBytes(at, bytes, 0, count);
        return end;
    }

    @Override
    protected final int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        int at = takeCount(buffer, index, limit, 1);
        int count = count();
        need(padded(count), at, limit);
        int end = at + (int) padded(count);
        buffer.getBytes(at, bytes, 0, count);
        for (int i = at + count; i < end; i++) {
            if (buffer.getByte(i) != 0) {
                throw new XdrException("padding is not zero");
            }
        }
        return end;
    }

    @Override
    protected void xdrDescribe(StringBuilder text) {
        text.append('[').append(count()).append(" bytes]");
    }
}
