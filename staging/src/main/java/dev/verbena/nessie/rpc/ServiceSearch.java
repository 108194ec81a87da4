package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiPeer;
import dev.verbena.nessie.nnti.NntiTransport;

/**
 * Finds a server as {@link RpcClient#getService} does, for those who must not block: call {@link
 * #look} after the endpoint's work until it {@link #isDone}. Owned by the transport's thread.
 */
public final class ServiceSearch {
    private static final long MS = 1_000_000;

    private final RpcClient client;
    private final NntiPeer peer;
    private final long timeoutMs;
    private final ServiceDescriptor descriptor = new ServiceDescriptor();
    private final ClientRequest request = new ClientRequest();
    private RpcResult result;
    private RpcService service;

    ServiceSearch(RpcClient client, NntiTransport transport, String url, long timeoutMs) {
        this.client = client;
        this.timeoutMs = timeoutMs;
        this.peer = transport.startConnect(url, timeoutMs * MS);
    }

    /** Goes on if it can; work done. */
    public int look() {
        if (isDone()) {
            return 0;
        }
        if (request.state() != ClientRequest.State.NULL) {
            return request.isDone() ? end() : 0;
        }
        if (peer.state() == NntiPeer.State.CLOSED) {
            result = RpcResult.of(peer.result());
            return 1;
        }
        if (peer.state() != NntiPeer.State.READY) {
            return 0;
        }
        RpcService unknown = new RpcService(peer, RpcMessage.LENGTH_MAX, 0);
        RpcResult sent =
                client.call(
                        request, unknown, Opcode.GET_SERVICE, null, descriptor, null, 0, timeoutMs);
        result = sent == RpcResult.OK ? null : sent;
        return 1;
    }

    private int end() {
        boolean isService = request.result() != RpcResult.OK || request.remoteCode() == 0;
        result = isService ? request.result() : RpcResult.EBADRPC;
        if (result == RpcResult.OK) {
            service = RpcClient.service(peer, descriptor);
        }
        return 1;
    }

    /** Whether it has found the server or given up. */
    public boolean isDone() {
        return result != null;
    }

    /** How it ended; null: it has not. */
    public RpcResult result() {
        return result;
    }

    /** The server; null unless the result is {@code OK}. */
    public RpcService service() {
        return service;
    }
}
