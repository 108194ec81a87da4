package dev.verbena.nessie.xdr.compiler;

import static java.util.stream.Collectors.joining;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;

/** Writes the class of a union: a discriminant, and the arm that it selects. */
final class UnionWriter {
    private final JavaSource out;
    private final Definition.UnionType union;
    private final XdrTypes types;
    private final String name;
    private final JavaField selector;

    /** By number, without those that are void. */
    private final Map<Integer, JavaField> arms = new TreeMap<>();

    private UnionWriter(JavaSource out, Definition.UnionType union, XdrTypes types) {
        this.out = out;
        this.union = union;
        this.types = types;
        this.name = JavaNames.type(union.name());
        JavaNames names = new JavaNames();
        this.selector = new JavaField(union.discriminant(), types, names);
        for (int i = 0; i < union.arms().size(); i++) {
            Declaration each = union.arms().get(i).declaration();
            if (!each.isVoid()) {
                arms.put(i, new JavaField(each, types, names));
            }
        }
    }

    static void write(JavaSource out, Definition.UnionType union, XdrTypes types) {
        UnionWriter writer = new UnionWriter(out, union, types);
        writer.check();
        writer.fields();
        writer.selection();
        writer.codec();
    }

    private void check() {
        boolean isInt = selector.type.equals("int") || selector.primitive == Primitive.BOOL;
        if (!isInt && !selector.isEnum()) {
            String message = "a union is selected by an int, an enum or a bool";
            throw union.discriminant().at().wrong(message);
        }
        Set<Integer> seen = new HashSet<>();
        for (Definition.Arm arm : union.arms()) {
            for (Definition.Case each : arm.cases()) {
                if (!seen.add(each.value())) {
                    throw each.at().wrong("there is a case %d already", each.value());
                }
                literal(each);
            }
        }
    }

    /** A value of the discriminant in Java; refuses one that its type does not have. */
    private String literal(Definition.Case value) {
        int number = value.value();
        Primitive primitive = selector.primitive;
        if (primitive == null) {
            Definition.EnumType type =
                    (Definition.EnumType) types.resolve(union.discriminant().type()).definition();
            for (Definition.Member member : type.members()) {
                if (member.value() == number) {
                    return selector.type + "." + JavaNames.constant(member.name());
                }
            }
            throw value.at().wrong("no constant of '%s' is %d", type.name(), number);
        }
        if (number < primitive.min || number > primitive.max) {
            throw value.at().wrong("the discriminant is never %d", number);
        }
        return primitive == Primitive.BOOL ? "" + (number == 1) : "" + number;
    }

    private void fields() {
        String first = literal(union.arms().get(0).cases().get(0));
        out.line("/** {@code union %s}, line %d. */", union.name(), union.at().line());
        out.line("public final class %s extends XdrObject {", name);
        out.line("private %s %s = %s;", selector.type, selector.name, first);
        out.line("private int xdrArm;");
        for (JavaField arm : arms.values()) {
            String initial = arm.isObject() ? "" : " = " + arm.initial;
            out.line("private %s %s%s;", arm.type, arm.name, initial);
        }
        out.lines("\n/** The first case is selected. */\npublic %s() {}", name);
        arms.forEach(
                (number, arm) -> {
                    String guard = "requireArm(this.xdrArm == " + number + ", \"%s\"); ";
                    // Made when it is used first: few of the arms are.
                    String made = "this.%1$s != null ? this.%1$s : (this.%1$s = %2$s)";
                    String value = arm.isObject() ? made : "this.%s";
                    value = value.formatted(arm.name, arm.initial);
                    arm.accessors(out, name, guard.formatted(arm.name), value);
                });
        out.override("public void reset()", selector.name + "(" + first + ");");
    }

    private void selection() {
        out.lines(
                """

                /** Discriminant {@code %2$s}. */
                public %3$s %1$s() { return this.%1$s; }

                /** Selects an arm, which then has the value of a new one. */
                public %4$s %1$s(%3$s value) {
                int arm = xdrArm(%5$s);
                if (arm < 0) {
                throw new IllegalArgumentException(value + " selects no arm");
                }
                this.%1$s = %6$s;
                this.xdrArm = arm;
                switch (arm) {
                %7$sreturn this;
                }

                private static int xdrArm(int value) {
                return switch (value) {
                """,
                selector.name,
                selector.described(),
                selector.type,
                name,
                selector.number("value"),
                selector.checked(),
                arms(JavaField::reset));
        int otherwise = -1;
        for (int i = 0; i < union.arms().size(); i++) {
            List<Definition.Case> cases = union.arms().get(i).cases();
            if (cases.isEmpty()) {
                otherwise = i;
            } else {
                Stream<String> numbers = cases.stream().map(each -> "" + each.value());
                out.line("case %s -> %d;", numbers.collect(joining(", ")), i);
            }
        }
        out.lines("default -> %d;\n};\n}", otherwise);
    }

    /** What each arm that is not void does: the cases of a switch, and its end. */
    private String arms(Function<JavaField, String> statement) {
        StringBuilder cases = new StringBuilder();
        String each = "case %d -> %s\n";
        arms.forEach((i, arm) -> cases.append(each.formatted(i, statement.apply(arm))));
        return cases + "default -> {}\n}\n";
    }

    private void codec() {
        out.override(
                "protected long xdrLength(int depth)",
                "long length = 4;\nswitch (this.xdrArm) {\n%sreturn length;"
                        .formatted(arms(arm -> "length += " + arm.lengthOf() + ";")));
        out.override(
                "protected int xdrEncode(MutableDirectBuffer buffer, int index, int depth)",
                "int at = index;\n%s\nswitch (this.xdrArm) {\n%sreturn at;"
                        .formatted(selector.put(), arms(arm -> "{ " + arm.put() + " }")));
        out.override(
                "protected int xdrDecode(DirectBuffer buffer, int index, int limit, int depth)",
                """
                int at = index;
                need(4, at, limit);
                int arm = xdrArm(buffer.getInt(at, ByteOrder.BIG_ENDIAN));
                if (arm < 0) {
                throw new XdrException("a discriminant selects no arm");
                }
                %s
                this.xdrArm = arm;
                switch (arm) {
                %sreturn at;"""
                        .formatted(selector.take(), arms(arm -> "{ " + arm.takeAlone() + " }")));
        String described = selector.describe() + "\nswitch (this.xdrArm) {\n";
        out.describe(name, described + arms(JavaField::describe));
    }
}
