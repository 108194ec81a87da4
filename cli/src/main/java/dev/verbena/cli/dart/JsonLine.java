package dev.verbena.cli.dart;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one value of JSON: maps, lists, strings, longs, booleans. Fractions are not read. */
final class JsonLine {
    private static final int DEPTH_MAX = 8;

    private final String text;
    private int at;

    private JsonLine(String text) {
        this.text = text;
    }

    /**
     * The object of a line.
     *
     * @throws IllegalArgumentException if it is none
     */
    static Map<?, ?> parse(String line) {
        JsonLine reader = new JsonLine(line);
        Object value = reader.value(0);
        if (reader.at != line.length() || !(value instanceof Map<?, ?> map)) {
            throw reader.wrong();
        }
        return map;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON object, at character " + at);
    }

    private char next() {
        if (at == text.length()) {
            throw wrong();
        }
        return text.charAt(at++);
    }

    private void expect(char wanted) {
        if (next() != wanted) {
            throw wrong();
        }
    }

    private boolean has(String wanted) {
        boolean isThere = text.startsWith(wanted, at);
        at += isThere ? wanted.length() : 0;
        return isThere;
    }

    private Object value(int depth) {
        if (depth > DEPTH_MAX) {
            throw wrong();
        }
        if (has("{")) {
            Map<String, Object> map = new LinkedHashMap<>();
            for (boolean isFirst = true; !has("}"); isFirst = false) {
                if (!isFirst) {
                    expect(',');
                }
                expect('"');
                String name = string();
                expect(':');
                map.put(name, value(depth + 1));
            }
            return map;
        }
        if (has("[")) {
            List<Object> list = new ArrayList<>();
            for (boolean isFirst = true; !has("]"); isFirst = false) {
                if (!isFirst) {
                    expect(',');
                }
                list.add(value(depth + 1));
            }
            return list;
        }
        if (has("\"")) {
            return string();
        }
        return has("true") ? Boolean.TRUE : has("false") ? Boolean.FALSE : (Object) number();
    }

    private Long number() {
        int begin = at;
        while (at < text.length() && "-0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        return Long.valueOf(text.substring(begin, at));
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        for (char c = next(); c != '"'; c = next()) {
            if (c == '\\') {
                expect('u');
                if (text.length() - at < 4) {
                    throw wrong();
                }
                c = (char) Integer.parseInt(text.substring(at, at + 4), 16);
                at += 4;
            }
            out.append(c);
        }
        return out.toString();
    }
}
