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
        boolean isInside =
                dataOffset >= 0
                        && length >= 0
                        && dataOffset <= call.dataLength()
                        && length <= call.dataLength() - dataOffset;
        if (!isInside || call.isMoving() || call.phase() != RpcCall.Phase.RUNNING) {
            return RpcResult.EINVAL;
        }
        if (length == 0) {
            listener.onTransferred(RpcResult.OK);
            return RpcResult.OK;
        }
        NntiResult started =
                command == RpcCall.Command.GET
                        ? transport.get(
                                call.peer(),
                                call.request().data(),
                                dataOffset,
                                length,
                                local,
                                offset,
                                false,
                                call.work())
                        : transport.put(
                                call.peer(),
                                local,
                                offset,
                                length,
                                call.request().data(),
                                dataOffset,
                                false,
                                call.work());
        if (started == NntiResult.OK) {
            call.listener(listener);
        }
        return RpcResult.of(started);
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
        server.transport().await(() -> call.work().isComplete(), NntiTransport.NEVER);
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
