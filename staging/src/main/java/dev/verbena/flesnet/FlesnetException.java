package dev.verbena.flesnet;

/** A run of FLESnet that cannot go on; the message names what is missing. Control path only. */
public final class FlesnetException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** With a text for people. */
    public FlesnetException(String message) {
        super(message);
    }

    /** With a text for people and the interrupt or failure that caused it. */
    public FlesnetException(String message, Throwable cause) {
        super(message, cause);
    }
}
