package dev.verbena.cli.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Text for HTML. */
public final class Html {
    private static final Pattern PLACE = Pattern.compile("\\{\\{(=?)(\\w+)}}");

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

    /**
     * A table; the first column is text, the others are numbers, in whose cells a narrow window
     * shows the column's name.
     *
     * @param attributes of the element
     */
    public static String table(String attributes, List<String> head, List<List<String>> rows) {
        StringBuilder out = new StringBuilder("<table" + attributes + "><tr>");
        for (int i = 0; i < head.size(); i++) {
            out.append(i == 0 ? "<th>" : "<th class=\"n\">");
            out.append(escape(head.get(i))).append("</th>");
        }
        for (List<String> row : rows) {
            out.append("</tr>\n<tr><td>").append(escape(row.get(0))).append("</td>");
            for (int i = 1; i < row.size(); i++) {
                out.append("<td class=\"n\" data-column=\"").append(escape(head.get(i)));
                out.append("\">").append(escape(row.get(i))).append("</td>");
            }
        }
        return out.append("</tr>\n</table>").toString();
    }

    /**
     * The text of a file beside a class, in which {@code {{name}}} stands for text and {@code
     * {{=name}}} for HTML.
     */
    public static String page(Class<?> type, String file, Map<String, ?> values) {
        return PLACE.matcher(resource(type, file))
                .replaceAll(
                        place -> {
                            String value = values.get(place.group(2)).toString();
                            boolean isText = place.group(1).isEmpty();
                            return Matcher.quoteReplacement(isText ? escape(value) : value);
                        });
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
