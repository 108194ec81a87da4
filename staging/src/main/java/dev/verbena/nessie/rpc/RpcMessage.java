package dev.verbena.nessie.rpc;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.nessie.nnti.BufferHandle;
import dev.verbena.nessie.nnti.NntiResult;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Header of a request, a result or an acknowledgement, in XDR (specification, section 2.3). A
 * holder of its values, not a view. Handles that are absent take no bytes: a null request and its
 * answer fit, with what NNTI and shm:// put before them, into one line of the cache.
 *
 * <pre>
 * offset size request                 result              acknowledgement
 *  0     4    {@link #REQUEST}        {@link #RESULT}     {@link #ACK}
 *  4     4    exchange                exchange            exchange
 *  8     8    id                      id                  id
 * 16     4    opcode                  opcode
 * 20     4    flags                   flags
 * 24     4    length of the arguments length of the result
 * 28     8    length of the data      code (4), zero (4)
 * 36     4+n  handle of the arguments handle of the result      with {@link #FLAG_FETCH}
 *        4+n  handle of the data                                with {@link #FLAG_DATA}
 *        ...  arguments if inline     result if inline
 *
 * offset size asks for data                   data was put
 *  0     4    {@link #ASK}                    {@link #PUSHED}
 *  4     4    exchange                        exchange
 *  8     8    id                              id
 * 16     8    offset in the client's data     code (4)
 * 24     8    length
 * 32     8    offset in the server's buffer
 * 40     4+n  handle of that buffer
 * </pre>
 */
final class RpcMessage {
    static final int REQUEST = 0x4E535131;
    static final int RESULT = 0x4E535231;
    static final int ACK = 0x4E534131;
    static final int ASK = 0x4E535031;
    static final int PUSHED = 0x4E534431;
    static final int FLAG_FETCH = 1;
    static final int FLAG_DATA = 2;
    static final int FLAG_RESPONSELESS = 4;
    static final int ACK_LENGTH = 16;
    static final int PUSHED_LENGTH = 20;

    /** Without the handle. */
    static final int ASK_LENGTH = 44;

    /** Of a header without handles. */
    static final int HEADER_LENGTH = 36;

    /** What a handle of one segment adds to a header. */
    static final int HANDLE_LENGTH = 4 + BufferHandle.LENGTH_OF_ONE;

    /** Of a header with both handles, of one segment each. */
    static final int LENGTH_MAX = HEADER_LENGTH + 2 * HANDLE_LENGTH;

    private static final int FLAGS_ALL = FLAG_FETCH | FLAG_DATA | FLAG_RESPONSELESS;
    private static final int ID_OFFSET = 8;
    private static final int OPCODE_OFFSET = 16;
    private static final int FLAGS_OFFSET = 20;
    private static final int BODY_LENGTH_OFFSET = 24;
    private static final int DATA_OFFSET = 28;

    final BufferHandle body = new BufferHandle();
    final BufferHandle data = new BufferHandle();
    int exchange;
    long id;
    int opcode;
    private int flags;
    int bodyLength;
    long dataLength;
    int code;

    /** Where an inline body begins, in the buffer that was decoded. */
    int bodyAt;

    static int magic(DirectBuffer buffer, int at, int length) {
        return length < ACK_LENGTH ? 0 : buffer.getInt(at, BIG_ENDIAN);
    }

    static int exchangeOf(DirectBuffer buffer, int at) {
        return buffer.getInt(at + 4, BIG_ENDIAN);
    }

    static long idOf(DirectBuffer buffer, int at) {
        return buffer.getLong(at + ID_OFFSET, BIG_ENDIAN);
    }

    RpcMessage request(int itsExchange, long itsId, int itsOpcode, int itsFlags) {
        exchange = itsExchange;
        id = itsId;
        opcode = itsOpcode;
        flags = itsFlags;
        bodyLength = 0;
        dataLength = 0;
        code = 0;
        body.clear();
        data.clear();
        return this;
    }

    RpcMessage body(int length, BufferHandle handle) {
        bodyLength = length;
        if (handle != null) {
            body.set(handle);
            flags |= FLAG_FETCH;
        }
        return this;
    }

    RpcMessage data(long length, BufferHandle handle) {
        dataLength = length;
        data.set(handle);
        flags |= FLAG_DATA;
        return this;
    }

    RpcMessage code(int itsCode) {
        code = itsCode;
        return this;
    }

    int headerLength() {
        int handles = isFetch() ? 4 + body.encodedLength() : 0;
        return HEADER_LENGTH + (hasData() ? handles + 4 + data.encodedLength() : handles);
    }

    private static void begin(
            MutableDirectBuffer buffer, int at, int magic, int exchange, long id) {
        buffer.putInt(at, magic, BIG_ENDIAN);
        buffer.putInt(at + 4, exchange, BIG_ENDIAN);
        buffer.putLong(at + ID_OFFSET, id, BIG_ENDIAN);
    }

    static int encodeAck(MutableDirectBuffer buffer, int at, int exchange, long id) {
        begin(buffer, at, ACK, exchange, id);
        return ACK_LENGTH;
    }

    /** Asks for a range of the data of this request; the length of the message. */
    int encodeAsk(
            MutableDirectBuffer buffer,
            int at,
            long dataOffset,
            long length,
            BufferHandle to,
            long toOffset) {
        begin(buffer, at, ASK, exchange, id);
        buffer.putLong(at + 16, dataOffset, BIG_ENDIAN);
        buffer.putLong(at + 24, length, BIG_ENDIAN);
        buffer.putLong(at + 32, toOffset, BIG_ENDIAN);
        return encode(buffer, at + 40, to) - at;
    }

    /**
     * Reads what {@link #encodeAsk} wrote.
     *
     * @param asked gets the offset in the data, the length, and the offset in the server's buffer
     * @return false: malformed
     */
    static boolean decodeAsk(
            DirectBuffer buffer, int at, int length, long[] asked, BufferHandle to) {
        if (length < ASK_LENGTH) {
            return false;
        }
        for (int i = 0; i < asked.length; i++) {
            asked[i] = buffer.getLong(at + 16 + i * Long.BYTES, BIG_ENDIAN);
        }
        return decode(buffer, at + 40, at + length, to) > 0;
    }

    static int encodePushed(
            MutableDirectBuffer buffer, int at, int exchange, long id, RpcResult how) {
        begin(buffer, at, PUSHED, exchange, id);
        buffer.putInt(at + 16, how.code(), BIG_ENDIAN);
        return PUSHED_LENGTH;
    }

    /** Null: malformed. */
    static RpcResult pushed(DirectBuffer buffer, int at, int length) {
        return length < PUSHED_LENGTH ? null : RpcResult.ofCode(buffer.getInt(at + 16, BIG_ENDIAN));
    }

    /** Writes the header; its length. */
    int encode(MutableDirectBuffer buffer, int at, boolean isRequest) {
        begin(buffer, at, isRequest ? REQUEST : RESULT, exchange, id);
        buffer.putInt(at + OPCODE_OFFSET, opcode, BIG_ENDIAN);
        buffer.putInt(at + FLAGS_OFFSET, flags, BIG_ENDIAN);
        buffer.putInt(at + BODY_LENGTH_OFFSET, bodyLength, BIG_ENDIAN);
        buffer.putLong(
                at + DATA_OFFSET, isRequest ? dataLength : (long) code << Integer.SIZE, BIG_ENDIAN);
        int next = at + HEADER_LENGTH;
        if (isFetch()) {
            next = encode(buffer, next, body);
        }
        if (hasData()) {
            next = encode(buffer, next, data);
        }
        return next - at;
    }

    private static int encode(MutableDirectBuffer buffer, int at, BufferHandle handle) {
        buffer.putInt(at, handle.encodedLength(), BIG_ENDIAN);
        return at + 4 + handle.encode(buffer, at + 4);
    }

    /** Reads a header from bytes that may come from anywhere; false: malformed. */
    boolean decode(DirectBuffer buffer, int at, int length, boolean isRequest) {
        if (length < HEADER_LENGTH) {
            return false;
        }
        exchange = exchangeOf(buffer, at);
        id = idOf(buffer, at);
        opcode = buffer.getInt(at + OPCODE_OFFSET, BIG_ENDIAN);
        flags = buffer.getInt(at + FLAGS_OFFSET, BIG_ENDIAN);
        bodyLength = buffer.getInt(at + BODY_LENGTH_OFFSET, BIG_ENDIAN);
        dataLength = buffer.getLong(at + DATA_OFFSET, BIG_ENDIAN);
        code = (int) (dataLength >> Integer.SIZE);
        bodyAt = at + HEADER_LENGTH;
        if (bodyLength < 0 || (flags & ~FLAGS_ALL) != 0 || !decodeHandles(buffer, at + length)) {
            return false;
        }
        boolean isBodyThere =
                isFetch()
                        ? !body.isAbsent() && bodyLength <= body.length()
                        : bodyLength <= at + length - bodyAt;
        boolean isDataThere =
                !isRequest
                        || dataLength >= 0
                                && (hasData()
                                        ? !data.isAbsent() && dataLength <= data.length()
                                        : dataLength == 0);
        return isBodyThere && isDataThere;
    }

    /** Moves to the body; false: malformed. */
    private boolean decodeHandles(DirectBuffer buffer, int limit) {
        body.clear();
        data.clear();
        if (isFetch()) {
            bodyAt = decode(buffer, bodyAt, limit, body);
        }
        if (bodyAt >= 0 && hasData()) {
            bodyAt = decode(buffer, bodyAt, limit, data);
        }
        return bodyAt >= 0;
    }

    private static int decode(DirectBuffer buffer, int at, int limit, BufferHandle handle) {
        if (limit - at < 4) {
            return -1;
        }
        int length = buffer.getInt(at, BIG_ENDIAN);
        boolean isWhole =
                length >= 0
                        && (length & 3) == 0
                        && length <= limit - at - 4
                        && handle.decode(buffer, at + 4, length) == NntiResult.OK;
        return isWhole ? at + 4 + length : -1;
    }

    /** Whether the data of this request has this range. */
    boolean isInData(long offset, long length) {
        return offset >= 0 && length >= 0 && offset <= dataLength && length <= dataLength - offset;
    }

    boolean isFetch() {
        return (flags & FLAG_FETCH) != 0;
    }

    private boolean hasData() {
        return (flags & FLAG_DATA) != 0;
    }

    boolean isResponseless() {
        return (flags & FLAG_RESPONSELESS) != 0;
    }
}
