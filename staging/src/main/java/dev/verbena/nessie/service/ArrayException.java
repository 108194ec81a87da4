package dev.verbena.nessie.service;

/** A request failed; the message names the array, the version, the box and what is wrong. */
public final class ArrayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ArrayStatus status;

    /** What is wrong. */
    public ArrayException(ArrayStatus status, String message) {
        super(message);
        this.status = status;
    }

    /** The kind of failure. */
    public ArrayStatus status() {
        return status;
    }
}
