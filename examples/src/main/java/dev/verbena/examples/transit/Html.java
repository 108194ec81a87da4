package dev.verbena.examples.transit;

/** Text for HTML and JSON. */
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

    /** A JSON string with its quotes. */
    public static String json(String text) {
        StringBuilder out = new StringBuilder(text.length() + 2).append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ') {
                out.append(String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    /** Adds a table's cell for a number; a narrow window shows the column's name in the cell. */
    static void cell(StringBuilder out, String column, String text) {
        out.append("<td class=\"n\" data-column=\"").append(escape(column)).append("\">");
        out.append(escape(text)).append("</td>");
    }
}
