package dev.verbena.dart.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.dart.DartException;
import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.ElementType;
import dev.verbena.staging.Names;
import org.agrona.DirectBuffer;

/**
 * Layout of the block of metadata that precedes a payload, and the checks of one that may come from
 * anywhere.
 *
 * <pre>
 * offset size field, little-endian
 *  0     4    magic 0x4154454D ("META")
 *  4     1    version (1)
 *  5     1    element type, see ElementType
 *  6     1    number of dimensions, 0 to 8
 *  7     1    number of properties, 0 to 32
 *  8     2    length of the block, a multiple of 8
 * 10     2    flags: 1 = the checksum is given, 2 = last message of this rank in this step, 4 = counts
 * 12     4    CRC-32C of the payload, as its sender computed it
 * 16     8    payload length
 * 24     8    step
 * 32     4    rank
 * 36     4    application id
 * 40     8*n  shape
 *  then, with counts: 4 bytes of ranks that take part, 4 bytes of messages of this rank in this step;
 *  0 = not said
 *  then name, variable, and key and value of each property: 2 bytes of length, UTF-8; zero to the end
 * </pre>
 */
public final class MetadataFlyweight {
    public static final int FIXED_LENGTH = ControlFlyweight.METADATA_LENGTH_MIN;
    public static final int MAGIC = 0x4154454D;
    public static final int VERSION = 1;
    public static final int FLAG_CHECKSUM = 1;
    public static final int FLAG_END_OF_STEP = 2;
    public static final int FLAG_COUNTS = 4;
    public static final int KNOWN_FLAGS = 7;
    public static final int COUNTS_LENGTH = 8;
    public static final int TYPE_OFFSET = 5;
    public static final int DIMENSIONS_OFFSET = 6;
    public static final int PROPERTIES_OFFSET = 7;
    public static final int BLOCK_LENGTH_OFFSET = 8;
    public static final int FLAGS_OFFSET = 10;
    public static final int CHECKSUM_OFFSET = 12;
    public static final int PAYLOAD_LENGTH_OFFSET = 16;
    public static final int STEP_OFFSET = 24;
    public static final int RANK_OFFSET = 32;
    public static final int APPLICATION_OFFSET = 36;

    /** Longest text, bytes of UTF-8. */
    public static final int TEXT_LENGTH_MAX = 255;

    public static final int DIMENSIONS_MAX = 8;
    public static final int PROPERTIES_MAX = 32;

    private MetadataFlyweight() {}

    /**
     * Checks every field of a block that may come from anywhere: {@code DartMetadata} can be read
     * from it then. Allocates nothing unless it is wrong.
     *
     * @param available bytes that there are
     * @return length of the block
     * @throws DartException {@link DartException.Code#MALFORMED} naming the field
     */
    public static int check(DirectBuffer buffer, int offset, int available) {
        int length = checkedLength(buffer, offset, available);
        if (ElementType.ofCode(buffer.getByte(offset + TYPE_OFFSET)) == null) {
            throw malformed("element type " + buffer.getByte(offset + TYPE_OFFSET));
        }
        int dimensions = buffer.getByte(offset + DIMENSIONS_OFFSET) & 0xFF;
        int propertyCount = buffer.getByte(offset + PROPERTIES_OFFSET) & 0xFF;
        int flags = buffer.getShort(offset + FLAGS_OFFSET, LITTLE_ENDIAN);
        int textsAt = textsAt(buffer, offset);
        if (dimensions > DIMENSIONS_MAX || textsAt > length) {
            throw malformed("number of dimensions " + dimensions);
        }
        if (propertyCount > PROPERTIES_MAX) {
            throw malformed("number of properties " + propertyCount);
        }
        if ((flags & ~KNOWN_FLAGS) != 0) {
            throw malformed("flags 0x" + Integer.toHexString(flags & 0xFFFF));
        }
        long payloadLength = payloadLength(buffer, offset);
        if (payloadLength < 0 || payloadLength > FrameFlyweight.NUMBER_MAX) {
            throw malformed("payload length " + payloadLength(buffer, offset));
        }
        for (int i = 0; i < dimensions; i++) {
            long extent = buffer.getLong(offset + FIXED_LENGTH + 8 * i, LITTLE_ENDIAN);
            if (extent < 0) {
                throw malformed("extent " + extent);
            }
        }
        if ((flags & FLAG_COUNTS) != 0) {
            checkCounts(buffer, offset + textsAt - COUNTS_LENGTH);
        }
        checkTexts(buffer, offset + textsAt, offset + length, propertyCount);
        return length;
    }

    private static void checkCounts(DirectBuffer buffer, int at) {
        int ranks = buffer.getInt(at, LITTLE_ENDIAN);
        int messages = buffer.getInt(at + 4, LITTLE_ENDIAN);
        if (ranks < 0 || messages < 0) {
            throw malformed("counts " + ranks + " and " + messages);
        }
    }

    /** Payload length that a checked block tells. */
    public static long payloadLength(DirectBuffer buffer, int offset) {
        return buffer.getLong(offset + PAYLOAD_LENGTH_OFFSET, LITTLE_ENDIAN);
    }

    private static int checkedLength(DirectBuffer buffer, int offset, int available) {
        if (available < FIXED_LENGTH) {
            throw malformed("only " + available + " bytes");
        }
        if (buffer.getInt(offset, LITTLE_ENDIAN) != MAGIC) {
            throw malformed("magic 0x" + Integer.toHexString(buffer.getInt(offset, LITTLE_ENDIAN)));
        }
        if (buffer.getByte(offset + 4) != VERSION) {
            throw malformed("version " + buffer.getByte(offset + 4));
        }
        int length = buffer.getShort(offset + BLOCK_LENGTH_OFFSET, LITTLE_ENDIAN) & 0xFFFF;
        if (length < FIXED_LENGTH
                || length > ControlFlyweight.BLOCK_LENGTH_MAX
                || (length & 7) != 0) {
            throw malformed("block length " + length);
        }
        if (length > available) {
            throw malformed("block length " + length + " where there are " + available + " bytes");
        }
        return length;
    }

    private static void checkTexts(DirectBuffer buffer, int from, int end, int propertyCount) {
        int at = from;
        for (int i = 0; i < 2 + 2 * propertyCount; i++) {
            if (end - at < 2) {
                throw malformed("text " + i + " is missing");
            }
            int length = buffer.getShort(at, LITTLE_ENDIAN) & 0xFFFF;
            at += 2;
            if (length > TEXT_LENGTH_MAX || length > end - at) {
                throw malformed("text " + i + " of " + length + " bytes");
            }
            at += length;
        }
        if (end - at >= 8) {
            throw malformed((end - at) + " bytes after the last text");
        }
    }

    /** Where the texts of a checked block begin, from its begin. */
    public static int textsAt(DirectBuffer buffer, int offset) {
        int dimensions = buffer.getByte(offset + DIMENSIONS_OFFSET) & 0xFF;
        int flags = buffer.getShort(offset + FLAGS_OFFSET, LITTLE_ENDIAN);
        return FIXED_LENGTH + 8 * dimensions + ((flags & FLAG_COUNTS) != 0 ? COUNTS_LENGTH : 0);
    }

    /** The text at this place of a checked block; the next begins behind its length and bytes. */
    public static String text(DirectBuffer buffer, int at) {
        byte[] bytes = new byte[textLength(buffer, at)];
        buffer.getBytes(at + 2, bytes);
        return new String(bytes, UTF_8);
    }

    /** Bytes of the text at this place. */
    public static int textLength(DirectBuffer buffer, int at) {
        return buffer.getShort(at, LITTLE_ENDIAN) & 0xFFFF;
    }

    /** The name in a block, to be read by people; empty if there is none. */
    public static String name(DirectBuffer block) {
        try {
            check(block, 0, block.capacity());
        } catch (DartException e) {
            return "";
        }
        return Names.readable(text(block, textsAt(block, 0)));
    }

    private static DartException malformed(String what) {
        return Code.MALFORMED.because("metadata block: " + what);
    }
}
