package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.BufferFlags;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import org.agrona.DirectBuffer;

/** Sends a server's answers, and keeps long results until they were fetched. */
final class Replies implements AutoCloseable {
    private final RpcServer server;
    private final NntiTransport transport;
    private final int lengthMax;
    private final long fetchTimeoutNs;
    final RegisteredBuffers longResults;
    private final RpcMessage malformed = new RpcMessage();

    Replies(RpcServer server, NntiTransport transport, long fetchTimeoutNs) {
        this.server = server;
        this.transport = transport;
        this.lengthMax = lengthMax(transport);
        this.fetchTimeoutNs = fetchTimeoutNs;
        this.longResults = new RegisteredBuffers(transport, BufferFlags.GET_SRC);
    }

    /** Longest request or result in one message, bytes. */
    static int lengthMax(NntiTransport transport) {
        return Math.min(RpcEndpoint.MESSAGE_LENGTH, transport.messageLengthMax());
    }

    /** Encodes and sends the answer, or keeps it until it can be sent. */
    RpcResult send(RpcCall call) {
        Outgoing reply = call.reply;
        if (call.isOrphan || call.isResponseless()) {
            end(call, false);
            return call.isOrphan ? RpcResult.EIO : RpcResult.OK;
        }
        RpcResult prepared = RpcResult.OK;
        if (call.phase != RpcCall.Phase.REPLYING) {
            call.phase(RpcCall.Phase.REPLYING);
            prepared = dropIfBad(reply, reply.prepare(lengthMax, Integer.MAX_VALUE, longResults));
        }
        int at = transport.claim();
        NntiResult sent =
                at < 0 ? NntiResult.EAGAIN : transport.commit(call.peer(), encode(reply, at));
        if (sent == NntiResult.EAGAIN) {
            // The handler may change its result once reply has returned.
            dropIfBad(reply, reply.encodeLong(longResults));
            return prepared;
        }
        if (reply.buffer != null) {
            call.deadlineNs(server.nanoTime() + fetchTimeoutNs);
            call.phase(RpcCall.Phase.AWAITING_ACK);
        } else {
            server.finish(call);
        }
        return sent == NntiResult.OK ? prepared : RpcResult.of(sent);
    }

    private static RpcResult dropIfBad(Outgoing reply, RpcResult prepared) {
        if (prepared != RpcResult.OK) {
            reply.drop(prepared);
        }
        return prepared;
    }

    /** Writes the message; its length. */
    private int encode(Outgoing reply, int at) {
        int length = reply.encode(transport.messages(), at, false);
        if (length < 0) {
            reply.drop(RpcResult.EENCODE);
            length = reply.encode(transport.messages(), at, false);
        }
        return length;
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

    /** The client has gone, or took too long; work done. */
    int giveUp(RpcCall call) {
        if (!call.isOrphan && server.nanoTime() - call.deadlineNs < 0) {
            return 0;
        }
        end(call, false);
        return 1;
    }

    /** The client has its long result, or does not get it. */
    void end(RpcCall call, boolean isFetched) {
        call.reply.free(longResults, isFetched);
        server.finish(call);
    }

    @Override
    public void close() {
        longResults.close();
    }
}
