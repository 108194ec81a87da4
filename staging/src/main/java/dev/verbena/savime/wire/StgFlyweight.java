package dev.verbena.savime.wire;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.memory.RemoteDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * One STG/1 message in a buffer, little-endian (specification, sections 4.1 and 4.2).
 *
 * <pre>
 * header, 32 bytes: 0 u32 magic "STG1"  4 u8 version  5 u8 type  6 u16 flags  8 u32 length
 *                  12 u32 status  16 u64 session  24 u64 request
 * HELLO            32 u32 maxBlock  36 u16 window  38 u16 ioThreads  40 u64 clientId
 *                  48 u8[16] token  64 u32 features
 * HELLO_ACK        32 u32 maxBlock  36 u16 window  40 u64 freeMemory  48 u64 freeDisk
 *                  56 u32 heartbeatMs  60 u32 features
 * DATASET_OPEN     32 u64 totalBytes  40 u32 elementSize  44 u16 nameLen  46 u16 typeLen
 *                  48 u8 onDuplicate  49 u8 placement  50 u16 metadataLen
 *                  56 name, type, metadata block
 * DATASET_OPENED   32 u64 datasetId  40 u8 placement  48 u64 resumeOffset  56 u16 nameLen  58 name
 * BLOCK_REQUEST    32 u64 datasetId  40 u64 offset  48 u32 length  52 u32 blockNo
 * BLOCK_GRANT      as BLOCK_REQUEST  56 u64 remoteAddress  64 u64 rkey  72 descriptor, 48 bytes
 * BLOCK_DATA       as BLOCK_REQUEST  56 data
 * BLOCK_RELEASE    32 u64 datasetId  40 u32 blockNo  44 u32 crc32c
 * DATASET_SYNC     32 u64 datasetId  40 u64 totalBytes  48 u32 crc32c  52 u32 blockCount
 * DATASET_DONE     32 u64 datasetId  40 u64 bytesReceived (PARTIAL: first gap)  48 u64 position
 * DATASET_ABORT    32 u64 datasetId
 * RUN              32 u32 textLen  36 u32 sinkNo  40 text, or u64 datasetId of the text
 * RUN_RESULT       32 u32 textLen  36 u32 totalLen  40 text
 * STATUS           32 u64 datasetId
 * STATUS_REPLY     32 u64 datasetId  40 u8 state  44 u32 sinkError  48 u64 bytesForwarded
 *                  56 u32 queued  60 u32 forwarding  64 u32 failed
 * DATASET_EVENT    32 u64 datasetId  40 u8 state  44 u32 sinkError  48 u16 textLen  50 text
 * </pre>
 *
 * <p>Where this adds to the specification: {@code DATASET_OPEN} carries a metadata block, a grant a
 * {@code RemoteDescriptor}, {@code DATASET_OPENED} the name that was given, {@code DATASET_EVENT}
 * the sink's text, and {@code RUN_RESULT} goes on in further messages while {@link
 * StgFlags#FLAG_MORE} is set. Allocates nothing but for texts. Movable, not thread-safe.
 */
public final class StgFlyweight {
    /** The bytes "STG1". */
    public static final int MAGIC = 0x31475453;

    public static final int VERSION = 1;
    public static final int HEADER_LENGTH = 32;

    /** Longest message but BLOCK_DATA. */
    public static final int LENGTH_MAX = 1024;

    /** Where the data of BLOCK_DATA begin. */
    public static final int DATA_OFFSET = 56;

    /** Longest block, bytes. */
    public static final int BLOCK_LENGTH_MAX = 1 << 30;

    /** Block offsets are multiples of this. */
    public static final int BLOCK_ALIGNMENT = 4096;

    /** Longest text within one RUN or RUN_RESULT, bytes. */
    public static final int TEXT_MAX = LENGTH_MAX - 40;

    /** Longest text of a DATASET_EVENT, bytes. */
    public static final int EVENT_TEXT_MAX = LENGTH_MAX - 52;

    public static final int TOKEN_LENGTH = 16;

    private static final int TYPE_OFFSET = 5;
    private static final int FLAGS_OFFSET = 6;
    private static final int LENGTH_OFFSET = 8;
    private static final int STATUS_OFFSET = 12;
    private static final int SESSION_OFFSET = 16;
    private static final int REQUEST_OFFSET = 24;
    private static final int BODY = HEADER_LENGTH;

    private MutableDirectBuffer buffer;
    private int offset;

    /** Over the message that begins here. */
    public StgFlyweight wrap(DirectBuffer at, int from) {
        buffer = (MutableDirectBuffer) at;
        offset = from;
        return this;
    }

    /** Begins a message of this type in zeroed memory, as short as it may be without a text. */
    public StgFlyweight begin(MutableDirectBuffer at, int from, int type) {
        int length = StgType.lengthMin(type);
        wrap(at, from);
        buffer.setMemory(from, length, (byte) 0);
        buffer.putInt(from, MAGIC, LITTLE_ENDIAN);
        buffer.putByte(from + 4, (byte) VERSION);
        buffer.putByte(from + TYPE_OFFSET, (byte) type);
        return length(length);
    }

    public int type() {
        return buffer.getByte(offset + TYPE_OFFSET) & 0xFF;
    }

    public int flags() {
        return buffer.getShort(offset + FLAGS_OFFSET, LITTLE_ENDIAN) & 0xFFFF;
    }

    public StgFlyweight flags(int value) {
        buffer.putShort(offset + FLAGS_OFFSET, (short) value, LITTLE_ENDIAN);
        return this;
    }

    /** Of the whole message. */
    public int length() {
        return buffer.getInt(offset + LENGTH_OFFSET, LITTLE_ENDIAN);
    }

    public StgFlyweight length(int value) {
        buffer.putInt(offset + LENGTH_OFFSET, value, LITTLE_ENDIAN);
        return this;
    }

    public int status() {
        return buffer.getInt(offset + STATUS_OFFSET, LITTLE_ENDIAN);
    }

    public StgFlyweight status(int value) {
        buffer.putInt(offset + STATUS_OFFSET, value, LITTLE_ENDIAN);
        return this;
    }

    public long session() {
        return buffer.getLong(offset + SESSION_OFFSET, LITTLE_ENDIAN);
    }

    public StgFlyweight session(long value) {
        buffer.putLong(offset + SESSION_OFFSET, value, LITTLE_ENDIAN);
        return this;
    }

    public long request() {
        return buffer.getLong(offset + REQUEST_OFFSET, LITTLE_ENDIAN);
    }

    public StgFlyweight request(long value) {
        buffer.putLong(offset + REQUEST_OFFSET, value, LITTLE_ENDIAN);
        return this;
    }

    // ---- bodies: HELLO and HELLO_ACK

    public int maxBlock() {
        return u32(BODY);
    }

    public StgFlyweight maxBlock(int value) {
        return u32(BODY, value);
    }

    public int window() {
        return u16(36);
    }

    public StgFlyweight window(int value) {
        return u16(36, value);
    }

    public StgFlyweight ioThreads(int value) {
        return u16(38, value);
    }

    public long clientId() {
        return u64(40);
    }

    public StgFlyweight clientId(long value) {
        return u64(40, value);
    }

    /** Compares in a time that does not depend on where the first difference is. */
    public boolean hasToken(byte[] token) {
        int difference = 0;
        for (int i = 0; i < TOKEN_LENGTH; i++) {
            difference |= buffer.getByte(offset + 48 + i) ^ token[i];
        }
        return difference == 0;
    }

    public StgFlyweight token(byte[] token) {
        buffer.putBytes(offset + 48, token, 0, TOKEN_LENGTH);
        return this;
    }

    /** Of HELLO. */
    public int features() {
        return u32(64);
    }

    public StgFlyweight features(int value) {
        return u32(64, value);
    }

    /** Of HELLO_ACK. */
    public int agreed() {
        return u32(60);
    }

    public StgFlyweight agreed(int value) {
        return u32(60, value);
    }

    public StgFlyweight free(long memory, long disk) {
        return u64(40, memory).u64(48, disk);
    }

    public StgFlyweight heartbeatMs(int value) {
        return u32(56, value);
    }

    // ---- datasets

    /** Of every message that has one, but RUN. */
    public long datasetId() {
        return u64(BODY);
    }

    public StgFlyweight datasetId(long value) {
        return u64(BODY, value);
    }

    /** Of DATASET_OPEN. */
    public long totalBytes() {
        return u64(BODY);
    }

    public int elementSize() {
        return u32(40);
    }

    public int onDuplicate() {
        return u8(48);
    }

    /** Of DATASET_OPEN. */
    public int placementRule() {
        return u8(49);
    }

    /** Of DATASET_OPEN: its fixed fields. */
    public StgFlyweight open(long totalBytes, int elementSize, int onDuplicate, int placement) {
        return u64(BODY, totalBytes).u32(40, elementSize).u8(48, onDuplicate).u8(49, placement);
    }

    /**
     * Of DATASET_OPEN: name, type and metadata behind one another.
     *
     * @return length of the whole message, which is set
     * @throws IllegalArgumentException if it would be too long
     */
    public int openTexts(String name, String type, DirectBuffer metadata, int metadataLength) {
        byte[] nameBytes = name.getBytes(UTF_8);
        byte[] typeBytes = type.getBytes(UTF_8);
        int length = 56 + nameBytes.length + typeBytes.length + metadataLength;
        if (length > LENGTH_MAX) {
            throw new IllegalArgumentException("name, type and metadata are too long: " + length);
        }
        u16(44, nameBytes.length).u16(46, typeBytes.length).u16(50, metadataLength);
        buffer.putBytes(offset + 56, nameBytes);
        buffer.putBytes(offset + 56 + nameBytes.length, typeBytes);
        int at = offset + 56 + nameBytes.length + typeBytes.length;
        buffer.putBytes(at, metadata, 0, metadataLength);
        length(length);
        return length;
    }

    /** Of DATASET_OPEN. */
    public String name() {
        return text(56, u16(44));
    }

    /** Of DATASET_OPEN. */
    public String elementType() {
        return text(56 + u16(44), u16(46));
    }

    /** Of DATASET_OPEN: where the metadata block begins in the buffer. */
    public int metadataAt() {
        int at = 56 + u16(44) + u16(46);
        require(at, metadataLength());
        return offset + at;
    }

    public int metadataLength() {
        return u16(50);
    }

    /** Of DATASET_OPENED: 1 memory, 2 disk. */
    public int placement() {
        return u8(40);
    }

    public long resumeOffset() {
        return u64(48);
    }

    public String givenName() {
        return text(58, u16(56));
    }

    /** Of DATASET_OPENED. */
    public StgFlyweight opened(long id, int placement, long resumeOffset, String name) {
        byte[] bytes = name.getBytes(UTF_8);
        datasetId(id).u8(40, placement).u64(48, resumeOffset).u16(56, bytes.length);
        buffer.putBytes(offset + 58, bytes);
        return length(58 + bytes.length);
    }

    // ---- blocks

    public long blockOffset() {
        return u64(40);
    }

    public int blockLength() {
        return u32(48);
    }

    public int blockNo() {
        return u32(52);
    }

    /** Of BLOCK_REQUEST, BLOCK_GRANT and BLOCK_DATA. */
    public StgFlyweight block(long id, long blockOffset, int length, int blockNo) {
        return datasetId(id).u64(40, blockOffset).u32(48, length).u32(52, blockNo);
    }

    /** Of BLOCK_GRANT: where the descriptor is in the buffer. */
    public int descriptorAt() {
        return offset + 72;
    }

    /** Of BLOCK_GRANT. */
    public StgFlyweight remote(RemoteDescriptor descriptor) {
        descriptor.encode(buffer, descriptorAt());
        return u64(56, descriptor.base()).u64(64, descriptor.keyLow());
    }

    /** Of BLOCK_RELEASE. */
    public int releasedBlock() {
        return u32(40);
    }

    public int blockCrc() {
        return u32(44);
    }

    public StgFlyweight release(long id, int blockNo, int crc) {
        return datasetId(id).u32(40, blockNo).u32(44, crc);
    }

    // ---- end of a dataset

    /** Of DATASET_SYNC; of DATASET_DONE the bytes received, or where the first gap is. */
    public long syncBytes() {
        return u64(40);
    }

    public int datasetCrc() {
        return u32(48);
    }

    public StgFlyweight sync(long id, long totalBytes, int crc, int blockCount) {
        return datasetId(id).u64(40, totalBytes).u32(48, crc).u32(52, blockCount);
    }

    public StgFlyweight done(long id, long bytes, long position) {
        return datasetId(id).u64(40, bytes).u64(48, position);
    }

    // ---- commands

    /** Of RUN and RUN_RESULT. */
    public String runText() {
        return text(40, u32(BODY));
    }

    /** Of RUN and RUN_RESULT: bytes of the text in this message. */
    public int runTextLength() {
        return u32(BODY);
    }

    /** Of RUN_RESULT: bytes of the text in all its messages. */
    public int totalTextLength() {
        return u32(36);
    }

    /** Of RUN with {@link StgFlags#FLAG_TEXT_IS_DATASET}. */
    public long textDatasetId() {
        require(40, 8);
        return u64(40);
    }

    public StgFlyweight textDatasetId(long id) {
        return length(48).u64(40, id);
    }

    /** Of RUN and RUN_RESULT: a piece of a text; sets the message's length. */
    public StgFlyweight text(byte[] bytes, int from, int count, int second) {
        u32(BODY, count).u32(36, second);
        buffer.putBytes(offset + 40, bytes, from, count);
        return length(40 + count);
    }

    /** Of RUN_RESULT: copies the text of this message. */
    public void copyText(byte[] target, int at) {
        require(40, u32(BODY));
        buffer.getBytes(offset + 40, target, at, u32(BODY));
    }

    // ---- status

    public int state() {
        return u8(40);
    }

    public StgFlyweight state(long id, int state, int sinkError) {
        return datasetId(id).u8(40, state).u32(44, sinkError);
    }

    public StgFlyweight counts(long bytesForwarded, int queued, int forwarding, int failed) {
        return u64(48, bytesForwarded).u32(56, queued).u32(60, forwarding).u32(64, failed);
    }

    /** Of DATASET_EVENT. */
    public String eventText() {
        return text(50, u16(48));
    }

    /** So much of a text that a DATASET_EVENT has room for the rest of it. */
    public static String cut(String text) {
        return text.length() <= EVENT_TEXT_MAX ? text : text.substring(0, EVENT_TEXT_MAX);
    }

    /** Of DATASET_EVENT: the sink's text, cut; sets the message's length. */
    public StgFlyweight eventText(String text) {
        byte[] bytes = text.getBytes(UTF_8);
        int count = Math.min(bytes.length, EVENT_TEXT_MAX);
        u16(48, count);
        buffer.putBytes(offset + 50, bytes, 0, count);
        return length(Math.max(52, 50 + count));
    }

    private String text(int at, int count) {
        require(at, count);
        return buffer.getStringWithoutLengthUtf8(offset + at, count);
    }

    private void require(int at, int count) {
        if (count < 0 || at > length() - count) {
            throw new IllegalArgumentException(
                    count + " bytes at " + at + " are not within a message of " + length());
        }
    }

    private int u8(int at) {
        return buffer.getByte(offset + at) & 0xFF;
    }

    private StgFlyweight u8(int at, int value) {
        buffer.putByte(offset + at, (byte) value);
        return this;
    }

    private int u16(int at) {
        return buffer.getShort(offset + at, LITTLE_ENDIAN) & 0xFFFF;
    }

    private StgFlyweight u16(int at, int value) {
        buffer.putShort(offset + at, (short) value, LITTLE_ENDIAN);
        return this;
    }

    private int u32(int at) {
        return buffer.getInt(offset + at, LITTLE_ENDIAN);
    }

    private StgFlyweight u32(int at, int value) {
        buffer.putInt(offset + at, value, LITTLE_ENDIAN);
        return this;
    }

    private long u64(int at) {
        return buffer.getLong(offset + at, LITTLE_ENDIAN);
    }

    private StgFlyweight u64(int at, long value) {
        buffer.putLong(offset + at, value, LITTLE_ENDIAN);
        return this;
    }
}
