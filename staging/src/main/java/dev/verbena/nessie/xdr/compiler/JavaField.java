package dev.verbena.nessie.xdr.compiler;

import static java.util.stream.Collectors.joining;

import dev.verbena.nessie.xdr.compiler.Declaration.Form;
import dev.verbena.nessie.xdr.compiler.XdrTypes.Resolved;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/** A field of a generated class: its type in Java, and the statements that it needs. */
final class JavaField {
    /** In Java. */
    final String name;

    /** As it is written. */
    final String type;

    /** Of the constructor of an object; null for a number or an enum. */
    final String arguments;

    /** What makes its value in a new object. */
    final String initial;

    /** Bytes that it takes at least, encoded. */
    final long length;

    /** It takes always so many. */
    final boolean isFixed;

    /** Of a number, else null. */
    final Primitive primitive;

    private final Declaration source;

    /** Its name must differ from those before it. */
    JavaField(Declaration source, XdrTypes types, JavaNames names) {
        this.source = source;
        Form form = source.form();
        Resolved of = source.type() == null ? null : types.resolve(source.type());
        boolean isSingle = form == Form.SINGLE;
        boolean isFixedSize = form == Form.FIXED_ARRAY || form == Form.FIXED_OPAQUE;
        // An optional number is encoded as an array of at most one.
        int bound = form == Form.OPTIONAL ? 1 : types.bound(source);
        String bounds = form == Form.STRING ? "" + bound : isFixedSize + ", " + bound;
        name = JavaNames.field(source.name());
        length = types.lengthMin(source);
        isFixed = types.isFixed(source);
        primitive = isSingle ? of.primitive() : null;
        if (of == null) {
            type = form == Form.STRING ? "XdrString" : "XdrOpaque";
            arguments = bounds;
        } else if (isSingle) {
            type = of.java();
            arguments = of.isObject() ? "" : null;
        } else if (of.primitive() != null) {
            type = "Xdr" + of.primitive().plural();
            arguments = bounds + (of.primitive().isNarrow() ? ", " + of.primitive().range() : "");
        } else if (!of.isObject()) {
            type = "XdrEnums<" + of.java() + ">";
            String enumeration = "%1$s::of, %1$s::value, %2$s, %3$s";
            arguments = enumeration.formatted(of.java(), of.initial(), bounds);
        } else if (form == Form.OPTIONAL) {
            type = "XdrOptional<" + of.java() + ">";
            arguments = of.java() + "::new";
        } else {
            type = "XdrList<" + of.java() + ">";
            long least = types.lengthMin(source.type());
            boolean isSame = types.isFixed(source.type());
            arguments = "%s::new, %d, %b, %s".formatted(of.java(), least, isSame, bounds);
        }
        String made = "new %s(%s)".formatted(type.replaceFirst("<.*>", "<>"), arguments);
        initial = isObject() ? made : of.initial();
        names.claim(name, source.name(), source.at());
    }

    static List<JavaField> all(List<Declaration> declarations, XdrTypes types) {
        JavaNames names = new JavaNames();
        return declarations.stream().map(each -> new JavaField(each, types, names)).toList();
    }

    boolean isObject() {
        return arguments != null;
    }

    boolean isEnum() {
        return primitive == null && !isObject();
    }

    /** Its accessors, which first run a statement. */
    void accessors(JavaSource out, String owner, String guard, String value) {
        String getter = "\n/** {@code %s}. */\npublic %s %s() { %sreturn %s; }";
        out.lines(getter, described(), type, name, guard, value);
        if (!isObject()) {
            String setter = "public %s %s(%s value) { %sthis.%s = %s; return this; }";
            out.lines("\n/** Sets {@code %s}. */", source.name());
            out.line(setter, owner, name, type, guard, name, checked());
        }
    }

    String reset() {
        return isObject() ? name + "().reset();" : "this.%s = %s;".formatted(name, initial);
    }

    String describe() {
        return "describe(text, \"%s=\", %s());".formatted(name, name);
    }

    /** Statements that encode it. */
    String put() {
        if (isObject()) {
            return "at = put(%s(), buffer, at, depth);".formatted(name);
        }
        return "buffer.put%s(at, %s, ByteOrder.BIG_ENDIAN); at += %d;"
                .formatted(wire(), number("this." + name), length);
    }

    /** Statements that decode it; of a number, the bytes must be there. */
    String take() {
        if (isObject()) {
            return "at = take(%s(), buffer, at, limit, depth);".formatted(name);
        }
        String get = "buffer.get%s(at, ByteOrder.BIG_ENDIAN)".formatted(wire());
        String value = get;
        if (isEnum()) {
            value = "known(%s.of(%s), \"%s\")".formatted(type, get, type);
        } else if (primitive == Primitive.BOOL) {
            value = "bool(" + get + ")";
        } else if (primitive.isNarrow()) {
            value = "narrow(%s, %s)".formatted(get, primitive.range());
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
        boolean isAsked = false;
        for (int i = 0; i < fields.size(); i++) {
            boolean isObject = fields.get(i).isObject();
            if (!isAsked && !isObject) {
                Stream<JavaField> left = fields.stream().skip(i);
                Stream<JavaField> numbers = left.takeWhile(each -> !each.isObject());
                long length = numbers.mapToLong(each -> each.length).sum();
                text.append("need(%d, at, limit);\n".formatted(length));
            }
            isAsked = !isObject;
            text.append(fields.get(i).take()).append('\n');
        }
        return text.toString();
    }

    /** What each field does, a line each. */
    static String lines(List<JavaField> fields, Function<JavaField, String> statement) {
        return fields.stream().map(statement).map(each -> each + "\n").collect(joining());
    }

    /** What is encoded of a value of a number or enum. */
    String number(String value) {
        return value + (isEnum() ? ".value()" : primitive == Primitive.BOOL ? " ? 1 : 0" : "");
    }

    private String wire() {
        return isEnum() ? "Int" : primitive.wire();
    }

    /** Checks a value that a caller gives. */
    String checked() {
        if (primitive == null) {
            return "Objects.requireNonNull(value, \"" + name + "\")";
        }
        return primitive.isNarrow() ? "requireRange(value, " + primitive.range() + ")" : "value";
    }

    /** How it is declared, for Javadoc. */
    String described() {
        String bytes = source.form() == Form.STRING ? "string" : "opaque";
        String type = source.type() == null ? bytes : source.type().name();
        String size = source.size() == Declaration.UNBOUNDED ? "" : "" + source.size();
        String named = type + (source.form() == Form.OPTIONAL ? " *" : " ") + source.name();
        return switch (source.form()) {
            case FIXED_ARRAY, FIXED_OPAQUE -> named + "[" + size + "]";
            case ARRAY, OPAQUE, STRING -> named + "<" + size + ">";
            default -> named;
        };
    }
}
