package dev.verbena.savime.query;

import java.io.IOException;

/** The server has sent what the protocol does not allow, or nothing in time. It was closed. */
public final class SavimeProtocolException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Naming what came. */
    public SavimeProtocolException(String message) {
        super(message);
    }
}
