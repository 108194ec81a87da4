package dev.verbena.nessie.xdr.compiler;

/** Something is wrong in a {@code .x} file; the message begins with {@code file:line:column:}. */
public final class XdrSourceException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    XdrSourceException(Position position, String message, Object... values) {
        super(position + ": " + (values.length == 0 ? message : message.formatted(values)));
    }
}
