package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiResult;

/** Local results of calls; the numbers differ from NNTI's after {@code EPERM} (section 1.3). */
public enum RpcResult {
    OK,
    EIO,
    EMSGSIZE,
    ECANCELED,
    ETIMEDOUT,
    EINVAL,
    ENOMEM,
    ENOENT,
    ENOTSUP,
    EEXIST,
    EBADRPC,
    ENOTINIT,
    EPERM,
    EDECODE,
    EENCODE;

    /** Numbers are consecutive: {@code EIO} is 1001. */
    private static final int FIRST = 1000;

    private static final RpcResult[] ALL = values();

    /** Also the remote code of what a server's own machinery answers. */
    public int code() {
        return this == OK ? 0 : FIRST + ordinal();
    }

    /** The same at this layer; {@code EBADRPC} for what only NNTI has. */
    public static RpcResult of(NntiResult result) {
        return switch (result) {
            case EDECODE -> EDECODE;
            case EENCODE -> EENCODE;
            default -> result.compareTo(NntiResult.EPERM) > 0 ? EBADRPC : ALL[result.ordinal()];
        };
    }

    /** {@code EBADRPC} for a number that is none of these. */
    static RpcResult ofCode(int code) {
        int index = code == 0 ? 0 : code - FIRST;
        return index < 0 || index >= ALL.length || ALL[index].code() != code ? EBADRPC : ALL[index];
    }
}
