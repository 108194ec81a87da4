package dev.verbena.cli.terminal;

import java.util.Map;

/** JSON text for programs that read what a command prints. */
public final class Json {
    private Json() {}

    /** A string with its quotes. */
    public static String string(String text) {
        StringBuilder json = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append(String.format("\\u%04x", (int) c));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString();
    }

    /** Strings, numbers, booleans, nulls, lists and maps of them. */
    public static String of(Object value) {
        if (value instanceof Map<?, ?> map) {
            StringBuilder json = new StringBuilder("{");
            map.forEach(
                    (name, member) ->
                            json.append(json.length() == 1 ? "" : ", ")
                                    .append(string(name.toString()))
                                    .append(": ")
                                    .append(of(member)));
            return json.append('}').toString();
        }
        if (value instanceof Iterable<?> list) {
            StringBuilder json = new StringBuilder("[");
            list.forEach(item -> json.append(json.length() == 1 ? "" : ", ").append(of(item)));
            return json.append(']').toString();
        }
        boolean isPlain = value == null || value instanceof Number || value instanceof Boolean;
        return isPlain ? String.valueOf(value) : string(value.toString());
    }
}
