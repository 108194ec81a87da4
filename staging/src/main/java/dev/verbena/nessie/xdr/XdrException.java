package dev.verbena.nessie.xdr;

/** Encoded bytes are malformed or exceed a bound, or a value is too large to be encoded. */
public final class XdrException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What is wrong. */
    public XdrException(String message) {
        super(message);
    }
}
