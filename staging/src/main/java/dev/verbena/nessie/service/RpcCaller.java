package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.staging.metadata.Runs;

/** A client of the server's remote procedures. */
record RpcCaller(RpcCall call) implements Caller {
    @Override
    public long memoryLength() {
        return call.dataLength();
    }

    @Override
    public boolean move(boolean isPull, NntiBuffer buffer, Runs run, TransferListener to) {
        long from = run.fromOffset();
        long at = run.toOffset();
        RpcResult started =
                isPull
                        ? call.startGetData(buffer, at, run.length(), from, to)
                        : call.startPutData(buffer, from, run.length(), at, to);
        return started == RpcResult.OK;
    }

    @Override
    public void reply(ArrayReply reply) {
        call.reply(0, reply);
    }
}
