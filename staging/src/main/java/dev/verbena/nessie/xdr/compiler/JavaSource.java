package dev.verbena.nessie.xdr.compiler;

import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Text of one generated file: lines with their indentation, and imports of what they use. */
final class JavaSource {
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

    /** Several lines. */
    void lines(String format, Object... values) {
        format.formatted(values).lines().forEach(each -> line(each.strip()));
    }

    /** A method that overrides another. */
    void override(String head, String body) {
        lines("\n@Override\n%s {\n%s\n}", head, body.strip());
    }

    /** Adds what makes a text of an object of a type, with statements for its fields. */
    void describe(String type, String fields) {
        String text = "text.append(\"%s{\");\n%stext.append('}');".formatted(type, fields);
        override("protected void xdrDescribe(StringBuilder text)", text);
    }

    /** The whole file. */
    String text(String marker, String packageName) {
        String imports =
                JavaNames.IMPORTS.stream()
                        .filter(each -> isUsed(each.replaceFirst(".*\\.", "")))
                        .map(each -> "import " + each + ";\n")
                        .collect(Collectors.joining());
        return marker + "\npackage " + packageName + ";\n\n" + imports + "\n" + body;
    }

    private boolean isUsed(String name) {
        return Pattern.compile("\\b" + name + "\\b").matcher(body).find();
    }
}
