package dev.verbena.dart;

import static dev.verbena.dart.wire.MetadataFlyweight.APPLICATION_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.BLOCK_LENGTH_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.CHECKSUM_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.COUNTS_LENGTH;
import static dev.verbena.dart.wire.MetadataFlyweight.DIMENSIONS_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.FIXED_LENGTH;
import static dev.verbena.dart.wire.MetadataFlyweight.FLAGS_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.FLAG_CHECKSUM;
import static dev.verbena.dart.wire.MetadataFlyweight.FLAG_COUNTS;
import static dev.verbena.dart.wire.MetadataFlyweight.FLAG_END_OF_STEP;
import static dev.verbena.dart.wire.MetadataFlyweight.MAGIC;
import static dev.verbena.dart.wire.MetadataFlyweight.PAYLOAD_LENGTH_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.PROPERTIES_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.RANK_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.STEP_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.TYPE_OFFSET;
import static dev.verbena.dart.wire.MetadataFlyweight.VERSION;
import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.dart.wire.MetadataFlyweight;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.Names;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What a message is about. It precedes the payload as a block of at most {@link #LENGTH_MAX} bytes.
 * A reusable holder: setting step, rank or shape and encoding allocate nothing. One thread. Its
 * layout is in {@code dart.wire.MetadataFlyweight}.
 */
public final class DartMetadata {
    /** Longest encoded block, bytes. */
    public static final int LENGTH_MAX = ControlFlyweight.BLOCK_LENGTH_MAX;

    /** Longest name, variable, key or value, in bytes of UTF-8. */
    public static final int TEXT_LENGTH_MAX = MetadataFlyweight.TEXT_LENGTH_MAX;

    /** Most dimensions of a shape. */
    public static final int DIMENSIONS_MAX = MetadataFlyweight.DIMENSIONS_MAX;

    /** Most properties. */
    public static final int PROPERTIES_MAX = MetadataFlyweight.PROPERTIES_MAX;

    private final long[] shape = new long[DIMENSIONS_MAX];
    private final Map<String, String> properties = new LinkedHashMap<>();
    private int dimensionCount;
    private ElementType elementType = ElementType.BYTES;
    private String name = "";
    private String variable = "";
    private long step;
    private int rank;
    private boolean hasRank;
    private int applicationId;
    private int rankCount;
    private int stepMessageCount;
    private boolean isEndOfStep;
    private long payloadLength;
    private boolean hasChecksum;
    private int checksum;
    private byte[] texts = {0, 0, 0, 0};
    private boolean isTextsStale;

    /** Empty: no name, no shape, no user keys. */
    public DartMetadata() {}

    /** Name of the message, for example of the file it becomes; up to 255 bytes of UTF-8. */
    public DartMetadata name(String name) {
        this.name = checked("name", name);
        isTextsStale = true;
        return this;
    }

    /** Name as sent. Never use it as a file name: see {@link #safeName()}. */
    public String name() {
        return name;
    }

    /** Which variable of the simulation; up to 255 bytes of UTF-8. */
    public DartMetadata variable(String variable) {
        this.variable = checked("variable", variable);
        isTextsStale = true;
        return this;
    }

    /** Which variable of the simulation. */
    public String variable() {
        return variable;
    }

    /** How the payload is to be read. */
    public DartMetadata elementType(ElementType elementType) {
        this.elementType = java.util.Objects.requireNonNull(elementType, "elementType");
        return this;
    }

    /** How the payload is to be read. */
    public ElementType elementType() {
        return elementType;
    }

    /** Extents, slowest first; up to 8, none negative. Copies. */
    public DartMetadata shape(long... extents) {
        if (extents.length > DIMENSIONS_MAX) {
            throw new IllegalArgumentException(
                    "shape of " + extents.length + " dimensions; the most is " + DIMENSIONS_MAX);
        }
        for (long extent : extents) {
            if (extent < 0) {
                throw new IllegalArgumentException("shape has a negative extent " + extent);
            }
        }
        System.arraycopy(extents, 0, shape, 0, extents.length);
        dimensionCount = extents.length;
        return this;
    }

    /** Number of dimensions. */
    public int dimensionCount() {
        return dimensionCount;
    }

    /** Extent of a dimension. */
    public long extent(int dimension) {
        java.util.Objects.checkIndex(dimension, dimensionCount);
        return shape[dimension];
    }

    /** A copy of all extents. */
    public long[] shape() {
        return Arrays.copyOf(shape, dimensionCount);
    }

    /** Step of the simulation. */
    public DartMetadata step(long step) {
        this.step = step;
        return this;
    }

    /** Step of the simulation. */
    public long step() {
        return step;
    }

    /** Rank that sends; without this call the library writes the rank of the client. */
    public DartMetadata rank(int rank) {
        this.rank = rank;
        hasRank = true;
        return this;
    }

    /** Rank that sent it. */
    public int rank() {
        return rank;
    }

    /** Application of the process that sent it; written by the library. */
    public int applicationId() {
        return applicationId;
    }

    /**
     * How many ranks, from 0, take part in this step; 0: not said. Without this call the library
     * writes what {@link DartClient.Context#rankCount} says.
     *
     * @throws IllegalArgumentException if negative
     */
    public DartMetadata rankCount(int count) {
        Arguments.range("rankCount", count, 0, Integer.MAX_VALUE);
        rankCount = count;
        return this;
    }

    /** How many ranks take part in this step; 0: not said. */
    public int rankCount() {
        return rankCount;
    }

    /**
     * How many messages this rank sends in this step, for receivers that put steps together; 0: not
     * said.
     *
     * @throws IllegalArgumentException if negative
     */
    public DartMetadata stepMessageCount(int count) {
        Arguments.range("stepMessageCount", count, 0, Integer.MAX_VALUE);
        stepMessageCount = count;
        return this;
    }

    /** How many messages this rank sends in this step; 0: not said. */
    public int stepMessageCount() {
        return stepMessageCount;
    }

    /** Marks the last message of this rank in this step. */
    public DartMetadata endOfStep(boolean isEnd) {
        isEndOfStep = isEnd;
        return this;
    }

    /** Whether this is the last message of its rank in its step. */
    public boolean isEndOfStep() {
        return isEndOfStep;
    }

    /** Written by the library when it sends: its process; what the user has set is kept. */
    public DartMetadata origin(int application, int clientRank, int ranks) {
        applicationId = application;
        if (!hasRank) {
            rank = clientRank;
        }
        if (rankCount == 0) {
            rankCount = ranks;
        }
        return this;
    }

    /** Adds or replaces a property; up to 32, key and value up to 255 bytes each. */
    public DartMetadata property(String key, String value) {
        checked("property key", key);
        checked("property " + key, value);
        if (!properties.containsKey(key) && properties.size() == PROPERTIES_MAX) {
            throw new IllegalArgumentException("more than " + PROPERTIES_MAX + " properties");
        }
        properties.put(key, value);
        isTextsStale = true;
        return this;
    }

    /** Value of a property, or null. */
    public String property(String key) {
        return properties.get(key);
    }

    /** All properties, in the order given; a live view that cannot be changed. */
    public Map<String, String> properties() {
        return Collections.unmodifiableMap(properties);
    }

    /** Payload bytes of the message; set by the library when it sends. */
    public long payloadLength() {
        return payloadLength;
    }

    /** True if the sender gave a checksum of the payload. */
    public boolean hasChecksum() {
        return hasChecksum;
    }

    /** CRC-32C of the payload as its sender computed it. */
    public int checksum() {
        return checksum;
    }

    /** Written by the library when it sends: length, and checksum if there is one. */
    public DartMetadata payload(long length, boolean withChecksum, int crc) {
        payloadLength = length;
        hasChecksum = withChecksum;
        checksum = withChecksum ? crc : 0;
        return this;
    }

    /** Forgets everything. */
    public DartMetadata clear() {
        dimensionCount = 0;
        elementType = ElementType.BYTES;
        name = "";
        variable = "";
        step = 0;
        rank = 0;
        hasRank = false;
        applicationId = 0;
        rankCount = 0;
        stepMessageCount = 0;
        isEndOfStep = false;
        properties.clear();
        isTextsStale = true;
        return payload(0, false, 0);
    }

    /**
     * The name as one harmless element of a path: bytes of its UTF-8 form other than letters,
     * digits, dot, dash and underscore, and a leading dot, become {@code %XX}; so different names
     * stay different. A name whose result would exceed 200 characters is cut and ends in a checksum
     * of the whole. Empty stays empty.
     */
    public String safeName() {
        return Names.safe(name);
    }

    /**
     * Bytes that {@link #encode} writes.
     *
     * @throws IllegalArgumentException if they would exceed {@link #LENGTH_MAX}
     */
    public int encodedLength() {
        if (isTextsStale) {
            texts = texts();
            isTextsStale = false;
        }
        int counts = hasCounts() ? COUNTS_LENGTH : 0;
        int length = (FIXED_LENGTH + 8 * dimensionCount + counts + texts.length + 7) & ~7;
        if (length > LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "metadata of '%s' takes %s bytes; the most is %s"
                            .formatted(name, length, LENGTH_MAX));
        }
        return length;
    }

    private boolean hasCounts() {
        return rankCount > 0 || stepMessageCount > 0;
    }

    private int flags() {
        return (hasChecksum ? FLAG_CHECKSUM : 0)
                | (isEndOfStep ? FLAG_END_OF_STEP : 0)
                | (hasCounts() ? FLAG_COUNTS : 0);
    }

    /** Writes the block; returns its length. */
    public int encode(MutableDirectBuffer buffer, int offset) {
        int length = encodedLength();
        buffer.putInt(offset, MAGIC, LITTLE_ENDIAN);
        buffer.putByte(offset + 4, (byte) VERSION);
        buffer.putByte(offset + TYPE_OFFSET, (byte) elementType.code());
        buffer.putByte(offset + DIMENSIONS_OFFSET, (byte) dimensionCount);
        buffer.putByte(offset + PROPERTIES_OFFSET, (byte) properties.size());
        buffer.putShort(offset + BLOCK_LENGTH_OFFSET, (short) length, LITTLE_ENDIAN);
        buffer.putShort(offset + FLAGS_OFFSET, (short) flags(), LITTLE_ENDIAN);
        buffer.putInt(offset + CHECKSUM_OFFSET, checksum, LITTLE_ENDIAN);
        buffer.putLong(offset + PAYLOAD_LENGTH_OFFSET, payloadLength, LITTLE_ENDIAN);
        buffer.putLong(offset + STEP_OFFSET, step, LITTLE_ENDIAN);
        buffer.putInt(offset + RANK_OFFSET, rank, LITTLE_ENDIAN);
        buffer.putInt(offset + APPLICATION_OFFSET, applicationId, LITTLE_ENDIAN);
        int at = offset + FIXED_LENGTH;
        for (int i = 0; i < dimensionCount; i++, at += 8) {
            buffer.putLong(at, shape[i], LITTLE_ENDIAN);
        }
        if (hasCounts()) {
            buffer.putInt(at, rankCount, LITTLE_ENDIAN);
            buffer.putInt(at + 4, stepMessageCount, LITTLE_ENDIAN);
            at += COUNTS_LENGTH;
        }
        buffer.putBytes(at, texts);
        at += texts.length;
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
    public int decode(DirectBuffer buffer, int offset, int available) {
        int length = MetadataFlyweight.check(buffer, offset, available);
        clear();
        elementType = ElementType.ofCode(buffer.getByte(offset + TYPE_OFFSET));
        dimensionCount = buffer.getByte(offset + DIMENSIONS_OFFSET) & 0xFF;
        int propertyCount = buffer.getByte(offset + PROPERTIES_OFFSET) & 0xFF;
        int flags = buffer.getShort(offset + FLAGS_OFFSET, LITTLE_ENDIAN);
        int textsAt = MetadataFlyweight.textsAt(buffer, offset);
        payloadLength = MetadataFlyweight.payloadLength(buffer, offset);
        hasChecksum = (flags & FLAG_CHECKSUM) != 0;
        isEndOfStep = (flags & FLAG_END_OF_STEP) != 0;
        checksum = buffer.getInt(offset + CHECKSUM_OFFSET, LITTLE_ENDIAN);
        step = buffer.getLong(offset + STEP_OFFSET, LITTLE_ENDIAN);
        rank = buffer.getInt(offset + RANK_OFFSET, LITTLE_ENDIAN);
        hasRank = true;
        applicationId = buffer.getInt(offset + APPLICATION_OFFSET, LITTLE_ENDIAN);
        for (int i = 0; i < dimensionCount; i++) {
            shape[i] = buffer.getLong(offset + FIXED_LENGTH + 8 * i, LITTLE_ENDIAN);
        }
        if ((flags & FLAG_COUNTS) != 0) {
            rankCount = buffer.getInt(offset + textsAt - COUNTS_LENGTH, LITTLE_ENDIAN);
            stepMessageCount = buffer.getInt(offset + textsAt - 4, LITTLE_ENDIAN);
        }
        decodeTexts(buffer, offset + textsAt, propertyCount);
        return length;
    }

    private void decodeTexts(DirectBuffer buffer, int from, int propertyCount) {
        int at = from;
        String key = "";
        for (int i = 0; i < 2 + 2 * propertyCount; i++) {
            String text = MetadataFlyweight.text(buffer, at);
            at += 2 + MetadataFlyweight.textLength(buffer, at);
            if (i == 0) {
                name = text;
            } else if (i == 1) {
                variable = text;
            } else if ((i & 1) == 0) {
                key = text;
            } else {
                properties.put(key, text);
            }
        }
    }

    /** The texts of a block as they are in it. */
    private byte[] texts() {
        ByteArrayOutputStream out = new ByteArrayOutputStream(64);
        append(out, name);
        append(out, variable);
        properties.forEach(
                (key, value) -> {
                    append(out, key);
                    append(out, value);
                });
        return out.toByteArray();
    }

    private static void append(ByteArrayOutputStream out, String text) {
        byte[] bytes = text.getBytes(UTF_8);
        out.write(bytes.length);
        out.write(bytes.length >>> 8);
        out.write(bytes, 0, bytes.length);
    }

    private static String checked(String what, String text) {
        java.util.Objects.requireNonNull(text, what);
        int length = text.getBytes(UTF_8).length;
        if (length > TEXT_LENGTH_MAX) {
            throw new IllegalArgumentException(
                    what + " takes " + length + " bytes; the most is " + TEXT_LENGTH_MAX);
        }
        return text;
    }

    @Override
    public String toString() {
        return "DartMetadata{name='%s', variable='%s', %s%s, step=%s, rank=%s, %s}"
                .formatted(
                        name,
                        variable,
                        elementType,
                        Arrays.toString(shape()),
                        step,
                        rank,
                        properties);
    }
}
