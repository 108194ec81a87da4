package dev.verbena.nessie.xdr.compiler;

import java.util.ArrayList;
import java.util.List;

/** Writes the class of a program: its number, and a class of operations for each version. */
final class ProgramWriter {
    private final JavaSource out = new JavaSource();
    private final Definition.Program program;
    private final XdrTypes types;

    ProgramWriter(Definition.Program program, XdrTypes types) {
        this.program = program;
        this.types = types;
    }

    JavaSource write() {
        String name = JavaNames.type(program.name());
        out.line("/** {@code program %s}, line %d. */", program.name(), program.at().line());
        out.line("public final class %s {", name);
        out.line("/** Number of the program. */");
        out.line("public static final int NUMBER = %d;", program.number());
        out.line("");
        out.line("private %s() {}", name);
        JavaNames versions = new JavaNames();
        versions.claim(name, program.name(), program.at());
        program.versions().forEach(version -> version(name, version, versions));
        out.line("}");
        return out;
    }

    private void version(String outer, Definition.Version version, JavaNames versions) {
        String name = JavaNames.type(version.name()) + "Operations";
        versions.claim(name, version.name(), version.at());
        out.document("{@code version " + version.name() + "}.");
        out.line("public static final class %s {", name);
        out.line("/** Number of the version. */");
        out.line("public static final int NUMBER = %d;", version.number());
        JavaNames procedures = new JavaNames();
        procedures.claim("NUMBER", "the number of the version", version.at());
        for (Definition.Procedure procedure : version.procedures()) {
            procedures.claim(procedure.name(), procedure.name(), procedure.at());
            String prefix = procedure.name() + "_" + Integer.toUnsignedString(version.number());
            String arguments = type(named(procedure.arguments()), prefix + "_arguments");
            String result = type(named(List.of(procedure.result())), prefix + "_result");
            out.document("Procedure " + Integer.toUnsignedString(procedure.number()) + ".");
            out.line(
                    "public static final XdrOperation<%s, %s> %s =",
                    arguments, result, JavaNames.constant(procedure.name()));
            out.line(
                    "    new XdrOperation<>(\"%s\", %s.NUMBER, NUMBER, %d, %s::new, %s::new);",
                    procedure.name(), outer, procedure.number(), arguments, result);
        }
        out.line("");
        out.line("private %s() {}", name);
        out.line("}");
    }

    private static List<Declaration> named(List<Declaration> values) {
        List<Declaration> named = new ArrayList<>();
        for (Declaration each : values) {
            if (!each.isVoid()) {
                String name = values.size() == 1 ? "value" : "value" + (named.size() + 1);
                named.add(new Declaration(each.form(), each.type(), name, each.size(), each.at()));
            }
        }
        return named;
    }

    /** Class of values; a struct of its own if there are several, or one that is no object. */
    private String type(List<Declaration> values, String name) {
        if (values.isEmpty()) {
            return "XdrVoid";
        }
        Declaration first = values.get(0);
        if (values.size() == 1
                && first.form() == Declaration.Form.SINGLE
                && types.resolve(first.type()).isObject()) {
            return JavaNames.type(types.resolve(first.type()).definition().name());
        }
        types.add(new Definition.StructType(name, values, program.at()));
        return JavaNames.type(name);
    }
}
