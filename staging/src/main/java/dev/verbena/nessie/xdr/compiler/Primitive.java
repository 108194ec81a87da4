package dev.verbena.nessie.xdr.compiler;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** A type that the language has. {@code long} takes 4 bytes, as rpcgen has it. */
enum Primitive {
    INT("int", "int;long;long int;int32_t", Integer.MIN_VALUE, Integer.MAX_VALUE),
    UNSIGNED(
            "int",
            "unsigned;unsigned int;unsigned long;unsigned long int;u_int;u_long;uint32_t;u_int32_t",
            Integer.MIN_VALUE,
            Integer.MAX_VALUE),
    CHAR("int", "char;int8_t", Byte.MIN_VALUE, Byte.MAX_VALUE),
    UNSIGNED_CHAR("int", "unsigned char;u_char;uint8_t;u_int8_t", 0, 0xFF),
    SHORT("int", "short;int16_t", Short.MIN_VALUE, Short.MAX_VALUE),
    UNSIGNED_SHORT("int", "unsigned short;u_short;uint16_t;u_int16_t", 0, 0xFFFF),
    HYPER("long", "hyper;int64_t;quad_t;longlong_t", 0, 0),
    UNSIGNED_HYPER("long", "unsigned hyper;uint64_t;u_int64_t;u_quad_t;u_longlong_t", 0, 0),
    FLOAT("float", "float", 0, 0),
    DOUBLE("double", "double", 0, 0),
    BOOL("boolean", "bool;bool_t", 0, 1);

    /** Type in Java. */
    final String java;

    /** Range of the types that are an int in Java. */
    final int min;

    final int max;

    private final List<String> names;

    Primitive(String java, String names, int min, int max) {
        this.java = java;
        this.names = List.of(names.split(";"));
        this.min = min;
        this.max = max;
    }

    /** Of the words that name it in a source, or null. */
    static Primitive named(String words) {
        Stream<Primitive> all = Arrays.stream(values());
        return all.filter(each -> each.names.contains(words)).findFirst().orElse(null);
    }

    /** Encoded length in bytes. */
    int length() {
        return java.equals("long") || java.equals("double") ? Long.BYTES : Integer.BYTES;
    }

    /** What a buffer's methods call it. */
    String wire() {
        return this == BOOL ? "Int" : Character.toUpperCase(java.charAt(0)) + java.substring(1);
    }

    /** Of the class of an array of it, behind "Xdr". */
    String plural() {
        return this == BOOL ? "Booleans" : wire() + "s";
    }

    /** Arguments of what checks a narrow one. */
    String range() {
        return min + ", " + max;
    }

    /** Has fewer values than the type in Java. */
    boolean isNarrow() {
        return java.equals("int") && max != Integer.MAX_VALUE;
    }
}
