package dev.verbena.nessie.xdr.compiler;

import java.util.List;

/** Writes the class of a struct, and what the classes of all types share. */
final class StructWriter {
    private final JavaSource out = new JavaSource();
    private final XdrTypes types;
    private final int depthMax;
    private final String name;
    private final List<JavaField> fields;

    private StructWriter(Definition.StructType struct, XdrTypes types, int depthMax) {
        this.types = types;
        this.depthMax = depthMax;
        this.name = JavaNames.type(struct.name());
        this.fields = JavaField.all(struct.fields(), types);
    }

    static JavaSource write(Definition.StructType struct, XdrTypes types, int depthMax) {
        StructWriter writer = new StructWriter(struct, types, depthMax);
        writer.write(struct);
        return writer.out;
    }

    private void write(Definition.StructType struct) {
        head(out, "struct", struct, name, "XdrObject");
        if (fields.stream().allMatch(field -> field.shape().isFixed())) {
            out.line("/** Encoded length in bytes. */");
            out.line("public static final int LENGTH = %d;", fixedLength());
            out.line("");
        }
        for (JavaField field : fields) {
            JavaShape shape = field.shape();
            boolean isEnum = shape.first() != null;
            if (shape.isObject()) {
                out.line("private final %s %s = %s;", shape.type(), field.name(), shape.creation());
            } else {
                String initial = isEnum ? " = " + shape.first() : "";
                out.line("private %s %s%s;", shape.type(), field.name(), initial);
            }
        }
        out.document("Numbers are 0, arrays empty, optional values absent.");
        out.line("public %s() {}", name);
        fields.forEach(this::accessors);
        reset();
        codec();
        describe(out, name, fields);
        foot(out, depthMax);
    }

    private long fixedLength() {
        return fields.stream().mapToLong(field -> field.shape().length()).sum();
    }

    private void accessors(JavaField field) {
        JavaShape shape = field.shape();
        out.document("{@code " + field.described() + "}.");
        out.line("public %s %s() {", shape.type(), field.name());
        out.line("return this.%s;", field.name());
        out.line("}");
        if (!shape.isObject()) {
            out.document("Sets {@code " + field.source().name() + "}.");
            out.line("public %s %s(%s value) {", name, field.name(), shape.type());
            out.line("this.%s = %s;", field.name(), field.checked());
            out.line("return this;");
            out.line("}");
        }
    }

    private void reset() {
        out.override("public void reset() {");
        for (JavaField field : fields) {
            if (field.shape().isObject()) {
                out.line("this.%s.reset();", field.name());
            } else {
                out.line("this.%s = %s;", field.name(), field.shape().initial());
            }
        }
        out.line("}");
    }

    private void codec() {
        if (isLinked()) {
            linkedCodec();
            return;
        }
        out.override("protected long xdrLength(int depth) {");
        out.line("return %s;", JavaField.length(fields));
        out.line("}");
        out.override("protected int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {");
        out.line("int at = index;");
        JavaField.encode(out, fields);
        out.line("}");
        out.override(
                "protected int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {");
        out.line("int at = index;");
        JavaField.decode(out, fields);
        out.line("}");
    }

    /** The last field points to the next struct of this type: a list, walked in a loop. */
    private boolean isLinked() {
        Declaration last = fields.get(fields.size() - 1).source();
        if (last.form() == Declaration.Form.SINGLE
                && types.resolve(last.type()).definition() instanceof Definition.Typedef typedef) {
            last = typedef.declaration();
        }
        return last.form() == Declaration.Form.OPTIONAL
                && types.resolve(last.type()).isObject()
                && JavaNames.type(types.resolve(last.type()).definition().name()).equals(name);
    }

    private void linkedCodec() {
        List<JavaField> own = fields.subList(0, fields.size() - 1);
        String tail = fields.get(fields.size() - 1).name();
        out.override("protected long xdrLength(int depth) {");
        out.line("long length = 0;");
        out.line("int count = 0;");
        out.line("for (%s node = this; node != null; node = nextOf(node.%s)) {", name, tail);
        out.line("count = countNode(count, %d);", types.lengthMax());
        out.line("length += 4L + node.xdrNodeLength(depth);");
        out.line("}");
        out.line("return length;");
        out.line("}");
        out.override("protected int xdrEncode(MutableDirectBuffer buffer, int index, int depth) {");
        out.line("int at = index;");
        out.line("%s node = this;", name);
        out.line("while (node != null) {");
        out.line("at = node.xdrEncodeNode(buffer, at, depth);");
        out.line("node = putTail(node.%s, buffer, at);", tail);
        out.line("at += 4;");
        out.line("}");
        out.line("return at;");
        out.line("}");
        out.override(
                "protected int xdrDecode(DirectBuffer buffer, int index, int limit, int depth) {");
        out.line("int at = index;");
        out.line("int count = 0;");
        out.line("%s node = this;", name);
        out.line("while (node != null) {");
        out.line("count = countNode(count, %d);", types.lengthMax());
        out.line("at = node.xdrDecodeNode(buffer, at, limit, depth);");
        out.line("node = takeTail(node.%s, buffer, at, limit);", tail);
        out.line("at += 4;");
        out.line("}");
        out.line("return at;");
        out.line("}");
        out.line("");
        out.line("private long xdrNodeLength(int depth) {");
        out.line("return %s;", JavaField.length(own));
        out.line("}");
        out.line("");
        out.line("private int xdrEncodeNode(MutableDirectBuffer buffer, int index, int depth) {");
        out.line("int at = index;");
        JavaField.encode(out, own);
        out.line("}");
        out.line("");
        out.line(
                "private int xdrDecodeNode(DirectBuffer buffer, int index, int limit, int depth) {");
        out.line("int at = index;");
        JavaField.decode(out, own);
        out.line("}");
    }

    /** The class's first lines. */
    static void head(
            JavaSource out, String keyword, Definition source, String name, String parent) {
        out.line("/** {@code %s %s}, line %d. */", keyword, source.name(), source.at().line());
        out.line("public final class %s extends %s {", name, parent);
    }

    static void describe(JavaSource out, String name, List<JavaField> fields) {
        out.override("protected void xdrDescribe(StringBuilder text) {");
        out.line("text.append(\"%s{\");", name);
        for (JavaField field : fields) {
            out.line("describe(text, \"%s=\", this.%s);", field.name(), field.name());
        }
        out.line("text.append('}');");
        out.line("}");
    }

    /** The class's last lines. */
    static void foot(JavaSource out, int depthMax) {
        if (depthMax != XdrCompiler.DEPTH_DEFAULT) {
            out.override("protected int xdrDepthMax() {");
            out.line("return %d;", depthMax);
            out.line("}");
        }
        out.line("}");
    }
}
