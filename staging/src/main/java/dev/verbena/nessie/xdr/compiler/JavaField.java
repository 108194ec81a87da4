package dev.verbena.nessie.xdr.compiler;

import static java.util.stream.Collectors.joining;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

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
        String getter = "\n/** {@code %s}. */\npublic %s %s() { %sreturn %s; }";
        out.lines(getter, described(), shape.type(), name, guard, value);
        if (!shape.isObject()) {
            String setter = "public %s %s(%s value) { %sthis.%s = %s; return this; }";
            out.lines("\n/** Sets {@code %s}. */", source.name());
            out.line(setter, owner, name, shape.type(), guard, name, checked());
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

    /** Statements that encode it. */
    String put() {
        if (shape.isObject()) {
            return "at = put(%s(), buffer, at, depth);".formatted(name);
        }
        return "buffer.put%s(at, %s, ByteOrder.BIG_ENDIAN); at += %d;"
                .formatted(wire(), number("this." + name), length);
    }

    /** Statements that decode it; of a number, the bytes must be there. */
    String take() {
        if (shape.isObject()) {
            return "at = take(%s(), buffer, at, limit, depth);".formatted(name);
        }
        String get = "buffer.get%s(at, ByteOrder.BIG_ENDIAN)".formatted(wire());
        Primitive primitive = shape.primitive();
        String value = get;
        if (shape.isEnum()) {
            value = "known(%s.of(%s), \"%s\")".formatted(shape.type(), get, shape.type());
        } else if (primitive == Primitive.BOOL) {
            value = "takeBoolean(buffer, at)";
        } else if (primitive.isNarrow()) {
            value = "narrow(%s, %d, %d)".formatted(get, primitive.min, primitive.max);
        }
        return "this.%s = %s; at += %d;".formatted(name, value, length);
    }

    /** As {@link #take}, and asks for the bytes. */
    String takeAlone() {
        return takes(List.of(this)).strip().replace('\n', ' ');
    }

    /** Expression of its encoded length. */
    String lengthOf() {
        return isFixed ? length + "L" : "lengthOf(" + name + "(), depth)";
    }

    /** Methods that encode and decode fields; the suffix is of their names. */
    static void codec(JavaSource out, String suffix, List<JavaField> fields) {
        String sum = String.join(" + ", fields.stream().map(JavaField::lengthOf).toList());
        out.override(
                "protected long xdr" + suffix + "Length(int depth)",
                "return " + (fields.isEmpty() ? "0" : sum) + ";");
        out.override(
                "protected int xdrEncode%s(MutableDirectBuffer buffer, int index, int depth)"
                        .formatted(suffix),
                "int at = index;\n" + lines(fields, JavaField::put) + "return at;");
        out.override(
                "protected int xdrDecode%s(DirectBuffer buffer, int index, int limit, int depth)"
                        .formatted(suffix),
                "int at = index;\n" + takes(fields) + "return at;");
    }

    /** The bytes of numbers beside each other are asked for at once. */
    private static String takes(List<JavaField> fields) {
        StringBuilder text = new StringBuilder();
        long asked = 0;
        for (int i = 0; i < fields.size(); i++) {
            if (asked == 0) {
                List<JavaField> left = fields.subList(i, fields.size());
                asked =
                        left.stream()
                                .takeWhile(each -> !each.shape.isObject())
                                .mapToLong(JavaField::length)
                                .sum();
                text.append(asked > 0 ? "need(%d, at, limit);\n".formatted(asked) : "");
            }
            JavaField field = fields.get(i);
            asked -= field.shape.isObject() ? 0 : field.length;
            text.append(field.take()).append('\n');
        }
        return text.toString();
    }

    /** What each field does, a line each. */
    static String lines(List<JavaField> fields, Function<JavaField, String> statement) {
        return fields.stream().map(statement).map(each -> each + "\n").collect(joining());
    }

    /** What is encoded of a value of a number or enum. */
    String number(String value) {
        return value
                + (shape.isEnum()
                        ? ".value()"
                        : shape.primitive() == Primitive.BOOL ? " ? 1 : 0" : "");
    }

    private String wire() {
        return shape.isEnum() ? "Int" : shape.primitive().wire();
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
        String bytes = source.form() == Declaration.Form.STRING ? "string" : "opaque";
        String type = source.type() == null ? bytes : source.type().name();
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
