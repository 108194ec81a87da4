package dev.verbena.nessie.xdr.compiler;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Writes the class of a union: a discriminant, and the arm that it selects. */
final class UnionWriter {
    private final JavaSource out = new JavaSource();
    private final Definition.UnionType union;
    private final XdrTypes types;
    private final int depthMax;
    private final String name;
    private final JavaField selector;

    /** By number; null for void. The last one is the default's, if there is one. */
    private final List<JavaField> arms = new ArrayList<>();

    private UnionWriter(Definition.UnionType union, XdrTypes types, int depthMax) {
        this.union = union;
        this.types = types;
        this.depthMax = depthMax;
        this.name = JavaNames.type(union.name());
        this.selector = JavaField.of(union.discriminant(), types);
        JavaNames names = new JavaNames();
        names.claim(selector.name(), union.discriminant().name(), union.discriminant().at());
        List<Declaration> declarations = new ArrayList<>();
        union.arms().forEach(arm -> declarations.add(arm.declaration()));
        if (union.otherwise() != null) {
            declarations.add(union.otherwise());
        }
        for (Declaration each : declarations) {
            arms.add(each.isVoid() ? null : JavaField.of(each, types));
            if (!each.isVoid()) {
                names.claim(JavaNames.field(each.name()), each.name(), each.at());
            }
        }
    }

    static JavaSource write(Definition.UnionType union, XdrTypes types, int depthMax) {
        UnionWriter writer = new UnionWriter(union, types, depthMax);
        writer.check();
        writer.write();
        return writer.out;
    }

    private void check() {
        Primitive primitive = selector.shape().primitive();
        boolean isNumber = primitive != null && primitive.java.equals("int");
        boolean isEnum = selector.shape().first() != null;
        if (!isNumber && !isEnum && primitive != Primitive.BOOL) {
            throw XdrTypes.wrong(
                    union.discriminant().at(), "a union is selected by an int, an enum or a bool");
        }
        Set<Integer> seen = new HashSet<>();
        for (Definition.Arm arm : union.arms()) {
            for (Definition.Case each : arm.cases()) {
                if (!seen.add(each.value())) {
                    throw XdrTypes.wrong(each.at(), "there is a case %d already", each.value());
                }
                literal(each);
            }
        }
    }

    /** A value of the discriminant in Java; refuses one that its type does not have. */
    private String literal(Definition.Case value) {
        if (selector.shape().first() != null) {
            TypeMembers members = new TypeMembers(types, union.discriminant());
            return selector.shape().type() + "." + members.constant(value);
        }
        Primitive primitive = selector.shape().primitive();
        boolean isBool = primitive == Primitive.BOOL;
        int min = isBool ? 0 : primitive.min;
        int max = isBool ? 1 : primitive.max;
        if (value.value() < min || value.value() > max) {
            throw XdrTypes.wrong(value.at(), "the discriminant is never %d", value.value());
        }
        return isBool ? String.valueOf(value.value() == 1) : String.valueOf(value.value());
    }

    /** Members of the discriminant's enum. */
    private record TypeMembers(XdrTypes types, Declaration discriminant) {
        String constant(Definition.Case value) {
            Definition.EnumType type =
                    (Definition.EnumType) types.resolve(discriminant.type()).definition();
            return type.members().stream()
                    .filter(member -> member.value() == value.value())
                    .map(member -> JavaNames.constant(member.name()))
                    .findFirst()
                    .orElseThrow(
                            () ->
                                    XdrTypes.wrong(
                                            value.at(),
                                            "no constant of '%s' is %d",
                                            type.name(),
                                            value.value()));
        }
    }

    private void write() {
        StructWriter.head(out, "union", union, name, "XdrObject");
        String first = literal(union.arms().get(0).cases().get(0));
        out.line("private %s %s = %s;", selector.shape().type(), selector.name(), first);
        out.line("private int xdrArm;");
        for (JavaField arm : arms) {
            if (arm != null) {
                String initial = arm.shape().first() == null ? "" : " = " + arm.shape().first();
                out.line("private %s %s%s;", arm.shape().type(), arm.name(), initial);
            }
        }
        out.document("The first case is selected.");
        out.line("public %s() {}", name);
        selectorAccessors();
        for (int i = 0; i < arms.size(); i++) {
            if (arms.get(i) != null) {
                armAccessors(i, arms.get(i));
            }
        }
        armNumber();
        reset(first);
        codec();
        describe();
        StructWriter.foot(out, depthMax);
    }

    private void selectorAccessors() {
        String type = selector.shape().type();
        out.document("Discriminant {@code " + selector.described() + "}.");
        out.line("public %s %s() {", type, selector.name());
        out.line("return this.%s;", selector.name());
        out.line("}");
        out.document("Selects an arm, which then has the value of a new one.");
        out.line("public %s %s(%s value) {", name, selector.name(), type);
        out.line("int arm = xdrArm(%s);", number("value"));
        out.line("if (arm < 0) {");
        out.line("throw new IllegalArgumentException(value + \" selects no arm\");");
        out.line("}");
        out.line("this.%s = %s;", selector.name(), selector.checked());
        out.line("this.xdrArm = arm;");
        out.line("xdrResetArm();");
        out.line("return this;");
        out.line("}");
    }

    private String number(String value) {
        if (selector.shape().first() != null) {
            return value + ".value()";
        }
        return selector.shape().primitive() == Primitive.BOOL ? value + " ? 1 : 0" : value;
    }

    private void armAccessors(int number, JavaField arm) {
        JavaShape shape = arm.shape();
        out.document("Arm {@code " + arm.described() + "}.");
        out.line("public %s %s() {", shape.type(), arm.name());
        out.line("requireArm(this.xdrArm == %d, \"%s\");", number, arm.name());
        if (shape.isObject()) {
            // Made when it is used first: few of the arms are.
            out.line("if (this.%s == null) {", arm.name());
            out.line("this.%s = %s;", arm.name(), shape.creation());
            out.line("}");
        }
        out.line("return this.%s;", arm.name());
        out.line("}");
        if (!shape.isObject()) {
            out.document("Sets {@code " + arm.source().name() + "}, which must be selected.");
            out.line("public %s %s(%s value) {", name, arm.name(), shape.type());
            out.line("requireArm(this.xdrArm == %d, \"%s\");", number, arm.name());
            out.line("this.%s = %s;", arm.name(), arm.checked());
            out.line("return this;");
            out.line("}");
        }
    }

    private void armNumber() {
        out.line("");
        out.line("private static int xdrArm(int value) {");
        out.line("return switch (value) {");
        for (int i = 0; i < union.arms().size(); i++) {
            String cases =
                    union.arms().get(i).cases().stream()
                            .map(each -> String.valueOf(each.value()))
                            .collect(Collectors.joining(", "));
            out.line("case %s -> %d;", cases, i);
        }
        out.line("default -> %d;", union.otherwise() == null ? -1 : arms.size() - 1);
        out.line("};");
        out.line("}");
    }

    private void reset(String first) {
        out.override("public void reset() {");
        out.line("this.%s = %s;", selector.name(), first);
        out.line("this.xdrArm = 0;");
        out.line("xdrResetArm();");
        out.line("}");
        out.line("");
        out.line("private void xdrResetArm() {");
        out.line("switch (this.xdrArm) {");
        for (int i = 0; i < arms.size(); i++) {
            JavaField arm = arms.get(i);
            if (arm != null && arm.shape().isObject()) {
                out.line("case %d -> %s().reset();", i, arm.name());
            } else if (arm != null) {
                out.line("case %d -> this.%s = %s;", i, arm.name(), arm.shape().initial());
            }
        }
        out.line("default -> {}");
        out.line("}");
        out.line("}");
    }

    private void codec() {
        List<JavaField> head = List.of(selector);
        out.override("protected long xdrLength(int depth) {");
        out.line("switch (this.xdrArm) {");
        arms(arm -> out.line("return 4L + %s;", JavaField.length(List.of(arm))));
        out.line("return 4;");
        out.line("}");
        out.override("protected int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {");
        out.line("int at = index;");
        out.line("switch (this.xdrArm) {");
        arms(arm -> JavaField.encode(out, List.of(selector, arm)));
        JavaField.encode(out, head);
        out.line("}");
        out.override(
                "protected int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {");
        out.line("int at = index;");
        out.line("need(4, at, limit);");
        out.line("int arm = xdrArm(buffer.getInt(at, ByteOrder.BIG_ENDIAN));");
        out.line("if (arm < 0) {");
        out.line("throw new XdrException(\"a discriminant selects no arm\");");
        out.line("}");
        JavaField.decodeWithoutReturn(out, selector);
        out.line("this.xdrArm = arm;");
        out.line("at += 4;");
        out.line("switch (arm) {");
        arms(arm -> JavaField.decode(out, List.of(arm)));
        out.line("return at;");
        out.line("}");
    }

    /** What each arm that is not void does, in a switch that has begun, which this ends. */
    private void arms(java.util.function.Consumer<JavaField> statements) {
        for (int i = 0; i < arms.size(); i++) {
            JavaField arm = arms.get(i);
            if (arm != null) {
                out.line("case %d -> {", i);
                if (arm.shape().isObject()) {
                    out.line("%s();", arm.name());
                }
                statements.accept(arm);
                out.line("}");
            }
        }
        out.line("default -> {}");
        out.line("}");
    }

    private void describe() {
        out.override("protected void xdrDescribe(StringBuilder text) {");
        out.line("text.append(\"%s{\");", name);
        out.line("describe(text, \"%s=\", this.%s);", selector.name(), selector.name());
        out.line("switch (this.xdrArm) {");
        for (int i = 0; i < arms.size(); i++) {
            if (arms.get(i) != null) {
                String arm = arms.get(i).name();
                out.line("case %d -> describe(text, \"%s=\", %s());", i, arm, arm);
            }
        }
        out.line("default -> {}");
        out.line("}");
        out.line("text.append('}');");
        out.line("}");
    }
}
