package dev.verbena.savime.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.US_ASCII;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Structures of the paper's prototype (specification, section 3), little-endian.
 *
 * <pre>
 * request   92: 0 i32 operation  4 u64 size  12 char name[64]  76 char type[16]
 * block      8: 0 u64 length
 * region    12: 0 u64 address  8 u32 rkey
 * sync       1: zero
 * response   4: 0 i32, 0 error, 1 ok
 * </pre>
 */
public final class PrototypeCodec {
    public static final int REQUEST_LENGTH = 92;
    public static final int BLOCK_LENGTH = 8;
    public static final int REGION_LENGTH = 12;
    public static final int SYNC_LENGTH = 1;
    public static final int RESPONSE_LENGTH = 4;
    public static final int CREATE_DATASET = 0;
    public static final int RUN_COMMAND = 1;

    private static final int NAME_AT = 12;
    private static final int TYPE_AT = 76;
    private static final int TYPE_MAX = REQUEST_LENGTH - TYPE_AT - 1;

    private PrototypeCodec() {}

    /**
     * A request.
     *
     * @param name empty for a command
     */
    public record Request(int operation, long size, String name, String type) {}

    /**
     * Writes a request; returns its length.
     *
     * @throws IllegalArgumentException for an operation, name or type that does not fit
     */
    public static int encodeRequest(MutableDirectBuffer buffer, int offset, Request request) {
        boolean isDataset = request.operation() == CREATE_DATASET;
        if (!isDataset && request.operation() != RUN_COMMAND || request.size() < 1) {
            throw new IllegalArgumentException("request " + request);
        }
        if (isDataset) {
            DatasetNames.require(request.name());
        }
        byte[] type = request.type().getBytes(US_ASCII);
        if (type.length > TYPE_MAX) {
            throw new IllegalArgumentException("type '" + request.type() + "' is too long");
        }
        buffer.setMemory(offset, REQUEST_LENGTH, (byte) 0);
        buffer.putInt(offset, request.operation(), LITTLE_ENDIAN);
        buffer.putLong(offset + 4, request.size(), LITTLE_ENDIAN);
        if (isDataset) {
            buffer.putBytes(offset + NAME_AT, request.name().getBytes(US_ASCII));
            buffer.putBytes(offset + TYPE_AT, type);
        }
        return REQUEST_LENGTH;
    }

    /**
     * Reads a request that may come from anywhere.
     *
     * @throws IllegalArgumentException naming what is wrong
     */
    public static Request decodeRequest(DirectBuffer buffer, int offset, int available) {
        require(available, REQUEST_LENGTH);
        int operation = buffer.getInt(offset, LITTLE_ENDIAN);
        long size = buffer.getLong(offset + 4, LITTLE_ENDIAN);
        if (operation != CREATE_DATASET && operation != RUN_COMMAND || size < 1) {
            throw new IllegalArgumentException("operation " + operation + ", size " + size);
        }
        if (operation == RUN_COMMAND) {
            return new Request(operation, size, "", "");
        }
        String name = text(buffer, offset + NAME_AT, TYPE_AT - NAME_AT);
        String type = text(buffer, offset + TYPE_AT, REQUEST_LENGTH - TYPE_AT);
        return new Request(operation, size, DatasetNames.require(name), type);
    }

    private static String text(DirectBuffer buffer, int at, int length) {
        int end = 0;
        while (end < length && buffer.getByte(at + end) != 0) {
            end++;
        }
        if (end == length) {
            throw new IllegalArgumentException("a text without its end");
        }
        return buffer.getStringWithoutLengthAscii(at, end);
    }

    /** Writes the length that is to be written next; returns its size. */
    public static int encodeBlock(MutableDirectBuffer buffer, int offset, long length) {
        buffer.putLong(offset, length, LITTLE_ENDIAN);
        return BLOCK_LENGTH;
    }

    /** Reads a block's length, 1 to 2 to the 28. */
    public static long decodeBlock(DirectBuffer buffer, int offset, int available) {
        require(available, BLOCK_LENGTH);
        long length = buffer.getLong(offset, LITTLE_ENDIAN);
        if (length < 1 || length > 1L << 28) {
            throw new IllegalArgumentException("block of " + length + " bytes");
        }
        return length;
    }

    /** Writes where the next block is to be written; returns its size. */
    public static int encodeRegion(MutableDirectBuffer buffer, int offset, long address, int rkey) {
        buffer.putLong(offset, address, LITTLE_ENDIAN);
        buffer.putInt(offset + 8, rkey, LITTLE_ENDIAN);
        return REGION_LENGTH;
    }

    /** Address of a region. */
    public static long regionAddress(DirectBuffer buffer, int offset, int available) {
        require(available, REGION_LENGTH);
        return buffer.getLong(offset, LITTLE_ENDIAN);
    }

    /** Key of a region. */
    public static int regionKey(DirectBuffer buffer, int offset, int available) {
        require(available, REGION_LENGTH);
        return buffer.getInt(offset + 8, LITTLE_ENDIAN);
    }

    /** Writes what ends the data; returns its size. */
    public static int encodeSync(MutableDirectBuffer buffer, int offset) {
        buffer.putByte(offset, (byte) 0);
        return SYNC_LENGTH;
    }

    /** Writes the answer; returns its size. */
    public static int encodeResponse(MutableDirectBuffer buffer, int offset, boolean isOk) {
        buffer.putInt(offset, isOk ? 1 : 0, LITTLE_ENDIAN);
        return RESPONSE_LENGTH;
    }

    /**
     * Reads the answer.
     *
     * @throws IllegalArgumentException if it is neither
     */
    public static boolean decodeResponse(DirectBuffer buffer, int offset, int available) {
        require(available, RESPONSE_LENGTH);
        int value = buffer.getInt(offset, LITTLE_ENDIAN);
        if (value != 0 && value != 1) {
            throw new IllegalArgumentException("response " + value);
        }
        return value == 1;
    }

    private static void require(int available, int length) {
        if (available < length) {
            throw new IllegalArgumentException(available + " bytes of " + length);
        }
    }
}
