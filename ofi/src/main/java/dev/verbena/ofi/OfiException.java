package dev.verbena.ofi;

/** A call of libfabric that failed: names the call, the code and what it was about. */
public final class OfiException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** Code of {@code rdma/fi_errno.h}, positive. */
    private final int code;

    /** With all that is known. */
    OfiException(String call, int code, String about) {
        super(call + ": " + OfiLibrary.text(code) + " (" + code + ")" + about);
        this.code = code;
    }

    /** Code of {@code rdma/fi_errno.h}, positive. */
    public int code() {
        return code;
    }
}
