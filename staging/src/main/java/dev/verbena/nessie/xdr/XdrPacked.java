package dev.verbena.nessie.xdr;

import java.nio.ByteOrder;
import java.util.function.BiFunction;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** An array of numbers or bytes. They are kept as they are encoded, so a codec only copies them. */
public abstract class XdrPacked extends XdrArray {
    private static final int LENGTH_MAX = Integer.MAX_VALUE - 8;

    /** The encoded elements. */
    final UnsafeBuffer elements = new UnsafeBuffer(new byte[0]);

    private final int elementLength;
    private final BiFunction<UnsafeBuffer, Integer, Object> described;

    /**
     * Without elements.
     *
     * @param described an element for people, given its index in the encoded ones
     */
    XdrPacked(
            boolean isFixed,
            int countMax,
            int elementLength,
            BiFunction<UnsafeBuffer, Integer, Object> described) {
        super(isFixed, countMax);
        this.elementLength = elementLength;
        this.described = described;
    }

    @Override
    final Object element(int index) {
        return described.apply(elements, at(index));
    }

    /** Index of an element in the encoded ones. */
    final int at(int index) {
        return check(index) * elementLength;
    }

    /** Refuses elements that are no values of their type. */
    void checkElements() {}

    @Override
    final void ensureCapacity(int capacity) {
        int before = elements.capacity();
        if ((long) capacity * elementLength > before) {
            long wanted = grown(before / elementLength, Math.max(capacity, UNIT)) * elementLength;
            byte[] larger = new byte[(int) Math.min(LENGTH_MAX, wanted)];
            elements.getBytes(0, larger, 0, before);
            elements.wrap(larger);
        }
    }

    @Override
    void resetElements(int begin, int end) {
        elements.setMemory(begin * elementLength, (end - begin) * elementLength, (byte) 0);
    }

    @Override
    protected final long xdrLength(int depth) {
        return headerLength() + BitUtil.align((long) count() * elementLength, UNIT);
    }

    @Override
    protected final int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {
        int at = putCount(buffer, index);
        int length = count() * elementLength;
        int end = at + BitUtil.align(length, UNIT);
        if (end > at) {
            // Where the padding is, if there is any; the elements come over it.
            buffer.putInt(end - UNIT, 0, ByteOrder.BIG_ENDIAN);
        }
        buffer.putBytes(at, elements, 0, length);
        return end;
    }

    @Override
    protected final int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {
        int at = takeCount(buffer, index, limit, elementLength);
        int length = count() * elementLength;
        buffer.getBytes(at, elements, 0, length);
        try {
            checkElements();
        } catch (XdrException e) {
            reset();
            throw e;
        }
        int end = at + BitUtil.align(length, UNIT);
        need(end - at, at, limit);
        for (int i = at + length; i < end; i++) {
            if (buffer.getByte(i) != 0) {
                throw new XdrException("padding is not zero");
            }
        }
        return end;
    }
}
