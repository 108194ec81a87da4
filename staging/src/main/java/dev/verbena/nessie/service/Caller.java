package dev.verbena.nessie.service;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.rpc.RpcCall.TransferListener;
import dev.verbena.nessie.service.wire.ArrayReply;

/** A client whose request is under way: its memory, and the way back. One thread. */
interface Caller {
    /** Bytes of the client's memory. */
    long memoryLength();

    /**
     * Starts to read the client's memory; one transfer at a time.
     *
     * @return true: the listener will be told, not before this returns; false: it failed
     */
    boolean pull(NntiBuffer into, long at, long length, long fromOffset, TransferListener to);

    /** Starts to write into the client's memory; see {@link #pull}. */
    boolean push(NntiBuffer from, long at, long length, long toOffset, TransferListener to);

    /** Answers, once; the reply is encoded when this returns. */
    void reply(ArrayReply reply);
}
