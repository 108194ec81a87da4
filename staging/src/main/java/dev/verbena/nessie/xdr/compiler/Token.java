package dev.verbena.nessie.xdr.compiler;

/** A word, number or sign of a source. */
record Token(Kind kind, String text, Position at) {
    enum Kind {
        NAME,
        NUMBER,
        SIGN,
        END
    }

    /** For messages. */
    String shown() {
        return kind == Kind.END ? "the end of the file" : "'" + text + "'";
    }
}
