package dev.verbena.staging;

import dev.verbena.agent.internal.ByteViews;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;
import org.agrona.DirectBuffer;

/** CRC-32C over Agrona buffers, reusable without allocation. One thread. */
public final class Checksum {
    private static final int PIECE = 32 * 1024;
    private static final int VIEW_LENGTH_MIN = 1024;

    /** The polynomial, as CRC-32C has its bits: the highest is the coefficient of x^0. */
    private static final int POLYNOMIAL = 0x82F63B78;

    private static final int ONE = 0x80000000;

    /** x^(8 * 2^k) modulo the polynomial: what 2^k more bytes multiply a remainder by. */
    private static final int[] SHIFTS = shifts();

    private final CRC32C crc = new CRC32C();
    private final ByteViews views = new ByteViews();
    private byte[] scratch = new byte[128];

    /** Of what came before the bytes that {@link #crc} has seen. */
    private int before;

    private long since;

    public Checksum reset() {
        crc.reset();
        before = 0;
        since = 0;
        return this;
    }

    public Checksum update(byte[] bytes, int offset, int length) {
        crc.update(bytes, offset, length);
        since += length;
        return this;
    }

    /**
     * A heap array and native memory are read in place; a few bytes of native memory go through a
     * copy.
     */
    public Checksum update(DirectBuffer buffer, int offset, int length) {
        buffer.boundsCheck(offset, length);
        since += length;
        byte[] array = buffer.byteArray();
        if (array != null && buffer.byteBuffer() == null) {
            crc.update(array, buffer.wrapAdjustment() + offset, length);
            return this;
        }
        ByteBuffer view = length < VIEW_LENGTH_MIN ? null : views.view(buffer, offset, length);
        if (view != null) {
            crc.update(view);
            return this;
        }
        if (scratch.length < PIECE && length > scratch.length) {
            scratch = new byte[PIECE];
        }
        for (int done = 0; done < length; ) {
            int piece = Math.min(scratch.length, length - done);
            buffer.getBytes(offset + done, scratch, 0, piece);
            crc.update(scratch, 0, piece);
            done += piece;
        }
        return this;
    }

    /** Adds bytes whose checksum is known, without looking at them again. */
    public Checksum append(int checksum, long length) {
        before = combine(value(), checksum, length);
        crc.reset();
        since = 0;
        return this;
    }

    public int value() {
        int own = (int) crc.getValue();
        return before == 0 ? own : combine(before, own, since);
    }

    /** Of one range. */
    public int of(DirectBuffer buffer, int offset, int length) {
        return reset().update(buffer, offset, length).value();
    }

    /**
     * Checksum of two ranges, the second behind the first, from the checksums of both. A CRC is the
     * remainder of a polynomial: the first is multiplied by x for each bit of the second.
     */
    public static int combine(int first, int second, long secondLength) {
        int factor = ONE;
        for (int k = 0; secondLength >>> k != 0; k++) {
            if ((secondLength >>> k & 1) != 0) {
                factor = multiply(SHIFTS[k], factor);
            }
        }
        return multiply(factor, first) ^ second;
    }

    private static int multiply(int a, int b) {
        int product = 0;
        int shifted = b;
        for (int bit = ONE; bit != 0; bit >>>= 1) {
            product ^= (a & bit) != 0 ? shifted : 0;
            shifted = (shifted >>> 1) ^ ((shifted & 1) != 0 ? POLYNOMIAL : 0);
        }
        return product;
    }

    private static int[] shifts() {
        int[] shifts = new int[Long.SIZE - 1];
        shifts[0] = ONE >>> Byte.SIZE;
        for (int k = 1; k < shifts.length; k++) {
            shifts[k] = multiply(shifts[k - 1], shifts[k - 1]);
        }
        return shifts;
    }
}
