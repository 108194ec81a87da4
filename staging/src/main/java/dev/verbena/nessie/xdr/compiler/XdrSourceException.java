package dev.verbena.nessie.xdr.compiler;

/** Something is wrong in a {@code .x} file; the message begins with {@code file:line:column:}. */
public final class XdrSourceException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    XdrSourceException(String message) {
        super(message);
    }
}
