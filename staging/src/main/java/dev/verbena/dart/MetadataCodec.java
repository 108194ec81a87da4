package dev.verbena.dart;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.FrameFlyweight;
import dev.verbena.staging.Names;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Layout of a {@link DartMetadata} block, and how it is written and read.
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
final class MetadataCodec {
    static final int FIXED_LENGTH = ControlFlyweight.METADATA_LENGTH_MIN;
    private static final int MAGIC = 0x4154454D;
    private static final int VERSION = 1;
    private static final int FLAG_CHECKSUM = 1;
    private static final int FLAG_END_OF_STEP = 2;
    private static final int FLAG_COUNTS = 4;
    private static final int KNOWN_FLAGS = 7;
    private static final int COUNTS_LENGTH = 8;
    private static final int TYPE_OFFSET = 5;
    private static final int DIMENSIONS_OFFSET = 6;
    private static final int PROPERTIES_OFFSET = 7;
    private static final int BLOCK_LENGTH_OFFSET = 8;
    private static final int FLAGS_OFFSET = 10;
    private static final int CHECKSUM_OFFSET = 12;
    private static final int PAYLOAD_LENGTH_OFFSET = 16;
    private static final int STEP_OFFSET = 24;
    private static final int RANK_OFFSET = 32;
    private static final int APPLICATION_OFFSET = 36;

    private MetadataCodec() {}

    private static boolean hasCounts(DartMetadata from) {
        return from.rankCount > 0 || from.stepMessageCount > 0;
    }

    /** Bytes that the counts take in the block. */
    static int countsLength(DartMetadata from) {
        return hasCounts(from) ? COUNTS_LENGTH : 0;
    }

    private static int flags(DartMetadata from) {
        return (from.hasChecksum ? FLAG_CHECKSUM : 0)
                | (from.isEndOfStep ? FLAG_END_OF_STEP : 0)
                | (hasCounts(from) ? FLAG_COUNTS : 0);
    }

    /** Writes the block; returns its length. */
    static int encode(DartMetadata from, MutableDirectBuffer buffer, int offset) {
        int length = from.encodedLength();
        buffer.putInt(offset, MAGIC, LITTLE_ENDIAN);
        buffer.putByte(offset + 4, (byte) VERSION);
        buffer.putByte(offset + TYPE_OFFSET, (byte) from.elementType.code());
        buffer.putByte(offset + DIMENSIONS_OFFSET, (byte) from.dimensionCount);
        buffer.putByte(offset + PROPERTIES_OFFSET, (byte) from.properties.size());
        buffer.putShort(offset + BLOCK_LENGTH_OFFSET, (short) length, LITTLE_ENDIAN);
        buffer.putShort(offset + FLAGS_OFFSET, (short) flags(from), LITTLE_ENDIAN);
        buffer.putInt(offset + CHECKSUM_OFFSET, from.checksum, LITTLE_ENDIAN);
        buffer.putLong(offset + PAYLOAD_LENGTH_OFFSET, from.payloadLength, LITTLE_ENDIAN);
        buffer.putLong(offset + STEP_OFFSET, from.step, LITTLE_ENDIAN);
        buffer.putInt(offset + RANK_OFFSET, from.rank, LITTLE_ENDIAN);
        buffer.putInt(offset + APPLICATION_OFFSET, from.applicationId, LITTLE_ENDIAN);
        int at = offset + FIXED_LENGTH;
        for (int i = 0; i < from.dimensionCount; i++, at += 8) {
            buffer.putLong(at, from.shape[i], LITTLE_ENDIAN);
        }
        if (hasCounts(from)) {
            buffer.putInt(at, from.rankCount, LITTLE_ENDIAN);
            buffer.putInt(at + 4, from.stepMessageCount, LITTLE_ENDIAN);
            at += COUNTS_LENGTH;
        }
        buffer.putBytes(at, from.texts);
        at += from.texts.length;
        while (at < offset + length) {
            buffer.putByte(at++, (byte) 0);
        }
        return length;
    }

    /**
     * Reads a block that may come from anywhere.
     *
     * @param available bytes that there are
     * @return length of the block
     * @throws DartException {@link DartException.Code#MALFORMED} naming the field
     */
    static int decode(DartMetadata into, DirectBuffer buffer, int offset, int available) {
        int length = check(buffer, offset, available);
        into.clear();
        into.elementType = ElementType.ofCode(buffer.getByte(offset + TYPE_OFFSET));
        int dimensions = buffer.getByte(offset + DIMENSIONS_OFFSET) & 0xFF;
        int propertyCount = buffer.getByte(offset + PROPERTIES_OFFSET) & 0xFF;
        int flags = buffer.getShort(offset + FLAGS_OFFSET, LITTLE_ENDIAN);
        int counts = (flags & FLAG_COUNTS) != 0 ? COUNTS_LENGTH : 0;
        int textsAt = FIXED_LENGTH + 8 * dimensions + counts;
        into.payloadLength = payloadLength(buffer, offset);
        into.hasChecksum = (flags & FLAG_CHECKSUM) != 0;
        into.isEndOfStep = (flags & FLAG_END_OF_STEP) != 0;
        into.checksum = buffer.getInt(offset + CHECKSUM_OFFSET, LITTLE_ENDIAN);
        into.step = buffer.getLong(offset + STEP_OFFSET, LITTLE_ENDIAN);
        into.rank = buffer.getInt(offset + RANK_OFFSET, LITTLE_ENDIAN);
        into.hasRank = true;
        into.applicationId = buffer.getInt(offset + APPLICATION_OFFSET, LITTLE_ENDIAN);
        for (int i = 0; i < dimensions; i++) {
            into.shape[i] = buffer.getLong(offset + FIXED_LENGTH + 8 * i, LITTLE_ENDIAN);
        }
        into.dimensionCount = dimensions;
        if (counts > 0) {
            into.rankCount = buffer.getInt(offset + textsAt - COUNTS_LENGTH, LITTLE_ENDIAN);
            into.stepMessageCount = buffer.getInt(offset + textsAt - 4, LITTLE_ENDIAN);
        }
        decodeTexts(into, buffer, offset + textsAt, propertyCount);
        return length;
    }

    /**
     * Checks every field of a block that may come from anywhere: {@link #decode} takes it then.
     * Allocates nothing unless it is wrong.
     *
     * @param available bytes that there are
     * @return length of the block
     * @throws DartException {@link DartException.Code#MALFORMED} naming the field
     */
    static int check(DirectBuffer buffer, int offset, int available) {
        int length = checkedLength(buffer, offset, available);
        if (ElementType.ofCode(buffer.getByte(offset + TYPE_OFFSET)) == null) {
            throw malformed("element type " + buffer.getByte(offset + TYPE_OFFSET));
        }
        int dimensions = buffer.getByte(offset + DIMENSIONS_OFFSET) & 0xFF;
        int propertyCount = buffer.getByte(offset + PROPERTIES_OFFSET) & 0xFF;
        int flags = buffer.getShort(offset + FLAGS_OFFSET, LITTLE_ENDIAN);
        int counts = (flags & FLAG_COUNTS) != 0 ? COUNTS_LENGTH : 0;
        int textsAt = FIXED_LENGTH + 8 * dimensions + counts;
        if (dimensions > DartMetadata.DIMENSIONS_MAX || textsAt > length) {
            throw malformed("number of dimensions " + dimensions);
        }
        if (propertyCount > DartMetadata.PROPERTIES_MAX) {
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
        if (counts > 0) {
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
    static long payloadLength(DirectBuffer buffer, int offset) {
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
        if (length < FIXED_LENGTH || length > DartMetadata.LENGTH_MAX || (length & 7) != 0) {
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
            if (length > DartMetadata.TEXT_LENGTH_MAX || length > end - at) {
                throw malformed("text " + i + " of " + length + " bytes");
            }
            at += length;
        }
        if (end - at >= 8) {
            throw malformed((end - at) + " bytes after the last text");
        }
    }

    private static void decodeTexts(
            DartMetadata into, DirectBuffer buffer, int from, int propertyCount) {
        int at = from;
        String key = "";
        for (int i = 0; i < 2 + 2 * propertyCount; i++) {
            int length = buffer.getShort(at, LITTLE_ENDIAN) & 0xFFFF;
            at += 2;
            byte[] bytes = new byte[length];
            buffer.getBytes(at, bytes);
            at += length;
            String text = new String(bytes, UTF_8);
            if (i == 0) {
                into.name = text;
            } else if (i == 1) {
                into.variable = text;
            } else if ((i & 1) == 0) {
                key = text;
            } else {
                into.properties.put(key, text);
            }
        }
    }

    /** The name in a block that was checked before; empty if there is none. */
    static String name(DirectBuffer block) {
        DartMetadata metadata = new DartMetadata();
        try {
            decode(metadata, block, 0, block.capacity());
        } catch (DartException e) {
            return "";
        }
        return Names.readable(metadata.name());
    }

    /** The texts of a block as they are in it. */
    static byte[] texts(DartMetadata from) {
        java.io.ByteArrayOutputStream out = new java.io.ByteArrayOutputStream(64);
        append(out, from.name);
        append(out, from.variable);
        from.properties.forEach(
                (key, value) -> {
                    append(out, key);
                    append(out, value);
                });
        return out.toByteArray();
    }

    private static void append(java.io.ByteArrayOutputStream out, String text) {
        byte[] bytes = text.getBytes(UTF_8);
        out.write(bytes.length);
        out.write(bytes.length >>> 8);
        out.write(bytes, 0, bytes.length);
    }

    private static DartException malformed(String what) {
        return new DartException(DartException.Code.MALFORMED, "metadata block: " + what);
    }
}
