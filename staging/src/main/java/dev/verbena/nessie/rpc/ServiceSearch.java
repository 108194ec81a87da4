package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiException;
import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiResult;
import dev.verbena.nessie.nnti.NntiTransport;
import dev.verbena.nessie.xdr.XdrInts;

/**
 * Finds a server as {@link RpcClient#getService} does, for those who must not block: call {@link
 * #look} after the endpoint's work until it {@link #isDone}. Owned by the client's thread.
 *
 * <p>A server answers four numbers: {@link #VERSION}, the lengths of its longest short request and
 * result, and that of the longest arguments that it fetches.
 */
public final class ServiceSearch {
    /** Numbers in an answer. */
    static final int WORDS = 4;

    static final int VERSION = 2;

    private static final long MS = 1_000_000;

    private final RpcClient client;
    private final NntiTransport transport;
    private final String url;
    private final NntiPeer peer;
    private final long deadlineNs;
    private final XdrInts answer = new XdrInts(true, WORDS);
    private final ClientRequest request = new ClientRequest();
    private NntiException failure;
    private RpcService service;

    ServiceSearch(RpcClient client, NntiTransport transport, String url, long timeoutMs) {
        this.client = client;
        this.transport = transport;
        this.url = url;
        long timeoutNs = NntiTransport.timeoutNs(timeoutMs);
        this.deadlineNs = now() + timeoutNs;
        this.peer = transport.startConnect(url, timeoutNs);
    }

    private long now() {
        return transport.transport().nanoTime();
    }

    /** Goes on if it can; work done. */
    public int look() {
        boolean isAsking = request.state() != ClientRequest.State.NULL;
        if (isDone() || isAsking && !request.isDone()) {
            return 0;
        }
        if (isAsking) {
            answered();
        } else if (peer.state() == NntiPeer.State.CLOSED) {
            fail(peer.result(), "connect to " + url + ": " + peer.reason());
        } else if (now() - deadlineNs >= 0) {
            fail(NntiResult.ETIMEDOUT, "connect to " + url);
        } else if (peer.state() == NntiPeer.State.READY) {
            ask();
        } else {
            return 0;
        }
        return 1;
    }

    private void ask() {
        RpcService unknown = new RpcService(peer, RpcMessage.LENGTH_MAX, 0);
        long leftMs = Math.max(1, (deadlineNs - now()) / MS);
        // What is wrong is in the request, too.
        client.call(request, unknown, Opcode.GET_SERVICE, null, answer, null, 0, leftMs);
    }

    private void answered() {
        boolean isAnswer = request.result() == RpcResult.OK && request.remoteCode() == 0;
        boolean isLong = Math.min(answer.get(1), answer.get(2)) >= RpcMessage.LENGTH_MAX;
        if (isAnswer && answer.get(0) == VERSION && isLong) {
            int length = Math.min(answer.get(1), transport.messageLengthMax());
            service = new RpcService(peer, length, answer.get(3));
        } else {
            boolean isTimeout = request.result() == RpcResult.ETIMEDOUT;
            NntiResult why = isTimeout ? NntiResult.ETIMEDOUT : NntiResult.EBADRPC;
            fail(why, url + " does not answer as a service: " + request.result());
        }
    }

    private void fail(NntiResult why, String what) {
        transport.disconnect(peer);
        failure = new NntiException(why, what);
    }

    /** What was found when the wait for it ended like this. */
    RpcService found(NntiResult waited) {
        if (waited != NntiResult.OK) {
            fail(waited, "connect to " + url);
        }
        if (failure != null) {
            throw failure;
        }
        return service;
    }

    /** Whether it has found the server or given up. */
    public boolean isDone() {
        return service != null || failure != null;
    }

    /** Why it has found none; null: it has, or it has not ended. */
    public NntiException failure() {
        return failure;
    }

    /** The server; null: it has not found it. */
    public RpcService service() {
        return service;
    }
}
