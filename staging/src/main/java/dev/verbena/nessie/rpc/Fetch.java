package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.WorkRequest;
import org.agrona.DirectBuffer;

/** Gets a value that did not fit into its message. One thread. */
final class Fetch {
    private WorkRequest work = new WorkRequest().targetEvent(false);
    private NntiBuffer into;

    /**
     * Begins.
     *
     * @return {@code OK}: {@link #free} gives the memory back
     */
    RpcResult start(RegisteredBuffers pool, NntiPeer peer, RpcMessage message) {
        int length = message.fields.bodyLength();
        into = pool.acquire(length);
        if (into == null) {
            return RpcResult.ENOMEM;
        }
        NntiResult started = pool.transport.get(peer, message.body, 0, length, into, 0, work);
        if (started != NntiResult.OK) {
            free(pool);
        }
        return RpcResult.of(started);
    }

    boolean isComplete() {
        return into != null && work.isComplete();
    }

    RpcResult result() {
        return RpcResult.of(work.status().result());
    }

    /** What was got. */
    DirectBuffer bytes() {
        return into.window();
    }

    int length() {
        return (int) work.status().length();
    }

    /** If the bytes are still coming, they are left to themselves. */
    void free(RegisteredBuffers pool) {
        if (into != null) {
            boolean isComing = work.state() == WorkRequest.State.PENDING;
            pool.release(into, !isComing);
            into = null;
            work = isComing ? new WorkRequest().targetEvent(false) : work;
        }
    }
}
