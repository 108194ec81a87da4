package dev.verbena.nessie.xdr.compiler;

/**
 * A declaration: a field, an arm, an argument, what a typedef names.
 *
 * @param type null for opaque, string and void
 * @param name empty for void
 * @param size number of elements or bytes, or the bound; {@link #UNBOUNDED}
 */
record Declaration(Form form, TypeReference type, String name, long size, Position at) {
    static final long UNBOUNDED = -1;

    enum Form {
        SINGLE,
        FIXED_ARRAY,
        ARRAY,
        OPTIONAL,
        FIXED_OPAQUE,
        OPAQUE,
        STRING,
        VOID
    }

    /** A type as it is used: a primitive, or a name of a definition. */
    record TypeReference(Primitive primitive, String name, Position at) {}

    boolean isVoid() {
        return form == Form.VOID;
    }
}
