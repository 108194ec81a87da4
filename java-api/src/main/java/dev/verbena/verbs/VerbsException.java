package dev.verbena.verbs;

/**
 * A verb failed: which call, on what, the errno by name and number, and what to do if that is
 * known. Thrown on the control path only; what a post or a poll has to say is its result.
 */
public sealed class VerbsException extends RuntimeException permits ConnectionException {
    private static final long serialVersionUID = 1L;

    private final String call;
    private final int errno;

    VerbsException(String call, int errno, String about, String remedy) {
        super(
                "%s: %s (%s) for %s%s"
                        .formatted(
                                call,
                                VerbsErrno.name(errno),
                                errno,
                                about,
                                remedy.isEmpty() ? "" : "; " + remedy));
        this.call = call;
        this.errno = errno;
    }

    /** Throws what the result of a call says, if that is no success. */
    static void check(String call, int result, String about, String remedy) {
        if (result < 0) {
            throw new VerbsException(call, -result, about, remedy);
        }
    }

    /** C name of the call, for example {@code ibv_reg_mr}. */
    public String call() {
        return call;
    }

    /** Linux errno. */
    public int errno() {
        return errno;
    }

    /** True if the device, its driver or the installed rdma-core does not offer the call at all. */
    public boolean isUnsupported() {
        return errno == VerbsErrno.EOPNOTSUPP || errno == 38 || errno == 93;
    }
}
