package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.rpc.RpcCall;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.rpc.RpcResult;
import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.staging.metadata.Runs;

/** A client whose request is under way: its memory, and the way back. One thread. */
interface Caller {
    /** Bytes of the client's memory. */
    long memoryLength();

    /**
     * Starts to move a run between the server's memory and the client's; one transfer at a time.
     *
     * @param isPull from the client, whose memory is then the first layout of the run
     * @return true: the listener will be told, not before this returns; false: it failed
     */
    boolean move(boolean isPull, NntiBuffer buffer, Runs run, TransferListener to);

    /** Nobody waits for an answer any more. */
    boolean isGone();

    /** Answers, once; the reply is encoded when this returns. */
    void reply(ArrayReply reply);

    /** A client of the server's remote procedures. */
    record OfRpc(RpcCall call) implements Caller {
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
        public boolean isGone() {
            return call.peer().state() == NntiPeer.State.CLOSED;
        }

        @Override
        public void reply(ArrayReply reply) {
            call.reply(0, reply);
        }
    }
}
