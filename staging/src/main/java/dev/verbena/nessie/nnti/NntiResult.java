package dev.verbena.nessie.nnti;

import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;

/** Results of NNTI calls; the numbers of the second generation (specification, section 1.3). */
public enum NntiResult {
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
    EINTR(1013),
    EWOULDBLOCK(1014),
    EAGAIN(1015),
    EDROPPED(1016),
    EDECODE(1017),
    EENCODE(1018);

    private static final NntiResult[] ALL = values();

    private final int code;

    NntiResult(int code) {
        this.code = code;
    }

    /** The number of the C interface. */
    public int code() {
        return code;
    }

    /** Null: none has this code. */
    static NntiResult ofCode(int code) {
        int index = code == 0 ? 0 : code - EIO.code + 1;
        return index < 0 || index >= ALL.length || ALL[index].code != code ? null : ALL[index];
    }

    /** What an answer of the transport contract means here. */
    static NntiResult ofAnswer(int answer) {
        return switch (answer) {
            case Transport.ACCEPTED -> OK;
            case Transport.BACK_PRESSURED -> EAGAIN;
            case Transport.TOO_LONG -> EMSGSIZE;
            case Transport.NOT_SUPPORTED -> ENOTSUP;
            default -> EIO;
        };
    }

    /** What a completion's status of the transport contract means here. */
    static NntiResult ofStatus(int status) {
        return switch (status) {
            case Status.OK -> OK;
            case Status.ACCESS, Status.REFUSED -> EPERM;
            case Status.BOUNDS -> EINVAL;
            case Status.STALE_KEY -> ENOENT;
            case Status.TIMED_OUT -> ETIMEDOUT;
            case Status.CANCELLED -> ECANCELED;
            default -> EIO;
        };
    }
}
