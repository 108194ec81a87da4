package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * A request or a result, and the value that it carries: in itself if that is short, otherwise in a
 * registered buffer, from which the peer gets it. One thread.
 */
final class Outgoing {
    final RpcMessage header = new RpcMessage();
    private XdrValue value;

    /** What follows the value; null: nothing. */
    private DirectBuffer data;

    /** Has the value; null: that is in the message. */
    NntiBuffer buffer;

    /** Begins another one; null: it carries nothing. */
    RpcMessage begin(XdrValue newValue) {
        value = newValue;
        data = null;
        return header;
    }

    /**
     * Has data follow the value that the server may only get; read when the message is sent.
     *
     * @return false: they are too long, or not of this kind
     */
    boolean inline(NntiBuffer from, long length, RpcService to) {
        int flags = from.flags() & (BufferFlags.GET_SRC | BufferFlags.PUT_DST);
        boolean isReadOnly = flags == BufferFlags.GET_SRC && from.handle().segmentCount() == 1;
        try {
            long room = to.inlineArgsMax(false) - (value == null ? 0L : value.encodedLength());
            if (!isReadOnly || length >= room) {
                return false;
            }
        } catch (XdrException e) {
            return false; // prepare says why
        }
        header.dataInline(length);
        data = from.window();
        return true;
    }

    /**
     * Decides where the value travels; a long one is encoded now, and one that cannot is dropped.
     *
     * @param messageMax longer messages are not sent, bytes
     * @param valueMax longer values are refused with {@code EMSGSIZE}, bytes
     */
    RpcResult prepare(int messageMax, int valueMax, RegisteredBuffers pool) {
        int length;
        try {
            length = value == null ? 0 : value.encodedLength();
        } catch (XdrException e) {
            return drop(RpcResult.EENCODE);
        }
        header.body(length, null);
        if (length == 0 || header.headerLength() + length < messageMax) {
            return RpcResult.OK;
        }
        return length > valueMax ? drop(RpcResult.EMSGSIZE) : encodeLong(pool);
    }

    /** Encodes the value into a buffer, for it may change before the message is sent. */
    RpcResult encodeLong(RegisteredBuffers pool) {
        if (value == null) {
            return RpcResult.OK;
        }
        int length = value.encodedLength();
        buffer = pool.acquire(length);
        if (buffer == null) {
            return drop(RpcResult.ENOMEM);
        }
        try {
            value.encode(buffer.window(), 0);
        } catch (XdrException | IndexOutOfBoundsException e) {
            free(pool, true);
            return drop(RpcResult.EENCODE);
        }
        header.body(length, buffer.handle());
        value = null;
        return RpcResult.OK;
    }

    /** Says why there is no value instead. */
    private RpcResult drop(RpcResult why) {
        value = null;
        header.body(0, null).code(why.code());
        return why;
    }

    /**
     * Sends the message.
     *
     * @return {@code EAGAIN}: not now; {@code EENCODE}: nor now, and it has no value any more
     */
    NntiResult send(NntiTransport transport, NntiPeer peer, boolean isRequest) {
        int at = transport.claim();
        if (at < 0) {
            return NntiResult.EAGAIN;
        }
        MutableDirectBuffer messages = transport.messages();
        int length = header.encode(messages, at, isRequest);
        try {
            length += value == null ? 0 : value.encode(messages, at + length);
            if (data != null) {
                int dataLength = (int) header.fields.dataLength();
                messages.putBytes(at + length, data, 0, dataLength);
                length += dataLength;
            }
        } catch (XdrException | IndexOutOfBoundsException e) {
            drop(RpcResult.EENCODE);
            return NntiResult.EENCODE;
        }
        return transport.commit(peer, length);
    }

    /** Gives the buffer back, if there is one; it is revoked if the peer may still use it. */
    void free(RegisteredBuffers pool, boolean isFetched) {
        if (buffer != null) {
            pool.release(buffer, isFetched);
        }
        buffer = null;
        value = null;
        data = null;
    }
}
