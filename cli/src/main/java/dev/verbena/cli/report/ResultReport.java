package dev.verbena.cli.report;

import dev.verbena.cli.terminal.Json;
import dev.verbena.cli.terminal.Text;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/**
 * Results of an experiment as one self-contained page, as JSON and as a table of all points in CSV.
 * One thread.
 */
public final class ResultReport {
    private final String title;
    private final StringBuilder body = new StringBuilder();
    private final Map<String, Object> summary = new LinkedHashMap<>();
    private final List<Object> points = new ArrayList<>();

    /** An empty page. */
    public ResultReport(String title) {
        this.title = title;
    }

    /** Begins a section. */
    public ResultReport section(String heading, String text) {
        body.append("<h2>").append(Html.escape(heading)).append("</h2>\n");
        return paragraph(text);
    }

    /** Adds text to the section. */
    public ResultReport paragraph(String text) {
        return html("<p>" + Html.escape(text) + "</p>\n");
    }

    /** Adds a chart to the section. */
    public ResultReport chart(String caption, Chart chart) {
        return card(caption, chart.svg());
    }

    /** Adds bars to the section. */
    public ResultReport bars(String caption, Bars bars) {
        return card(caption, bars.svg());
    }

    private ResultReport card(String caption, String svg) {
        return html(
                "<div class=\"card\"><h3>%s</h3>%s</div>\n".formatted(Html.escape(caption), svg));
    }

    /** The first column is text, the others are numbers. */
    public ResultReport table(List<String> head, List<List<String>> rows) {
        return html("<div class=\"scroll\">" + Html.table("", head, rows) + "</div>\n");
    }

    /** A figure of the whole experiment. */
    public ResultReport figure(String name, Object value) {
        summary.put(name, value);
        return this;
    }

    /** The figures so far, by name. */
    public Map<String, Object> summary() {
        return summary;
    }

    /** A line of points.csv. */
    public ResultReport point(Map<String, Object> fields) {
        points.add(fields);
        return this;
    }

    /** A piece of the page that is HTML already. */
    public ResultReport html(String text) {
        body.append(text);
        return this;
    }

    /** Writes {@code report.html}, {@code results.json} and {@code points.csv}. */
    public void write(Path folder, Map<String, Object> environment) throws IOException {
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("experiment", title);
        all.put("environment", environment);
        all.put("summary", summary);
        all.put("points", points);
        Files.writeString(folder.resolve("results.json"), json(all, 0) + "\n");
        Files.writeString(folder.resolve("points.csv"), csv());
        Files.writeString(folder.resolve("report.html"), html(environment));
    }

    private String html(Map<String, Object> environment) {
        List<String> parts = new ArrayList<>();
        environment.forEach((name, value) -> parts.add(name + ": " + value));
        return Html.page(
                ResultReport.class,
                "result.html",
                Map.of(
                        "title",
                        title,
                        "style",
                        Html.resource(Html.class, "report.css"),
                        "environment",
                        String.join("; ", parts),
                        "body",
                        body));
    }

    private String csv() {
        TreeSet<String> columns = new TreeSet<>();
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Object point : points) {
            Map<String, Object> row = new LinkedHashMap<>();
            flatten("", (Map<?, ?>) point, row);
            columns.addAll(row.keySet());
            rows.add(row);
        }
        StringBuilder text = new StringBuilder(String.join(",", columns)).append('\n');
        for (Map<String, Object> row : rows) {
            List<String> cells = new ArrayList<>();
            for (String column : columns) {
                Object value = row.get(column);
                cells.add(value == null ? "" : cell(plain(value)));
            }
            text.append(String.join(",", cells)).append('\n');
        }
        return text.toString();
    }

    /** In quotes if it would be taken for several. */
    private static String cell(String text) {
        boolean isPlain = text.chars().noneMatch(c -> c == ',' || c == '"' || c == '\n');
        return isPlain ? text : '"' + text.replace("\"", "\"\"") + '"';
    }

    private static void flatten(String prefix, Map<?, ?> from, Map<String, Object> to) {
        from.forEach(
                (key, value) -> {
                    if (value instanceof Map<?, ?> inner) {
                        flatten(prefix + key + "_", inner, to);
                    } else {
                        to.put(prefix + key, value);
                    }
                });
    }

    private static String plain(Object value) {
        if (value instanceof Double || value instanceof Float) {
            double number = ((Number) value).doubleValue();
            return Double.isFinite(number) ? Text.format("%.6g", number) : "null";
        }
        return value.toString();
    }

    /** Maps, lists, numbers, truth values and text. */
    public static String json(Object value, int depth) {
        String indent = "\n" + "  ".repeat(depth + 1);
        String end = "\n" + "  ".repeat(depth);
        if (value instanceof Map<?, ?> map) {
            List<String> parts = new ArrayList<>();
            map.forEach(
                    (key, each) ->
                            parts.add(Json.string(key.toString()) + ": " + json(each, depth + 1)));
            return "{" + indent + String.join("," + indent, parts) + end + "}";
        }
        if (value instanceof List<?> list) {
            List<String> parts = new ArrayList<>();
            list.forEach(each -> parts.add(json(each, depth + 1)));
            return "[" + indent + String.join("," + indent, parts) + end + "]";
        }
        boolean isBare = value == null || value instanceof Number || value instanceof Boolean;
        return isBare ? value == null ? "null" : plain(value) : Json.string(value.toString());
    }
}
