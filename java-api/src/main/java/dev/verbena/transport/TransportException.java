package dev.verbena.transport;

/**
 * A control-path call failed. The message names the call, the object, the cause by name, and what
 * to do about it.
 */
public class TransportException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final int errno;

    /** A failure with no errno. */
    public TransportException(String message) {
        this(message, 0, null);
    }

    /** A failure with an errno of the system (positive), or 0. */
    public TransportException(String message, int errno, Throwable cause) {
        super(message, cause);
        this.errno = errno;
    }

    /** errno of the system call that failed, or 0. */
    public int errno() {
        return errno;
    }
}
