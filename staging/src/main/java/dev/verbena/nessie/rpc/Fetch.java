package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.nnti.WorkRequest;
import org.agrona.DirectBuffer;

/** Gets a value that did not fit into its message. One thread. */
final class Fetch {
    private final WorkRequest work = new WorkRequest().targetEvent(false);
    private NntiBuffer into;

    /**
     * Begins.
     *
     * @return {@code OK}: {@link #free} gives the memory back once it is complete
     */
    RpcResult start(
            NntiTransport transport, RegisteredBuffers pool, NntiPeer peer, RpcMessage message) {
        int length = message.bodyLength;
        into = pool.acquire(length);
        if (into == null) {
            return RpcResult.ENOMEM;
        }
        NntiResult started = transport.get(peer, message.body, 0, length, into, 0, work);
        if (started != NntiResult.OK) {
            free(pool);
        }
        return RpcResult.of(started);
    }

    boolean isUnderWay() {
        return into != null && !work.isComplete();
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

    void free(RegisteredBuffers pool) {
        if (into != null) {
            pool.release(into, true);
            into = null;
        }
    }
}
