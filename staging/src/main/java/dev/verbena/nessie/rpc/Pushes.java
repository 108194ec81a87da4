package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.BufferHandle;
import dev.verbena.nessie.nnti.NntiBuffer;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.nnti.WorkRequest;
import dev.verbena.nessie.rpc.wire.RpcAsk;
import dev.verbena.nessie.rpc.wire.RpcConstants;
import java.util.ArrayList;
import org.agrona.DirectBuffer;
import org.agrona.collections.ArrayListUtil;

/**
 * Puts a client's data where servers ask for it, and reports each put to its server: also one whose
 * call has ended meanwhile, for the server's buffer is occupied until then. One thread.
 */
final class Pushes {
    private static final class Push {
        final WorkRequest work = new WorkRequest().targetEvent(false);
        NntiPeer peer;
        int exchange;
        long id;
        RpcResult started;
    }

    private final NntiTransport transport;
    private final BufferHandle target = new BufferHandle();
    private final RpcAsk asked = new RpcAsk();
    private final RpcMessage report = new RpcMessage();
    private final ArrayList<Push> active = new ArrayList<>();
    private final ArrayList<Push> free = new ArrayList<>();

    Pushes(NntiTransport transport) {
        this.transport = transport;
    }

    /**
     * A server asks.
     *
     * @param request null: the call has ended
     */
    void onAsk(NntiPeer peer, ClientRequest request, DirectBuffer buffer, int at, int length) {
        Push push = free.isEmpty() ? new Push() : free.remove(free.size() - 1);
        push.peer = peer;
        push.exchange = RpcMessage.exchangeOf(buffer, at);
        push.id = RpcMessage.idOf(buffer, at);
        push.started = start(push, request, buffer, at, length);
        active.add(push);
    }

    private RpcResult start(
            Push push, ClientRequest request, DirectBuffer buffer, int at, int length) {
        if (request == null) {
            return RpcResult.ECANCELED;
        }
        if (!RpcMessage.decode(asked, target, buffer, at, length)) {
            return RpcResult.EDECODE;
        }
        NntiBuffer data = request.data;
        long from = asked.dataOffset();
        long bytes = asked.length();
        if (data == null || !request.message.header.isInData(from, bytes)) {
            return RpcResult.EINVAL;
        }
        request.pushed();
        long to = asked.bufferOffset();
        return RpcResult.of(transport.put(push.peer, data, from, bytes, target, to, push.work));
    }

    /** Reports what has ended; work done. */
    int doWork() {
        int work = 0;
        for (int i = active.size() - 1; i >= 0; i--) {
            Push push = active.get(i);
            boolean hasEnded = push.started != RpcResult.OK || push.work.isComplete();
            if (hasEnded && report(push)) {
                ArrayListUtil.fastUnorderedRemove(active, i);
                free.add(push);
                work++;
            }
        }
        return work;
    }

    /** False: not now. */
    private boolean report(Push push) {
        boolean hasBegun = push.started == RpcResult.OK;
        RpcResult how = hasBegun ? RpcResult.of(push.work.status().result()) : push.started;
        report.request(push.exchange, push.id, how.code(), 0);
        return report.tell(transport, push.peer, RpcConstants.PUSHED) != NntiResult.EAGAIN;
    }
}
