package dev.verbena.nessie.rpc;

/** A call failed: locally, or by the code that the remote procedure answered. */
public final class RpcException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final RpcResult result;
    private final int remoteCode;

    /** The result is {@code OK} if it was the procedure that said no. */
    public RpcException(RpcResult result, int remoteCode, String what) {
        super(what + ": " + (result == RpcResult.OK ? "server's code " + remoteCode : result));
        this.result = result;
        this.remoteCode = remoteCode;
    }

    /** How the call itself went. */
    public RpcResult result() {
        return result;
    }

    /** The procedure's own code; 0 if the call failed before. */
    public int remoteCode() {
        return remoteCode;
    }
}
