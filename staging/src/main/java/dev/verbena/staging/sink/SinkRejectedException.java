package dev.verbena.staging.sink;

import java.io.IOException;

/** The sink has refused a dataset or command. The message is the sink's text, unchanged. */
public final class SinkRejectedException extends IOException {
    private static final long serialVersionUID = 1L;

    /** With the sink's text. */
    public SinkRejectedException(String text) {
        super(text);
    }
}
