package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiResult;

/** Local results of calls; the numbers differ from NNTI's after {@code EPERM} (section 1.3). */
public enum RpcResult {
    OK(0),
    EIO(1001),
    EMSGSIZE(1002),
    ECANCELED(1003),
    ETIMEDOUT(1004),
    EINVAL(1005),
    ENOMEM(1006),
    ENOENT(1007),
    ENOTSUP(1008),
    EEXIST(1009),
    EBADRPC(1010),
    ENOTINIT(1011),
    EPERM(1012),
    EDECODE(1013),
    EENCODE(1014);

    private final int code;

    RpcResult(int code) {
        this.code = code;
    }

    /** Also the remote code of what a server's own machinery answers. */
    public int code() {
        return code;
    }

    /** The same at this layer; {@code EBADRPC} for what only NNTI has. */
    public static RpcResult of(NntiResult result) {
        return switch (result) {
            case OK -> OK;
            case EIO -> EIO;
            case EMSGSIZE -> EMSGSIZE;
            case ECANCELED -> ECANCELED;
            case ETIMEDOUT -> ETIMEDOUT;
            case EINVAL -> EINVAL;
            case ENOMEM -> ENOMEM;
            case ENOENT -> ENOENT;
            case ENOTSUP -> ENOTSUP;
            case EEXIST -> EEXIST;
            case ENOTINIT -> ENOTINIT;
            case EPERM -> EPERM;
            case EDECODE -> EDECODE;
            case EENCODE -> EENCODE;
            default -> EBADRPC;
        };
    }
}
