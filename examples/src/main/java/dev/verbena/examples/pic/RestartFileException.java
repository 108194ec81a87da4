package dev.verbena.examples.pic;

/** A restart file cannot be used; the message names the file and what is wrong in it. */
public final class RestartFileException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    /** A message for people. */
    public RestartFileException(String message) {
        super(message);
    }
}
