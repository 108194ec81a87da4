package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrValue;
import org.agrona.DirectBuffer;

/** Sends a server's answers, and keeps long results until they were fetched. */
final class Replies implements AutoCloseable {
    private final RpcServer server;
    private final NntiTransport transport;
    private final long fetchTimeoutNs;
    private final RegisteredBuffers longResults;
    private final RpcMessage malformed = new RpcMessage();

    Replies(RpcServer server, NntiTransport transport, long fetchTimeoutNs) {
        this.server = server;
        this.transport = transport;
        this.fetchTimeoutNs = fetchTimeoutNs;
        this.longResults = new RegisteredBuffers(transport, BufferFlags.GET_SRC);
    }

    /** Longest request or result in one message, bytes. */
    static int lengthMax(NntiTransport transport) {
        return Math.min(RpcEndpoint.MESSAGE_LENGTH, transport.messageLengthMax());
    }

    /** Encodes and sends the answer, or keeps it until it can be sent. */
    RpcResult send(RpcCall call) {
        if (call.isOrphan() || call.request().isResponseless()) {
            if (call.longResult() != null) {
                longResults.revoke(call.longResult());
            }
            server.finish(call);
            return call.isOrphan() ? RpcResult.EIO : RpcResult.OK;
        }
        RpcResult prepared = RpcResult.OK;
        if (call.phase() != RpcCall.Phase.REPLYING) {
            prepared = prepareReply(call);
            call.phase(RpcCall.Phase.REPLYING);
        }
        int at = transport.claim();
        if (at < 0) {
            keepResult(call);
            return prepared;
        }
        NntiResult sent = transport.commit(call.peer(), encode(call, at));
        if (sent == NntiResult.EAGAIN) {
            keepResult(call);
            return prepared;
        }
        if (call.longResult() == null) {
            server.finish(call);
        } else {
            call.phase(RpcCall.Phase.AWAITING_ACK);
        }
        return sent == NntiResult.OK ? prepared : RpcResult.of(sent);
    }

    /** Writes the message; its length. */
    private int encode(RpcCall call, int at) {
        int header = call.reply().encode(transport.messages(), at, false);
        if (call.reply().isFetch() || call.result() == null) {
            return header;
        }
        try {
            return header + call.result().encode(transport.messages(), at + header);
        } catch (XdrException | IndexOutOfBoundsException e) {
            withoutResult(call, RpcResult.EENCODE);
            return call.reply().encode(transport.messages(), at, false);
        }
    }

    private static RpcResult withoutResult(RpcCall call, RpcResult why) {
        call.noResult();
        call.reply().body(0, null).code(why.code());
        return why;
    }

    /** Decides where the result travels; a long one is encoded now. */
    private RpcResult prepareReply(RpcCall call) {
        RpcMessage reply = call.reply();
        XdrValue result = call.result();
        int length = result == null ? 0 : result.encodedLength();
        reply.body(length, null);
        if (length > 0 && reply.headerLength() + length >= lengthMax(transport)) {
            return encodeLong(call, length);
        }
        return RpcResult.OK;
    }

    private RpcResult encodeLong(RpcCall call, int length) {
        NntiBuffer buffer = longResults.acquire(length);
        if (buffer == null) {
            return withoutResult(call, RpcResult.ENOMEM);
        }
        try {
            call.result().encode(buffer.window(), 0);
        } catch (XdrException | IndexOutOfBoundsException e) {
            longResults.release(buffer);
            return withoutResult(call, RpcResult.EENCODE);
        }
        call.reply().body(length, buffer.handle());
        call.longResult(buffer, server.nanoTime() + fetchTimeoutNs);
        call.noResult();
        return RpcResult.OK;
    }

    /** The handler may change its result once reply has returned, so it is kept as a long one. */
    private void keepResult(RpcCall call) {
        if (call.result() != null) {
            encodeLong(call, call.result().encodedLength());
        }
    }

    /** Of another version: the sender gets an answer if its message names the call. */
    void refuseVersion(NntiPeer peer, DirectBuffer buffer, int at) {
        int slot = transport.claim();
        if (slot >= 0) {
            malformed
                    .request(RpcMessage.exchangeOf(buffer, at), RpcMessage.idOf(buffer, at), 0, 0)
                    .code(RpcResult.EDECODE.code());
            transport.commit(peer, malformed.encode(transport.messages(), slot, false));
        }
    }

    /** The client has its long result. */
    void fetched(RpcCall call) {
        longResults.release(call.longResult());
        server.finish(call);
    }

    /** The client has gone, or took too long; work done. */
    int giveUp(RpcCall call) {
        if (!call.isOrphan() && server.nanoTime() - call.deadlineNs() < 0) {
            return 0;
        }
        longResults.revoke(call.longResult());
        server.finish(call);
        return 1;
    }

    int longCount() {
        return longResults.usedCount();
    }

    @Override
    public void close() {
        longResults.close();
    }
}
