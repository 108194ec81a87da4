package dev.verbena.nessie.xdr.compiler;

import java.util.ArrayList;
import java.util.List;

/**
 * A field of a generated class, and the statements that it needs.
 *
 * @param name in Java
 * @param source its declaration
 * @param length bytes that it takes at least, encoded
 * @param isFixed it takes always so many
 */
record JavaField(String name, Declaration source, JavaShape shape, long length, boolean isFixed) {
    static JavaField of(Declaration declaration, XdrTypes types) {
        return new JavaField(
                JavaNames.field(declaration.name()),
                declaration,
                JavaShape.of(declaration, types),
                types.lengthMin(declaration),
                types.isFixed(declaration));
    }

    static List<JavaField> all(List<Declaration> declarations, XdrTypes types) {
        List<JavaField> fields = new ArrayList<>();
        JavaNames names = new JavaNames();
        for (Declaration declaration : declarations) {
            JavaField field = of(declaration, types);
            names.claim(field.name, declaration.name(), declaration.at());
            fields.add(field);
        }
        return fields;
    }

    /** Its accessors, which first run a statement. */
    void accessors(JavaSource out, String owner, String guard, String value) {
        out.line("");
        out.line("/** {@code %s}. */", described());
        out.line("public %s %s() { %sreturn %s; }", shape.type(), name, guard, value);
        if (!shape.isObject()) {
            out.line("");
            out.line("/** Sets {@code %s}. */", source.name());
            out.line("public %s %s(%s value) {", owner, name, shape.type());
            out.line("%sthis.%s = %s;", guard, name, checked());
            out.line("return this;");
            out.line("}");
        }
    }

    String reset() {
        return shape.isObject()
                ? name + "().reset();"
                : "this.%s = %s;".formatted(name, shape.initial());
    }

    String describe() {
        return "describe(text, \"%s=\", %s());".formatted(name, name);
    }

    /** Statement that encodes it. */
    String put(long offset) {
        if (shape.isObject()) {
            return "at = put(%s(), buffer, at, depth);".formatted(name);
        }
        return "buffer.put%s(at + %d, %s, ByteOrder.BIG_ENDIAN);"
                .formatted(wireType(), offset, number("this." + name));
    }

    /** Statement that decodes it; of a number, the bytes must be there. */
    String take(long offset) {
        if (shape.isObject()) {
            return "at = take(%s(), buffer, at, limit, depth);".formatted(name);
        }
        String get = "buffer.get%s(at + %d, ByteOrder.BIG_ENDIAN)".formatted(wireType(), offset);
        Primitive primitive = shape.primitive();
        String value = get;
        if (shape.isEnum()) {
            value = "known(%s.of(%s), \"%s\")".formatted(shape.type(), get, shape.type());
        } else if (primitive == Primitive.BOOL) {
            value = "takeBoolean(buffer, at + " + offset + ")";
        } else if (primitive.isNarrow()) {
            value = "narrow(%s, %d, %d)".formatted(get, primitive.min, primitive.max);
        }
        return "this.%s = %s;".formatted(name, value);
    }

    /** Expression of its encoded length. */
    String lengthOf() {
        return isFixed ? length + "L" : "lengthOf(" + name + "(), depth)";
    }

    /** Methods that encode and decode fields; the suffix is of their names. */
    static void codec(JavaSource out, String access, String suffix, List<JavaField> fields) {
        String sum = String.join(" + ", fields.stream().map(JavaField::lengthOf).toList());
        override(
                out,
                access
                        + " long xdr"
                        + (suffix.isEmpty() ? "Length" : "NodeLength")
                        + "(int depth) {");
        out.line("return %s;", fields.isEmpty() ? "0" : sum);
        out.line("}");
        override(
                out,
                access
                        + " int xdrEncode"
                        + suffix
                        + "(MutableDirectBuffer buffer, int index, int depth) {");
        statements(out, fields, true);
        override(
                out,
                access
                        + " int xdrDecode"
                        + suffix
                        + "(DirectBuffer buffer, int index, int limit, int depth) {");
        statements(out, fields, false);
    }

    static void override(JavaSource out, String head) {
        out.line("");
        out.line("@Override");
        out.line(head);
    }

    /** Numbers beside each other are at fixed offsets from {@code at}. */
    private static void statements(JavaSource out, List<JavaField> fields, boolean isEncoder) {
        out.line("int at = index;");
        for (int i = 0; i < fields.size(); ) {
            int end = i;
            long length = 0;
            while (end < fields.size() && !fields.get(end).shape.isObject()) {
                length += fields.get(end++).length;
            }
            if (!isEncoder && length > 0) {
                out.line("need(%d, at, limit);", length);
            }
            long offset = 0;
            for (; i < end; offset += fields.get(i++).length) {
                out.line(isEncoder ? fields.get(i).put(offset) : fields.get(i).take(offset));
            }
            if (length > 0) {
                out.line("at += %d;", length);
            }
            if (end < fields.size()) {
                out.line(isEncoder ? fields.get(end).put(0) : fields.get(end).take(0));
            }
            i = end + 1;
        }
        out.line("return at;");
        out.line("}");
    }

    /** What is encoded of a value of a number or enum. */
    String number(String value) {
        return value
                + (shape.isEnum()
                        ? ".value()"
                        : shape.primitive() == Primitive.BOOL ? " ? 1 : 0" : "");
    }

    private String wireType() {
        return switch (shape.type()) {
            case "long" -> "Long";
            case "float" -> "Float";
            case "double" -> "Double";
            default -> "Int";
        };
    }

    /** Checks a value that a caller gives. */
    String checked() {
        Primitive primitive = shape.primitive();
        if (primitive == null) {
            return "Objects.requireNonNull(value, \"" + name + "\")";
        }
        String range = "requireRange(value, " + primitive.min + ", " + primitive.max + ")";
        return primitive.isNarrow() ? range : "value";
    }

    /** How it is declared, for Javadoc. */
    String described() {
        String type = source.form() == Declaration.Form.STRING ? "string" : "opaque";
        if (source.type() != null) {
            type =
                    source.type().primitive() == null
                            ? source.type().name()
                            : source.type().primitive().xdr();
        }
        String size = source.size() == Declaration.UNBOUNDED ? "" : "" + source.size();
        return type
                + switch (source.form()) {
                    case FIXED_ARRAY, FIXED_OPAQUE -> " " + source.name() + "[" + size + "]";
                    case ARRAY, OPAQUE, STRING -> " " + source.name() + "<" + size + ">";
                    case OPTIONAL -> " *" + source.name();
                    default -> " " + source.name();
                };
    }
}
