package dev.verbena.nessie.xdr.compiler;

import java.util.List;

/** Writes the class of a struct. */
final class StructWriter {
    private StructWriter() {}

    static void write(JavaSource out, Definition.StructType struct, XdrTypes types) {
        String name = JavaNames.type(struct.name());
        List<JavaField> fields = JavaField.all(struct.fields(), types);
        boolean isLinked = isLinked(struct, types);
        out.line("/** {@code struct %s}, line %d. */", struct.name(), struct.at().line());
        out.line(
                "public final class %s extends %s {",
                name, isLinked ? "XdrNode<" + name + ">" : "XdrObject");
        if (fields.stream().allMatch(JavaField::isFixed)) {
            out.line("/** Encoded length in bytes. */");
            long length = fields.stream().mapToLong(JavaField::length).sum();
            out.line("public static final int LENGTH = %d;", length);
            out.line("");
        }
        for (JavaField field : fields) {
            JavaShape shape = field.shape();
            String initial = shape.isObject() ? shape.creation() : shape.initial();
            String modifier = shape.isObject() ? "final " : "";
            out.line("private %s%s %s = %s;", modifier, shape.type(), field.name(), initial);
        }
        out.line("");
        out.line("/** Numbers are 0, arrays empty, optional values absent. */");
        out.line("public %s() {}", name);
        fields.forEach(field -> field.accessors(out, name, "", "this." + field.name()));
        JavaField.override(out, "public void reset() {");
        fields.forEach(field -> out.line(field.reset()));
        out.line("}");
        if (isLinked) {
            JavaField last = fields.get(fields.size() - 1);
            JavaField.codec(out, "protected", "Node", fields.subList(0, fields.size() - 1));
            JavaField.override(out, "protected XdrOptional<" + name + "> xdrNext() {");
            out.lines("return %s();\n}", last.name());
            JavaField.override(out, "protected int xdrNodesMax() {");
            out.lines("return %d;\n}", types.lengthMax());
        } else {
            JavaField.codec(out, "protected", "", fields);
        }
        JavaField.override(out, "protected void xdrDescribe(StringBuilder text) {");
        out.line("text.append(\"%s{\");", name);
        fields.forEach(field -> out.line(field.describe()));
        out.lines("text.append('}');\n}");
    }

    /** The last field points to the next struct of this type. */
    private static boolean isLinked(Definition.StructType struct, XdrTypes types) {
        Declaration last = struct.fields().get(struct.fields().size() - 1);
        if (last.form() == Declaration.Form.SINGLE
                && types.resolve(last.type()).definition() instanceof Definition.Typedef typedef) {
            last = typedef.declaration();
        }
        return last.form() == Declaration.Form.OPTIONAL
                && types.resolve(last.type()).definition() == struct;
    }
}
