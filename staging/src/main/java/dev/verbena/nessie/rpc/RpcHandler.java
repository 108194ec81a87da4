package dev.verbena.nessie.rpc;

/** A remote procedure. */
public interface RpcHandler {
    /**
     * Handles a request; answers it with {@link RpcCall#reply}, now or later. An exception answers
     * {@code EBADRPC} if nothing was answered yet.
     */
    void onCall(RpcCall call);
}
