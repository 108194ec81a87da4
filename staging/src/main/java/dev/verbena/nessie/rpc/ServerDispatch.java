package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import org.agrona.ErrorHandler;

/** Runs handlers in the server's loop, or hands their calls to workers. */
final class ServerDispatch implements HandlerPort {
    private final RpcServer server;
    private final ErrorHandler errorHandler;
    private RequestWorkers workers;

    ServerDispatch(RpcServer server, ErrorHandler errorHandler) {
        this.server = server;
        this.errorHandler = errorHandler;
    }

    void workers(RequestWorkers pool) {
        workers = pool;
    }

    /** Whether handlers run on other threads than the server's. */
    boolean hasWorkers() {
        return workers != null;
    }

    boolean hasRoom() {
        return workers == null || workers.hasRoom();
    }

    void run(RpcCall call) {
        if (workers != null && call.opcode() != Opcode.KILL_SERVICE) {
            call.handling(workers);
            workers.offer(call);
        } else {
            call.handling(this);
            handle(call, errorHandler);
        }
    }

    /** A handler that throws costs its client this call, and nobody else anything. */
    static void handle(RpcCall call, ErrorHandler errorHandler) {
        try {
            call.operation().handler().onCall(call);
            if (call.request().isResponseless() && !call.isReplied()) {
                call.reply(0, null);
            }
        } catch (Exception | AssertionError | LinkageError e) {
            errorHandler.onError(e);
            call.reply(RpcResult.EBADRPC.code(), null);
        } finally {
            call.handled();
        }
    }

    /** Starts to move bulk data. */
    static RpcResult start(
            NntiTransport transport,
            RpcCall call,
            RpcCall.Command command,
            NntiBuffer local,
            long offset,
            long length,
            long dataOffset,
            RpcCall.TransferListener listener) {
        boolean isInside = call.request().isInData(dataOffset, length);
        if (!isInside || call.isMoving() || call.phase() != RpcCall.Phase.RUNNING) {
            return RpcResult.EINVAL;
        }
        if (length == 0) {
            listener.onTransferred(RpcResult.OK);
            return RpcResult.OK;
        }
        call.command(command, local, offset, length, dataOffset);
        NntiResult started =
                switch (command) {
                    case GET ->
                            transport.get(
                                    call.peer(),
                                    call.request().data(),
                                    dataOffset,
                                    length,
                                    local,
                                    offset,
                                    call.work());
                    case PUT ->
                            transport.put(
                                    call.peer(),
                                    local,
                                    offset,
                                    length,
                                    call.request().data(),
                                    dataOffset,
                                    call.work());
                    default -> checkAsk(transport, local, offset, length);
                };
        if (started == NntiResult.OK) {
            call.moving(listener, command == RpcCall.Command.ASK);
            isMoved(transport, call);
        }
        return RpcResult.of(started);
    }

    private static NntiResult checkAsk(
            NntiTransport transport, NntiBuffer local, long offset, long length) {
        int bytes = RpcMessage.ASK_LENGTH + local.handle().encodedLength();
        return bytes > transport.messageLengthMax()
                ? NntiResult.EMSGSIZE
                : local.checkTarget(offset, length);
    }

    /** Whether the transfer of a call has ended; asks its client if that is still to be done. */
    static boolean isMoved(NntiTransport transport, RpcCall call) {
        int at = call.isAskDue() ? transport.claim() : -1;
        if (at >= 0) {
            int length =
                    call.request()
                            .encodeAsk(
                                    transport.messages(),
                                    at,
                                    call.dataOffset(),
                                    call.length(),
                                    call.local().handle(),
                                    call.offset());
            NntiResult sent = transport.commit(call.peer(), length);
            call.asked(sent != NntiResult.EAGAIN, RpcResult.of(sent));
        }
        return call.isMoved();
    }

    int takeCommands() {
        return workers == null ? 0 : workers.takeCommands(server);
    }

    @Override
    public RpcResult transfer(
            RpcCall call,
            RpcCall.Command command,
            NntiBuffer local,
            long offset,
            long length,
            long dataOffset) {
        RpcResult[] ended = {null};
        RpcResult started =
                server.start(
                        call,
                        command,
                        local,
                        offset,
                        length,
                        dataOffset,
                        result -> ended[0] = result);
        if (started != RpcResult.OK || ended[0] != null) {
            return started;
        }
        server.transport().await(() -> isMoved(server.transport(), call), NntiTransport.NEVER);
        server.transferred(call);
        return ended[0];
    }

    /** Handlers that wait are told that nothing more happens. */
    void close() {
        if (workers != null) {
            workers.close();
        }
    }

    @Override
    public RpcResult reply(RpcCall call) {
        return server.sendReply(call);
    }
}
