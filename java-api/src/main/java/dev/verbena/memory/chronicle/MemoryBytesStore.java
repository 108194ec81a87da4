package dev.verbena.memory.chronicle;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.function.LongSupplier;
import net.openhft.chronicle.bytes.BytesStore;
import net.openhft.chronicle.bytes.RandomDataInput;
import net.openhft.chronicle.bytes.internal.AbstractBytesStore;
import net.openhft.chronicle.bytes.util.DecoratedBufferOverflowException;
import net.openhft.chronicle.bytes.util.DecoratedBufferUnderflowException;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;

/**
 * A store over memory that somebody else owns. It asks the owner for the address at each access, so
 * that closed memory is an exception; and it does not count as direct memory, so that Chronicle
 * takes no address and comes here for every byte.
 */
final class MemoryBytesStore extends AbstractBytesStore<MemoryBytesStore, Void> {
    private static final String NO_ADDRESS = "a view hands out no addresses; use read and write";

    private final LongSupplier address;
    private final long capacity;
    private final Object owner;

    /** Bytes that may be reached: the capacity, and 0 once released. */
    private long limit;

    private MemoryBytesStore(LongSupplier address, long capacity, Object owner) {
        super(false);
        this.address = address;
        this.capacity = capacity;
        this.owner = owner;
        this.limit = capacity;
    }

    /** The method's type spares its callers the loading of Chronicle's classes. */
    static BytesStore<?, Void> of(LongSupplier address, long capacity, Object owner) {
        return new MemoryBytesStore(address, capacity, owner);
    }

    private boolean isInside(long offset, long length) {
        long left = limit - length;
        return (offset | length | left | (left - offset)) >= 0;
    }

    private long readable(long offset, long length) {
        if (!isInside(offset, length)) {
            throw new DecoratedBufferUnderflowException(outside(offset, length));
        }
        return address.getAsLong() + offset;
    }

    private long writable(long offset, long length) {
        if (!isInside(offset, length)) {
            throw new DecoratedBufferOverflowException(outside(offset, length));
        }
        return address.getAsLong() + offset;
    }

    private String outside(long offset, long length) {
        throwExceptionIfReleased();
        return "offset " + offset + " length " + length + " is outside the view of " + owner;
    }

    @Override
    public byte readByte(long offset) {
        return UnsafeApi.getByte(null, readable(offset, 1));
    }

    @Override
    public short readShort(long offset) {
        return UnsafeApi.getShort(null, readable(offset, Short.BYTES));
    }

    @Override
    public int readInt(long offset) {
        return UnsafeApi.getInt(null, readable(offset, Integer.BYTES));
    }

    @Override
    public long readLong(long offset) {
        return UnsafeApi.getLong(null, readable(offset, Long.BYTES));
    }

    @Override
    public float readFloat(long offset) {
        return UnsafeApi.getFloat(null, readable(offset, Float.BYTES));
    }

    @Override
    public double readDouble(long offset) {
        return UnsafeApi.getDouble(null, readable(offset, Double.BYTES));
    }

    @Override
    public byte readVolatileByte(long offset) {
        return UnsafeApi.getByteVolatile(null, readable(offset, 1));
    }

    @Override
    public short readVolatileShort(long offset) {
        return UnsafeApi.getShortVolatile(null, readable(offset, Short.BYTES));
    }

    @Override
    public int readVolatileInt(long offset) {
        return UnsafeApi.getIntVolatile(null, readable(offset, Integer.BYTES));
    }

    @Override
    public long readVolatileLong(long offset) {
        return UnsafeApi.getLongVolatile(null, readable(offset, Long.BYTES));
    }

    @Override
    public MemoryBytesStore writeByte(long offset, byte value) {
        UnsafeApi.putByte(null, writable(offset, 1), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeShort(long offset, short value) {
        UnsafeApi.putShort(null, writable(offset, Short.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeInt(long offset, int value) {
        UnsafeApi.putInt(null, writable(offset, Integer.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeLong(long offset, long value) {
        UnsafeApi.putLong(null, writable(offset, Long.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeFloat(long offset, float value) {
        UnsafeApi.putFloat(null, writable(offset, Float.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeDouble(long offset, double value) {
        UnsafeApi.putDouble(null, writable(offset, Double.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeVolatileByte(long offset, byte value) {
        UnsafeApi.putByteVolatile(null, writable(offset, 1), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeVolatileShort(long offset, short value) {
        UnsafeApi.putShortVolatile(null, writable(offset, Short.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeVolatileInt(long offset, int value) {
        UnsafeApi.putIntVolatile(null, writable(offset, Integer.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeVolatileLong(long offset, long value) {
        UnsafeApi.putLongVolatile(null, writable(offset, Long.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeOrderedInt(long offset, int value) {
        UnsafeApi.putIntRelease(null, writable(offset, Integer.BYTES), value);
        return this;
    }

    @Override
    public MemoryBytesStore writeOrderedLong(long offset, long value) {
        UnsafeApi.putLongRelease(null, writable(offset, Long.BYTES), value);
        return this;
    }

    @Override
    public boolean compareAndSwapInt(long offset, int expected, int value) {
        return UnsafeApi.compareAndSetInt(
                null, writable(aligned(offset, Integer.BYTES), Integer.BYTES), expected, value);
    }

    @Override
    public boolean compareAndSwapLong(long offset, long expected, long value) {
        return UnsafeApi.compareAndSetLong(
                null, writable(aligned(offset, Long.BYTES), Long.BYTES), expected, value);
    }

    @Override
    public void testAndSetInt(long offset, int expected, int value) {
        if (!compareAndSwapInt(offset, expected, value)) {
            throw new IllegalStateException(
                    "at offset " + offset + " was " + readInt(offset) + " and not " + expected);
        }
    }

    private long aligned(long offset, int length) {
        if (((address.getAsLong() + offset) & (length - 1)) != 0) {
            throw new IllegalArgumentException(
                    "offset " + offset + " is not aligned to " + length + " bytes in memory");
        }
        return offset;
    }

    @Override
    public long read(long offset, byte[] bytes, int at, int length) {
        int count = (int) Math.max(0, Math.min(length, limit - offset));
        checkArray(bytes, at, count);
        UnsafeApi.copyMemory(
                null,
                readable(offset, count),
                bytes,
                BufferUtil.ARRAY_BASE_OFFSET + (long) at,
                count);
        return count;
    }

    @Override
    public MemoryBytesStore write(long offset, byte[] bytes, int at, int length) {
        checkArray(bytes, at, length);
        UnsafeApi.copyMemory(
                bytes,
                BufferUtil.ARRAY_BASE_OFFSET + (long) at,
                null,
                writable(offset, length),
                length);
        return this;
    }

    private static void checkArray(byte[] bytes, int at, int length) {
        if ((at | length | (bytes.length - at - length)) < 0) {
            throw new IndexOutOfBoundsException(
                    "index " + at + " length " + length + " in an array of " + bytes.length);
        }
    }

    @Override
    public void write(long offset, ByteBuffer bytes, int at, int length) {
        writable(offset, length);
        for (int i = 0; i < length; i++) {
            writeByte(offset + i, bytes.get(at + i));
        }
    }

    @Override
    public MemoryBytesStore write(long offset, RandomDataInput bytes, long at, long length) {
        writable(offset, length);
        if (bytes == this) {
            move(at, offset, length);
            return this;
        }
        long i = 0;
        for (; i + Long.BYTES <= length; i += Long.BYTES) {
            writeLong(offset + i, bytes.readLong(at + i));
        }
        for (; i < length; i++) {
            writeByte(offset + i, bytes.readByte(at + i));
        }
        return this;
    }

    @Override
    public void move(long from, long to, long length) {
        UnsafeApi.copyMemory(readable(from, length), writable(to, length), length);
    }

    @Override
    public MemoryBytesStore zeroOut(long start, long end) {
        long from = Math.max(start, 0);
        long to = Math.min(end, limit);
        if (from < to) {
            UnsafeApi.setMemory(writable(from, to - from), to - from, (byte) 0);
        }
        return this;
    }

    @Override
    public long write8bit(long offset, BytesStore<?, ?> bytes) {
        long length = bytes.readRemaining();
        long at = writeStopBit(offset, length);
        write(at, bytes, bytes.readPosition(), length);
        return at + length;
    }

    @Override
    public long write8bit(long offset, String text, int start, int length) {
        long at = writeStopBit(offset, length);
        writable(at, length);
        for (int i = 0; i < length; i++) {
            writeByte(at + i, (byte) text.charAt(start + i));
        }
        return at + length;
    }

    /** Seven bits a byte, the lowest first; the last byte has its highest bit clear. */
    private long writeStopBit(long offset, long value) {
        long at = offset;
        long rest = value;
        while (rest > 0x7F) {
            writeByte(at++, (byte) (rest | 0x80));
            rest >>>= 7;
        }
        writeByte(at++, (byte) rest);
        return at;
    }

    /** Writes mantissa / 10^exponent in decimal, as Chronicle's own stores do. Allocates. */
    @Override
    public long appendAndReturnLength(
            long offset, boolean isNegative, long mantissa, int exponent, boolean withPoint) {
        String text =
                (isNegative ? "-" : "")
                        + BigDecimal.valueOf(mantissa, exponent).toPlainString()
                        + (withPoint && exponent <= 0 ? ".0" : "");
        writable(offset, text.length());
        for (int i = 0; i < text.length(); i++) {
            writeByte(offset + i, (byte) text.charAt(i));
        }
        return text.length();
    }

    @Override
    public BytesStore<MemoryBytesStore, Void> copy() {
        throw new UnsupportedOperationException("a view of memory is not copied; use copyTo");
    }

    @Override
    public boolean isDirectMemory() {
        return false;
    }

    @Override
    public boolean sharedMemory() {
        return true;
    }

    @Override
    public long capacity() {
        return capacity;
    }

    @Override
    public Void underlyingObject() {
        return null;
    }

    @Override
    public long addressForRead(long offset) {
        throw new UnsupportedOperationException(NO_ADDRESS);
    }

    @Override
    public long addressForWrite(long offset) {
        throw new UnsupportedOperationException(NO_ADDRESS);
    }

    @Override
    public long addressForWritePosition() {
        throw new UnsupportedOperationException(NO_ADDRESS);
    }

    @Override
    public void nativeRead(long position, long address, long size) {
        throw new UnsupportedOperationException(NO_ADDRESS);
    }

    @Override
    public void nativeWrite(long address, long position, long size) {
        throw new UnsupportedOperationException(NO_ADDRESS);
    }

    @Override
    protected void performRelease() {
        limit = 0;
    }

    @Override
    public String toString() {
        return "view of " + owner;
    }
}
