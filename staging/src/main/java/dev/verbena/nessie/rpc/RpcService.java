package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiPeer;

/**
 * A server that a client has found. Owned by the client's thread.
 *
 * @param peer the connection
 * @param requestLength longer messages are not sent, bytes
 * @param argsLengthMax longest arguments that the server fetches, bytes
 */
public record RpcService(NntiPeer peer, int requestLength, int argsLengthMax) {
    /** Arguments shorter than this travel inside the request, bytes; with data if so asked. */
    public int inlineArgsMax(boolean hasData) {
        int handles = hasData ? RpcMessage.HANDLE_LENGTH : 0;
        return requestLength - RpcMessage.HEADER_LENGTH - handles;
    }
}
