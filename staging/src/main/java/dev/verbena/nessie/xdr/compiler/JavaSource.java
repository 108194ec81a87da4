package dev.verbena.nessie.xdr.compiler;

import java.util.List;
import java.util.regex.Pattern;

/** Text of one generated file: lines with their indentation, and imports of what they use. */
final class JavaSource {
    private static final List<String> IMPORTS =
            List.of(
                    "dev.verbena.nessie.xdr.XdrBooleans",
                    "dev.verbena.nessie.xdr.XdrDoubles",
                    "dev.verbena.nessie.xdr.XdrEnum",
                    "dev.verbena.nessie.xdr.XdrEnums",
                    "dev.verbena.nessie.xdr.XdrException",
                    "dev.verbena.nessie.xdr.XdrFloats",
                    "dev.verbena.nessie.xdr.XdrInts",
                    "dev.verbena.nessie.xdr.XdrList",
                    "dev.verbena.nessie.xdr.XdrLongs",
                    "dev.verbena.nessie.xdr.XdrObject",
                    "dev.verbena.nessie.xdr.XdrOpaque",
                    "dev.verbena.nessie.xdr.XdrOperation",
                    "dev.verbena.nessie.xdr.XdrOptional",
                    "dev.verbena.nessie.xdr.XdrString",
                    "dev.verbena.nessie.xdr.XdrVoid",
                    "java.nio.ByteOrder",
                    "java.util.Objects",
                    "org.agrona.DirectBuffer",
                    "org.agrona.MutableDirectBuffer");

    private final StringBuilder body = new StringBuilder();
    private int depth;

    /** A line; a brace at its end or beginning changes the indentation. */
    void line(String format, Object... values) {
        String line = values.length == 0 ? format : format.formatted(values);
        if (line.startsWith("}")) {
            depth--;
        }
        body.append("    ".repeat(line.isEmpty() ? 0 : depth)).append(line).append('\n');
        if (line.endsWith("{")) {
            depth++;
        }
    }

    /** An empty line and the documentation of what follows. */
    void document(String text) {
        line("");
        line("/** %s */", text);
    }

    /** An empty line and the head of a method that overrides another. */
    void override(String head, Object... values) {
        line("");
        line("@Override");
        line(head, values);
    }

    /** The whole file. */
    String text(String marker, String packageName) {
        StringBuilder text = new StringBuilder(marker).append("\npackage ").append(packageName);
        text.append(";\n\n");
        for (String each : IMPORTS) {
            String name = each.substring(each.lastIndexOf('.') + 1);
            if (Pattern.compile("\\b" + name + "\\b").matcher(body).find()) {
                text.append("import ").append(each).append(";\n");
            }
        }
        return text.append('\n').append(body).toString().replace("\n\n\n", "\n\n");
    }
}
