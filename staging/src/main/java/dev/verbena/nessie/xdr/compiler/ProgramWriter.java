package dev.verbena.nessie.xdr.compiler;

import java.util.ArrayList;
import java.util.List;

/** Writes the class of a program: its number, and a class of operations for each version. */
final class ProgramWriter {
    private static final String NUMBER =
            "/** Number of the %s. */\npublic static final int NUMBER = %d;\n";

    private ProgramWriter() {}

    static void write(JavaSource out, Definition.Program program, XdrTypes types) {
        String name = JavaNames.type(program.name());
        out.line("/** {@code program %s}, line %d. */", program.name(), program.at().line());
        out.line("public final class %s {", name);
        out.lines(NUMBER + "\nprivate %s() {}", "program", program.number(), name);
        JavaNames versions = new JavaNames();
        for (Definition.Version version : program.versions()) {
            String java = JavaNames.type(version.name()) + "Operations";
            versions.claim(java, version.name(), version.at());
            out.lines("\n/** {@code version %s}. */", version.name());
            out.line("public static final class %s {", java);
            out.lines(NUMBER, "version", version.number());
            operations(out, name, version, types);
            out.lines("\nprivate %s() {}\n}", java);
        }
    }

    private static void operations(
            JavaSource out, String program, Definition.Version version, XdrTypes types) {
        JavaNames names = new JavaNames();
        names.claim("NUMBER", "the version's NUMBER", version.at());
        for (Definition.Procedure each : version.procedures()) {
            names.claim(each.name(), each.name(), each.at());
            String prefix = each.name() + "_" + Integer.toUnsignedString(version.number());
            String arguments = type(each.arguments(), prefix + "_arguments", types, each.at());
            String result = type(List.of(each.reply()), prefix + "_result", types, each.at());
            String constant = JavaNames.constant(each.name());
            String made = "new XdrOperation<>(\"%s\", %s.NUMBER, NUMBER, %d, %s::new, %s::new);";
            out.lines("\n/** Procedure %s. */", Integer.toUnsignedString(each.number()));
            out.line("public static final XdrOperation<%s, %s> %s =", arguments, result, constant);
            out.line(made, each.name(), program, each.number(), arguments, result);
        }
    }

    /** Class of values; a struct of its own if there are several, or one that is no object. */
    private static String type(List<Declaration> values, String name, XdrTypes types, Position at) {
        if (values.isEmpty() || values.get(0).isVoid()) {
            return "XdrVoid";
        }
        Declaration first = values.get(0);
        boolean isOne = values.size() == 1 && first.form() == Declaration.Form.SINGLE;
        if (isOne && types.resolve(first.type()).isObject()) {
            return JavaNames.type(types.resolve(first.type()).definition().name());
        }
        List<Declaration> fields = new ArrayList<>();
        for (Declaration each : values) {
            String field = values.size() == 1 ? "value" : "value" + (fields.size() + 1);
            fields.add(new Declaration(each.form(), each.type(), field, each.size(), each.at()));
        }
        types.add(new Definition.StructType(name, fields, at));
        return JavaNames.type(name);
    }
}
