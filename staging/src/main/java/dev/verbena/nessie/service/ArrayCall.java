package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.rpc.ClientRequest;
import dev.verbena.nessie.rpc.RpcClient;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.rpc.RpcService;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.staging.exchange.PacedMessages;

/** A client's call of one server. One thread. */
final class ArrayCall implements PacedMessages.Message {
    private final RpcClient client;
    private final ArrayRequest request;
    private final ArrayReply reply = new ArrayReply();
    private final ClientRequest rpc = new ClientRequest();

    ArrayCall(RpcClient client, ArrayRequest request) {
        this.client = client;
        this.request = request;
    }

    /**
     * Starts it.
     *
     * @param memory null: none
     */
    ArrayCall start(RpcService service, int operation, NntiBuffer memory, long limitMs) {
        long length = memory == null ? 0 : memory.length();
        client.call(rpc, service, operation, request, reply, memory, length, limitMs);
        return this;
    }

    /** Whether {@link #await} would not wait. */
    @Override
    public boolean isDone() {
        return rpc.isDone();
    }

    /** Of a call that is done: whether {@link #await} would throw. */
    @Override
    public boolean hasFailed() {
        return rpc.result() != RpcResult.OK || rpc.remoteCode() != 0 || reply.status() != 0;
    }

    /** Whether the server may still use the memory: its answer did not come in time. */
    boolean isUnanswered() {
        return rpc.isDone() && rpc.result() == RpcResult.ETIMEDOUT;
    }

    /** Waits for the answer. */
    ArrayReply await() {
        RpcResult result = client.await(rpc, NntiTransport.NEVER);
        if (result != RpcResult.OK || rpc.remoteCode() != 0) {
            boolean isTimeout = result == RpcResult.ETIMEDOUT;
            ArrayStatus status = isTimeout ? ArrayStatus.DEADLINE : ArrayStatus.FAILED;
            int code = result == RpcResult.OK ? rpc.remoteCode() : 0;
            String who = "server %s of %s".formatted(request.place(), request.places());
            String what = "%s does not answer: %s, code %s".formatted(who, result, code);
            throw Version.failure(status, request.name().text(), request.number(), what);
        }
        if (reply.status() != 0) {
            throw new ArrayException(ArrayStatus.of(reply.status()), reply.text().text());
        }
        return reply;
    }
}
