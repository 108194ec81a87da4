package dev.verbena.nessie.xdr.compiler;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * A field of a generated class, and the statements that encode and decode it.
 *
 * @param name in Java
 * @param source its declaration
 */
record JavaField(String name, Declaration source, JavaShape shape) {
    static JavaField of(Declaration declaration, XdrTypes types) {
        return new JavaField(
                JavaNames.field(declaration.name()), declaration, JavaShape.of(declaration, types));
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

    /** Statements that encode fields from {@code at} on, and return the index behind them. */
    static void encode(JavaSource out, List<JavaField> fields) {
        long offset = 0;
        for (JavaField field : fields) {
            if (field.shape.isObject()) {
                move(out, offset);
                offset = 0;
                out.line("at = put(this.%s, buffer, at, depth);", field.name);
            } else {
                out.line("%s;", field.putCall(index(offset)));
                offset += field.shape.length();
            }
        }
        out.line("return %s;", index(offset));
    }

    /** Statements that decode fields from {@code at} on, and return the index behind them. */
    static void decode(JavaSource out, List<JavaField> fields) {
        long offset = 0;
        for (int i = 0; i < fields.size(); i++) {
            JavaField field = fields.get(i);
            if (field.shape.isObject()) {
                move(out, offset);
                offset = 0;
                out.line("at = take(this.%s, buffer, at, limit, depth);", field.name);
            } else {
                if (offset == 0) {
                    out.line("need(%d, at, limit);", runLength(fields, i));
                }
                out.line("this.%s = %s;", field.name, field.takeCall(index(offset)));
                offset += field.shape.length();
            }
        }
        out.line("return %s;", index(offset));
    }

    /** Statement that decodes a field at {@code at} that is no object. */
    static void decodeWithoutReturn(JavaSource out, JavaField field) {
        out.line("this.%s = %s;", field.name, field.takeCall("at"));
    }

    private static long runLength(List<JavaField> fields, int begin) {
        long length = 0;
        for (int i = begin; i < fields.size() && !fields.get(i).shape.isObject(); i++) {
            length += fields.get(i).shape.length();
        }
        return length;
    }

    private static void move(JavaSource out, long offset) {
        if (offset > 0) {
            out.line("at += %d;", offset);
        }
    }

    private static String index(long offset) {
        return offset == 0 ? "at" : "at + " + offset;
    }

    /** Expression of the encoded length of fields. */
    static String length(List<JavaField> fields) {
        long fixed = 0;
        StringBuilder variable = new StringBuilder();
        for (JavaField field : fields) {
            if (field.shape.isFixed()) {
                fixed += field.shape.length();
            } else {
                variable.append(" + lengthOf(this.").append(field.name).append(", depth)");
            }
        }
        return fixed + "L" + variable;
    }

    private String putCall(String index) {
        String value = "this." + name;
        if (shape.primitive() == null) {
            value += ".value()";
        } else if (shape.primitive() == Primitive.BOOL) {
            value += " ? 1 : 0";
        }
        return "buffer.put%s(%s, %s, ByteOrder.BIG_ENDIAN)".formatted(wireType(), index, value);
    }

    private String takeCall(String index) {
        if (shape.primitive() == Primitive.BOOL) {
            return "takeBoolean(buffer, " + index + ")";
        }
        String get = "buffer.get%s(%s, ByteOrder.BIG_ENDIAN)".formatted(wireType(), index);
        if (shape.primitive() == null) {
            return "known(%s.of(%s), \"%s\")".formatted(shape.type(), get, shape.type());
        }
        Primitive primitive = shape.primitive();
        return primitive.isNarrow()
                ? "narrow(%s, %d, %d)".formatted(get, primitive.min, primitive.max)
                : get;
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
        if (shape.primitive() == null) {
            return "Objects.requireNonNull(value, \"" + name + "\")";
        }
        Primitive primitive = shape.primitive();
        return primitive.isNarrow()
                ? "requireRange(value, %d, %d)".formatted(primitive.min, primitive.max)
                : "value";
    }

    /** How it is declared, for Javadoc. */
    String described() {
        long size = source.size();
        String type =
                source.type() == null
                        ? source.form() == Declaration.Form.STRING ? "string" : "opaque"
                        : source.type().primitive() == null
                                ? source.type().name()
                                : source.type()
                                        .primitive()
                                        .name()
                                        .toLowerCase(Locale.ROOT)
                                        .replace('_', ' ');
        String bound = size == Declaration.UNBOUNDED ? "" : "" + size;
        return type
                + switch (source.form()) {
                    case FIXED_ARRAY, FIXED_OPAQUE -> " " + source.name() + "[" + bound + "]";
                    case ARRAY, OPAQUE, STRING -> " " + source.name() + "<" + bound + ">";
                    case OPTIONAL -> " *" + source.name();
                    default -> " " + source.name();
                };
    }
}
