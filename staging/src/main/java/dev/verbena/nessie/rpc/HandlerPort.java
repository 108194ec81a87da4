package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;

/** The way from a handler to the server: direct in the server's loop, or across threads. */
interface HandlerPort {
    /** Moves bulk data and waits. */
    RpcResult transfer(
            RpcCall call,
            RpcCall.Command command,
            NntiBuffer local,
            long offset,
            long length,
            long dataOffset);

    /** Sends the answer; the result is encoded when this returns. */
    RpcResult reply(RpcCall call);
}
