package dev.verbena.dart;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.dart.wire.ControlFlyweight;
import dev.verbena.staging.Arguments;
import dev.verbena.staging.Names;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * What a message is about. It precedes the payload as a block of at most {@link #LENGTH_MAX} bytes.
 * A reusable holder: setting step, rank or shape and encoding allocate nothing. One thread. {@code
 * MetadataCodec} has its layout.
 */
public final class DartMetadata {
    /** Longest encoded block, bytes. */
    public static final int LENGTH_MAX = ControlFlyweight.BLOCK_LENGTH_MAX;

    /** Longest name, variable, key or value, in bytes of UTF-8. */
    public static final int TEXT_LENGTH_MAX = 255;

    /** Most dimensions of a shape. */
    public static final int DIMENSIONS_MAX = 8;

    /** Most properties. */
    public static final int PROPERTIES_MAX = 32;

    final long[] shape = new long[DIMENSIONS_MAX];
    final Map<String, String> properties = new LinkedHashMap<>();
    int dimensionCount;
    ElementType elementType = ElementType.BYTES;
    String name = "";
    String variable = "";
    long step;
    int rank;
    boolean hasRank;
    int applicationId;
    int rankCount;
    int stepMessageCount;
    boolean isEndOfStep;
    long payloadLength;
    boolean hasChecksum;
    int checksum;
    byte[] texts = {0, 0, 0, 0};
    boolean isTextsStale;

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

    /** What the library knows of the sender; what the user said stands. */
    DartMetadata origin(int application, int clientRank, int ranks) {
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

    DartMetadata payload(long length, boolean withChecksum, int crc) {
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
            texts = MetadataCodec.texts(this);
            isTextsStale = false;
        }
        int counts = MetadataCodec.countsLength(this);
        int length =
                (MetadataCodec.FIXED_LENGTH + 8 * dimensionCount + counts + texts.length + 7) & ~7;
        if (length > LENGTH_MAX) {
            throw new IllegalArgumentException(
                    "metadata of '"
                            + name
                            + "' takes "
                            + length
                            + " bytes; the most is "
                            + LENGTH_MAX);
        }
        return length;
    }

    /** Writes the block; returns its length. */
    int encode(MutableDirectBuffer buffer, int offset) {
        return MetadataCodec.encode(this, buffer, offset);
    }

    /**
     * Reads a block that may come from anywhere.
     *
     * @param available bytes that there are
     * @return length of the block
     * @throws DartException {@link DartException.Code#MALFORMED} naming the field
     */
    int decode(DirectBuffer buffer, int offset, int available) {
        return MetadataCodec.decode(this, buffer, offset, available);
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
        return "DartMetadata{name='"
                + name
                + "', variable='"
                + variable
                + "', "
                + elementType
                + Arrays.toString(shape())
                + ", step="
                + step
                + ", rank="
                + rank
                + ", "
                + properties
                + "}";
    }
}
