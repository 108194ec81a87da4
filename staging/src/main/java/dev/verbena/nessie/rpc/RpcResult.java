package dev.verbena.nessie.rpc;

import dev.verbena.nessie.nnti.NntiResult;
import java.util.Arrays;

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

    private static final RpcResult[] ALL = values();
    private static final RpcResult[] BY_NNTI =
            Arrays.stream(NntiResult.values()).map(RpcResult::named).toArray(RpcResult[]::new);

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
        return BY_NNTI[result.ordinal()];
    }

    private static RpcResult named(NntiResult result) {
        return Arrays.stream(ALL)
                .filter(each -> each.name().equals(result.name()))
                .findFirst()
                .orElse(EBADRPC);
    }

    /** {@code EBADRPC} for a number that is none of these. */
    static RpcResult ofCode(int code) {
        int index = code == 0 ? 0 : code - EIO.code + 1;
        return index < 0 || index >= ALL.length || ALL[index].code != code ? EBADRPC : ALL[index];
    }
}
