package dev.verbena.cli.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Text for HTML. */
public final class Html {
    private Html() {}

    /** Text that may come from anywhere, safe inside an element or a quoted attribute. */
    public static String escape(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\'' -> out.append("&#39;");
                default -> out.append(c < ' ' && c != '\n' && c != '\t' ? '?' : c);
            }
        }
        return out.toString();
    }

    /** Adds a table's cell for a number; a narrow window shows the column's name in the cell. */
    public static void cell(StringBuilder out, String column, String text) {
        out.append("<td class=\"n\" data-column=\"").append(escape(column)).append("\">");
        out.append(escape(text)).append("</td>");
    }

    /** The text of a file beside a class. */
    public static String resource(Class<?> type, String name) {
        try (InputStream in = type.getResourceAsStream(name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException("resource " + name, e);
        }
    }
}
