package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.MutableDirectBuffer;

/**
 * A request or a result, and the value that it carries: in itself if that is short, otherwise in a
 * registered buffer, from which the peer gets it. One thread.
 */
final class Outgoing {
    final RpcMessage header = new RpcMessage();
    private XdrValue value;

    /** Has the value; null: that is in the message. */
    NntiBuffer buffer;

    /** Begins another one; null: it carries nothing. */
    RpcMessage begin(XdrValue newValue) {
        value = newValue;
        return header;
    }

    /**
     * Decides where the value travels; a long one is encoded now.
     *
     * @param messageMax longer messages are not sent, bytes
     * @param valueMax longer values are refused with {@code EMSGSIZE}, bytes
     */
    RpcResult prepare(int messageMax, int valueMax, RegisteredBuffers pool) {
        int length = value == null ? 0 : value.encodedLength();
        header.body(length, null);
        if (length == 0 || header.headerLength() + length < messageMax) {
            return RpcResult.OK;
        }
        return length > valueMax ? RpcResult.EMSGSIZE : encodeLong(pool);
    }

    /** Encodes the value into a buffer, for it may change before the message is sent. */
    RpcResult encodeLong(RegisteredBuffers pool) {
        if (value == null) {
            return RpcResult.OK;
        }
        int length = value.encodedLength();
        NntiBuffer taken = pool.acquire(length);
        if (taken == null) {
            return RpcResult.ENOMEM;
        }
        try {
            value.encode(taken.window(), 0);
        } catch (XdrException | IndexOutOfBoundsException e) {
            pool.release(taken, true);
            return RpcResult.EENCODE;
        }
        header.body(length, taken.handle());
        buffer = taken;
        value = null;
        return RpcResult.OK;
    }

    /** Says why there is no value instead. */
    void drop(RpcResult why) {
        value = null;
        header.body(0, null).code(why.code());
    }

    /** Writes the message; its length, or -1: the value cannot be encoded. */
    int encode(MutableDirectBuffer to, int at, boolean isRequest) {
        int length = header.encode(to, at, isRequest);
        if (value == null) {
            return length;
        }
        try {
            return length + value.encode(to, at + length);
        } catch (XdrException | IndexOutOfBoundsException e) {
            return -1;
        }
    }

    /** Gives the buffer back, if there is one; it is revoked if the peer may still use it. */
    void free(RegisteredBuffers pool, boolean isFetched) {
        if (buffer != null) {
            pool.release(buffer, isFetched);
        }
        buffer = null;
        value = null;
    }
}
