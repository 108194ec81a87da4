package dev.verbena.agent;

/** Finding the processes of a job failed. The message names what is missing and what to set. */
public final class JobGroupException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** A failure with no cause of its own. */
    public JobGroupException(String message) {
        super(message);
    }

    /** A failure of a file or directory. */
    public JobGroupException(String message, Throwable cause) {
        super(message, cause);
    }
}
