package dev.verbena.nessie.xfer;

/** A transfer failed, or its bytes were damaged; the message says which. */
public final class XferException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What is wrong. */
    public XferException(String message) {
        super(message);
    }
}
