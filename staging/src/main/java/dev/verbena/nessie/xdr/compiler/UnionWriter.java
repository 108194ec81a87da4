package dev.verbena.nessie.xdr.compiler;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Writes the class of a union: a discriminant, and the arm that it selects. */
final class UnionWriter {
    private final JavaSource out;
    private final Definition.UnionType union;
    private final XdrTypes types;
    private final String name;
    private final JavaField selector;

    /** By number; null for void. The last one is the default's, if there is one. */
    private final List<JavaField> arms = new ArrayList<>();

    private UnionWriter(JavaSource out, Definition.UnionType union, XdrTypes types) {
        this.out = out;
        this.union = union;
        this.types = types;
        this.name = JavaNames.type(union.name());
        this.selector = JavaField.of(union.discriminant(), types);
        JavaNames names = new JavaNames();
        names.claim(selector.name(), union.discriminant().name(), union.discriminant().at());
        // The first of a union's declarations is the discriminant.
        for (Declaration each : XdrTypes.declarations(union).skip(1).toList()) {
            JavaField arm = each.isVoid() ? null : JavaField.of(each, types);
            arms.add(arm);
            if (arm != null) {
                names.claim(arm.name(), each.name(), each.at());
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
        Primitive primitive = selector.shape().primitive();
        boolean isInt = selector.shape().type().equals("int") || primitive == Primitive.BOOL;
        if (!isInt && !selector.shape().isEnum()) {
            throw new XdrSourceException(
                    union.discriminant().at(), "a union is selected by an int, an enum or a bool");
        }
        Set<Integer> seen = new HashSet<>();
        for (Definition.Arm arm : union.arms()) {
            for (Definition.Case each : arm.cases()) {
                if (!seen.add(each.value())) {
                    throw new XdrSourceException(
                            each.at(), "there is a case %d already", each.value());
                }
                literal(each);
            }
        }
    }

    /** A value of the discriminant in Java; refuses one that its type does not have. */
    private String literal(Definition.Case value) {
        int number = value.value();
        Primitive primitive = selector.shape().primitive();
        if (primitive == null) {
            Definition.EnumType type =
                    (Definition.EnumType) types.resolve(union.discriminant().type()).definition();
            for (Definition.Member member : type.members()) {
                if (member.value() == number) {
                    return selector.shape().type() + "." + JavaNames.constant(member.name());
                }
            }
            throw new XdrSourceException(
                    value.at(), "no constant of '%s' is %d", type.name(), number);
        }
        if (number < primitive.min || number > primitive.max) {
            throw new XdrSourceException(value.at(), "the discriminant is never %d", number);
        }
        return primitive == Primitive.BOOL ? "" + (number == 1) : "" + number;
    }

    private void fields() {
        String first = literal(union.arms().get(0).cases().get(0));
        out.line("/** {@code union %s}, line %d. */", union.name(), union.at().line());
        out.line("public final class %s extends XdrObject {", name);
        out.line("private %s %s = %s;", selector.shape().type(), selector.name(), first);
        out.line("private int xdrArm;");
        for (JavaField arm : arms) {
            if (arm != null) {
                String initial = arm.shape().isObject() ? "" : " = " + arm.shape().initial();
                out.line("private %s %s%s;", arm.shape().type(), arm.name(), initial);
            }
        }
        out.lines("\n/** The first case is selected. */\npublic %s() {}", name);
        for (int i = 0; i < arms.size(); i++) {
            JavaField arm = arms.get(i);
            if (arm != null) {
                String field = "this." + arm.name();
                // Made when it is used first: few of the arms are.
                String made = "%s != null ? %s : (%s = %s)";
                arm.accessors(
                        out,
                        name,
                        "requireArm(this.xdrArm == %d, \"%s\"); ".formatted(i, arm.name()),
                        arm.shape().isObject()
                                ? made.formatted(field, field, field, arm.shape().creation())
                                : field);
            }
        }
        out.override("public void reset()", selector.name() + "(" + first + ");");
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
                selector.name(),
                selector.described(),
                selector.shape().type(),
                name,
                selector.number("value"),
                selector.checked(),
                arms(JavaField::reset));
        for (int i = 0; i < union.arms().size(); i++) {
            List<String> cases =
                    union.arms().get(i).cases().stream().map(each -> "" + each.value()).toList();
            out.line("case %s -> %d;", String.join(", ", cases), i);
        }
        out.line("default -> %d;", union.otherwise() == null ? -1 : arms.size() - 1);
        out.lines("};\n}");
    }

    /** What each arm that is not void does: the cases of a switch, and its end. */
    private String arms(Function<JavaField, String> statement) {
        StringBuilder cases = new StringBuilder();
        for (int i = 0; i < arms.size(); i++) {
            if (arms.get(i) != null) {
                cases.append("case %d -> %s\n".formatted(i, statement.apply(arms.get(i))));
            }
        }
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
        out.override(
                "protected void xdrDescribe(StringBuilder text)",
                "text.append(\"%s{\");\n%s\nswitch (this.xdrArm) {\n%stext.append('}');"
                        .formatted(name, selector.describe(), arms(JavaField::describe)));
    }
}
