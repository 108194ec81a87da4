package dev.verbena.savime.query;

import java.io.IOException;

/** SAVIME has answered a query with an error. The message is its text; the session goes on. */
public final class SavimeQueryException extends IOException {
    private static final long serialVersionUID = 1L;

    /** With SAVIME's text. */
    public SavimeQueryException(String text) {
        super(text);
    }
}
