package dev.verbena.nessie.nnti;

import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;

/** Results of NNTI calls; the numbers of the second generation (specification, section 1.3). */
public enum NntiResult {
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
    EINTR,
    EWOULDBLOCK,
    EAGAIN,
    EDROPPED,
    EDECODE,
    EENCODE;

    /** Numbers are consecutive: {@code EIO} is 1001. */
    private static final int FIRST = 1000;

    private static final NntiResult[] ALL = values();

    /** The number of the C interface. */
    public int code() {
        return this == OK ? 0 : FIRST + ordinal();
    }

    /** Null: none has this code. */
    static NntiResult ofCode(int code) {
        int index = code == 0 ? 0 : code - FIRST;
        return index < 0 || index >= ALL.length || ALL[index].code() != code ? null : ALL[index];
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
