package dev.verbena.verbs;

import java.nio.charset.StandardCharsets;
import java.util.function.LongToIntFunction;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;

/**
 * Off-heap memory for arguments and results of calls on the control path; one per device, used
 * under the device's lock. Structures are written at the offsets of {@code VerbsLayout}.
 */
final class CallMemory {
    /** Larger than every structure that is passed. */
    private static final int ARGUMENT_SIZE = 1024;

    private static final int RESULT_SIZE = 16;
    private long memory;

    CallMemory() {
        memory = UnsafeApi.allocateMemory(2L * ARGUMENT_SIZE + RESULT_SIZE);
    }

    /** Where it is; before anything is written there. */
    private long open() {
        if (memory == 0) {
            throw new IllegalStateException("closed: the RDMA device that this belongs to");
        }
        return memory;
    }

    /** Room for a structure, zeroed. */
    long argument() {
        UnsafeApi.setMemory(open(), ARGUMENT_SIZE, (byte) 0);
        return memory;
    }

    /** Room for a second structure, zeroed. */
    long second() {
        UnsafeApi.setMemory(open() + ARGUMENT_SIZE, ARGUMENT_SIZE, (byte) 0);
        return memory + ARGUMENT_SIZE;
    }

    /** Eight bytes for what is made. */
    long out() {
        return open() + 2L * ARGUMENT_SIZE;
    }

    /** What was made. */
    long made() {
        return UnsafeApi.getLong(null, out());
    }

    /** What a call makes for which no device has memory yet: it writes the address there. */
    static long made(String call, String about, String remedy, LongToIntFunction creation) {
        long out = UnsafeApi.allocateMemory(Long.BYTES);
        try {
            VerbsException.check(call, creation.applyAsInt(out), about, remedy);
            return UnsafeApi.getLong(null, out);
        } finally {
            UnsafeApi.freeMemory(out);
        }
    }

    void free() {
        if (memory != 0) {
            UnsafeApi.freeMemory(memory);
            memory = 0;
        }
    }

    static long getLong(long at) {
        return UnsafeApi.getLong(null, at);
    }

    static int getInt(long at) {
        return UnsafeApi.getInt(null, at);
    }

    static int getShort(long at) {
        return UnsafeApi.getShort(null, at) & 0xffff;
    }

    static int getByte(long at) {
        return UnsafeApi.getByte(null, at) & 0xff;
    }

    static void putLong(long at, long value) {
        UnsafeApi.putLong(null, at, value);
    }

    static void putInt(long at, int value) {
        UnsafeApi.putInt(null, at, value);
    }

    static void putShort(long at, int value) {
        UnsafeApi.putShort(null, at, (short) value);
    }

    static void putByte(long at, int value) {
        UnsafeApi.putByte(null, at, (byte) value);
    }

    static byte[] getBytes(long at, int length) {
        byte[] bytes = new byte[length];
        UnsafeApi.copyMemory(null, at, bytes, BufferUtil.ARRAY_BASE_OFFSET, length);
        return bytes;
    }

    static void putBytes(long at, byte[] bytes) {
        UnsafeApi.copyMemory(bytes, BufferUtil.ARRAY_BASE_OFFSET, null, at, bytes.length);
    }

    /** Text of up to {@code max} bytes that ends at a zero. */
    static String text(long at, int max) {
        String text = new String(getBytes(at, max), StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        return end < 0 ? text : text.substring(0, end);
    }
}
