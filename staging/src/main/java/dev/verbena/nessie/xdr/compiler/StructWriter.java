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
        String base = isLinked ? "XdrNode<" + name + ">" : "XdrObject";
        out.line("public final class %s extends %s {", name, base);
        if (fields.stream().allMatch(field -> field.isFixed)) {
            long length = fields.stream().mapToLong(field -> field.length).sum();
            String constant =
                    "/** Encoded length in bytes. */\npublic static final int LENGTH = %d;";
            out.lines(constant + "\n\n", length);
        }
        for (JavaField field : fields) {
            String modifier = field.isObject() ? "final " : "";
            out.line("private %s%s %s = %s;", modifier, field.type, field.name, field.initial);
        }
        String made = "/** Numbers are 0, arrays empty, optional values absent. */";
        out.lines("\n" + made + "\npublic %s() {}", name);
        fields.forEach(field -> field.accessors(out, name, "", "this." + field.name));
        out.override("public void reset()", JavaField.lines(fields, JavaField::reset));
        if (isLinked) {
            JavaField last = fields.get(fields.size() - 1);
            JavaField.codec(out, "Node", fields.subList(0, fields.size() - 1));
            out.override(
                    "protected XdrOptional<" + name + "> xdrNext()", "return " + last.name + "();");
            out.override("protected int xdrNodesMax()", "return " + types.lengthMax + ";");
        } else {
            JavaField.codec(out, "", fields);
        }
        out.describe(name, JavaField.lines(fields, JavaField::describe));
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
