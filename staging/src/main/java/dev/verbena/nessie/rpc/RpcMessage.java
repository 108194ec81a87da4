package dev.verbena.nessie.rpc;

import static java.nio.ByteOrder.BIG_ENDIAN;

import dev.verbena.nessie.nnti.BufferHandle;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.wire.RpcAsk;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import dev.verbena.nessie.rpc.wire.RpcHeader;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Header of a request, a result or an acknowledgement, in XDR (specification, section 2.3). A
 * holder of its values, not a view. The build makes its constants and fields of {@code rpc.x}; what
 * follows them is encoded here. Handles that are absent take no bytes: a null request and its
 * answer fit, with what NNTI and shm:// put before them, into one line of the cache.
 *
 * <pre>
 * offset size request                 result              acknowledgement
 *  0     4    {@code REQUEST}         {@code RESULT}       {@code ACK}
 *  4     4    exchange                exchange            exchange
 *  8     8    id                      id                  id
 * 16     4    opcode                  opcode
 * 20     4    flags                   flags
 * 24     4    length of the arguments length of the result
 * 28     8    length of the data      code (4), zero (4)
 * 36     4+n  handle of the arguments handle of the result      with {@code FLAG_FETCH}
 *        4+n  handle of the data                                with {@code FLAG_DATA}
 *        ...  arguments if inline     result if inline
 *        ...  data                                              with {@code FLAG_DATA_INLINE}
 *
 * offset size asks for data                   data was put
 *  0     4    {@code ASK}                     {@code PUSHED}
 *  4     4    exchange                        exchange
 *  8     8    id                              id
 * 16     8    offset in the client's data     code (4)
 * 24     8    length
 * 32     8    offset in the server's buffer
 * 40     4+n  handle of that buffer
 * </pre>
 */
final class RpcMessage {
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

    final RpcHeader fields = new RpcHeader();
    final BufferHandle body = new BufferHandle();
    final BufferHandle data = new BufferHandle();

    /** Where an inline body begins, in the buffer that was decoded. */
    int bodyAt;

    static int magic(DirectBuffer buffer, int at, int length) {
        return length < ACK_LENGTH ? 0 : buffer.getInt(at, BIG_ENDIAN);
    }

    static int exchangeOf(DirectBuffer buffer, int at) {
        return buffer.getInt(at + 4, BIG_ENDIAN);
    }

    static long idOf(DirectBuffer buffer, int at) {
        return buffer.getLong(at + 8, BIG_ENDIAN);
    }

    RpcMessage request(int exchange, long id, int opcode, int flags) {
        fields.exchange(exchange).id(id).opcode(opcode).flags(flags).bodyLength(0).dataLength(0);
        body.clear();
        data.clear();
        return this;
    }

    RpcMessage body(int length, BufferHandle handle) {
        fields.bodyLength(length);
        if (handle != null) {
            body.set(handle);
            fields.flags(fields.flags() | RpcConstants.FLAG_FETCH);
        }
        return this;
    }

    RpcMessage data(long length, BufferHandle handle) {
        fields.dataLength(length).flags(fields.flags() | RpcConstants.FLAG_DATA);
        data.set(handle);
        return this;
    }

    /** The data follow the arguments. */
    void dataInline(long length) {
        fields.dataLength(length).flags(fields.flags() | RpcConstants.FLAG_DATA_INLINE);
    }

    /** Of a result, in the place of the length of data. */
    RpcMessage code(int code) {
        fields.dataLength((long) code << Integer.SIZE);
        return this;
    }

    int code() {
        return (int) (fields.dataLength() >> Integer.SIZE);
    }

    int headerLength() {
        int handles = isFetch() ? 4 + body.encodedLength() : 0;
        return HEADER_LENGTH + (hasData() ? handles + 4 + data.encodedLength() : handles);
    }

    /**
     * Sends a short message: {@code ACK}, or {@code PUSHED} with how it went as opcode.
     *
     * @return as {@link NntiTransport#commit}
     */
    NntiResult tell(NntiTransport transport, NntiPeer peer, int magic) {
        int at = transport.claim();
        if (at < 0) {
            return NntiResult.EAGAIN;
        }
        fields.magic(magic).encode(transport.messages(), at);
        return transport.commit(peer, magic == RpcConstants.ACK ? ACK_LENGTH : PUSHED_LENGTH);
    }

    /** Asks a client to put into a buffer; the length of the message. */
    static int encode(RpcAsk asked, BufferHandle to, MutableDirectBuffer buffer, int at) {
        return encode(buffer, at + asked.magic(RpcConstants.ASK).encode(buffer, at), to) - at;
    }

    /** Reads what the other wrote; false: malformed. */
    static boolean decode(RpcAsk asked, BufferHandle to, DirectBuffer buffer, int at, int length) {
        return length >= ASK_LENGTH
                && decode(buffer, at + asked.decode(buffer, at, at + length), at + length, to) > 0;
    }

    /** How the client's put has ended; null: malformed. */
    static RpcResult pushed(DirectBuffer buffer, int at, int length) {
        return length < PUSHED_LENGTH ? null : RpcResult.ofCode(buffer.getInt(at + 16, BIG_ENDIAN));
    }

    /** Reads arguments or a result, if this side has a value for them. */
    static RpcResult decode(XdrValue value, DirectBuffer buffer, int at, int length) {
        try {
            if (value != null) {
                value.decode(buffer, at, at + length);
            }
            return RpcResult.OK;
        } catch (XdrException | IndexOutOfBoundsException e) {
            return RpcResult.EDECODE;
        } catch (OutOfMemoryError e) {
            // A list's length is the peer's: this call is refused, the others go on.
            return RpcResult.ENOMEM;
        }
    }

    /** Writes the header; its length. */
    int encode(MutableDirectBuffer buffer, int at, boolean isRequest) {
        fields.magic(isRequest ? RpcConstants.REQUEST : RpcConstants.RESULT);
        int next = at + fields.encode(buffer, at);
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
        // Of a malformed one, too, the call is known.
        request(exchangeOf(buffer, at), idOf(buffer, at), 0, 0);
        if (length < HEADER_LENGTH) {
            return false;
        }
        bodyAt = at + fields.decode(buffer, at, at + length);
        int bodyLength = fields.bodyLength();
        long dataLength = fields.dataLength();
        boolean isKnown = bodyLength >= 0 && (fields.flags() & ~RpcConstants.FLAGS_ALL) == 0;
        boolean isTwice = isDataInline() && (hasData() || isFetch());
        if (!isKnown || isTwice || !decodeHandles(buffer, at + length)) {
            return false;
        }
        long bodyMax = isFetch() ? body.length() : at + length - bodyAt;
        long dataMax = isDataInline() ? bodyMax - bodyLength : data.length();
        boolean isDataThere =
                data.isAbsent() != hasData() && dataLength >= 0 && dataLength <= dataMax;
        return body.isAbsent() != isFetch() && bodyLength <= bodyMax && (isDataThere || !isRequest);
    }

    /** Moves to the body; false: malformed. */
    private boolean decodeHandles(DirectBuffer buffer, int limit) {
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
        return offset >= 0 && length >= 0 && offset <= fields.dataLength() - length;
    }

    boolean isFetch() {
        return (fields.flags() & RpcConstants.FLAG_FETCH) != 0;
    }

    boolean isDataInline() {
        return (fields.flags() & RpcConstants.FLAG_DATA_INLINE) != 0;
    }

    private boolean hasData() {
        return (fields.flags() & RpcConstants.FLAG_DATA) != 0;
    }

    boolean isResponseless() {
        return (fields.flags() & RpcConstants.FLAG_RESPONSELESS) != 0;
    }
}
