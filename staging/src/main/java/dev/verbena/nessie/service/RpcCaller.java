package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayReply;

/** A client of the server's remote procedures. */
record RpcCaller(RpcCall call) implements Caller {
    @Override
    public long memoryLength() {
        return call.dataLength();
    }

    @Override
    public boolean pull(
            NntiBuffer into, long at, long length, long fromOffset, RpcCall.TransferListener to) {
        return call.startGetData(into, at, length, fromOffset, to) == RpcResult.OK;
    }

    @Override
    public boolean push(
            NntiBuffer from, long at, long length, long toOffset, RpcCall.TransferListener to) {
        return call.startPutData(from, at, length, toOffset, to) == RpcResult.OK;
    }

    @Override
    public void reply(ArrayReply reply) {
        call.reply(0, reply);
    }
}
