package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiPeer;

/** A server that a client has found. Owned by the client's thread. */
public final class RpcService {
    private final NntiPeer peer;
    private final int requestLength;
    private final int argsLengthMax;

    RpcService(NntiPeer peer, int requestLength, int argsLengthMax) {
        this.peer = peer;
        this.requestLength = requestLength;
        this.argsLengthMax = argsLengthMax;
    }

    /** The connection. */
    public NntiPeer peer() {
        return peer;
    }

    /** Arguments shorter than this travel inside the request, bytes; with data if so asked. */
    public int inlineArgsMax(boolean hasData) {
        int handles = hasData ? RpcMessage.HANDLE_LENGTH : 0;
        return requestLength - RpcMessage.HEADER_LENGTH - handles;
    }

    /** Longest arguments that the server fetches, bytes. */
    public int argsLengthMax() {
        return argsLengthMax;
    }

    int requestLength() {
        return requestLength;
    }
}
