package dev.verbena.nessie.xdr.compiler;

/** Something is wrong in a {@code .x} file; the message begins with file, line and column. */
public final class XdrSourceException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Position position;

    XdrSourceException(Position position, String message, Object... values) {
        super(position + ": " + (values.length == 0 ? message : message.formatted(values)));
        this.position = position;
    }

    /** Line, from 1. */
    public int line() {
        return position.line();
    }

    /** Column, from 1. */
    public int column() {
        return position.column();
    }
}
