package dev.verbena.nessie.xdr.compiler;

/** Where something stands in a source; line and column from 1. */
record Position(String file, int line, int column) {
    /** Something is wrong here. */
    XdrSourceException wrong(String message, Object... values) {
        return new XdrSourceException(this + ": " + message.formatted(values));
    }

    @Override
    public String toString() {
        return file + ":" + line + ":" + column;
    }
}
