package dev.verbena.nessie.xdr.compiler;

/** A type that the language has. {@code long} takes 4 bytes, as rpcgen has it. */
enum Primitive {
    INT("int", 4, Integer.MIN_VALUE, Integer.MAX_VALUE),
    UNSIGNED_INT("int", 4, Integer.MIN_VALUE, Integer.MAX_VALUE),
    CHAR("int", 4, Byte.MIN_VALUE, Byte.MAX_VALUE),
    UNSIGNED_CHAR("int", 4, 0, 0xFF),
    SHORT("int", 4, Short.MIN_VALUE, Short.MAX_VALUE),
    UNSIGNED_SHORT("int", 4, 0, 0xFFFF),
    HYPER("long", 8, 0, 0),
    UNSIGNED_HYPER("long", 8, 0, 0),
    FLOAT("float", 4, 0, 0),
    DOUBLE("double", 8, 0, 0),
    BOOL("boolean", 4, 0, 0);

    /** Type in Java. */
    final String java;

    /** Encoded length in bytes. */
    final int length;

    /** Range of the types that are an int in Java. */
    final int min;

    final int max;

    Primitive(String java, int length, int min, int max) {
        this.java = java;
        this.length = length;
        this.min = min;
        this.max = max;
    }

    /** Has fewer values than the type in Java. */
    boolean isNarrow() {
        return java.equals("int") && (min != Integer.MIN_VALUE || max != Integer.MAX_VALUE);
    }

    /** Of a name that rpcgen's users write for a primitive type, or null. */
    static Primitive named(String name) {
        return switch (name) {
            case "u_int", "u_long", "uint32_t", "u_int32_t" -> UNSIGNED_INT;
            case "int32_t" -> INT;
            case "u_char", "uint8_t", "u_int8_t" -> UNSIGNED_CHAR;
            case "int8_t" -> CHAR;
            case "u_short", "uint16_t", "u_int16_t" -> UNSIGNED_SHORT;
            case "int16_t" -> SHORT;
            case "int64_t", "quad_t", "longlong_t" -> HYPER;
            case "uint64_t", "u_int64_t", "u_quad_t", "u_longlong_t" -> UNSIGNED_HYPER;
            case "bool_t" -> BOOL;
            default -> null;
        };
    }
}
