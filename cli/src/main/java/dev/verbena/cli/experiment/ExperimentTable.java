package dev.verbena.cli.experiment;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;

/**
 * One table of an experiment: what is measured for each row, and what is shown of it. An experiment
 * declares it, {@link ExperimentRun} carries it out. One thread.
 */
final class ExperimentTable {
    private final String heading;
    private final String text;
    private final List<Row> rows = new ArrayList<>();
    private final List<String> head = new ArrayList<>();
    private final List<ToDoubleFunction<Row>> columns = new ArrayList<>();
    private final Map<String, ToDoubleFunction<Row>> fields = new LinkedHashMap<>();
    private Function<Row, String> naming = row -> row.name;
    private Function<List<Row>, List<List<String>>> lines = this::lineOfEachRow;
    private BiConsumer<List<Row>, ResultReport> figures = (measured, report) -> {};
    private String caption;
    private Function<List<Row>, Chart> chart;
    private final Map<String, ToDoubleFunction<Row>> curves = new LinkedHashMap<>();

    /** A rate that is measured without the service, for comparison. */
    interface Rate {
        /** MB/s. */
        double measure() throws Exception;
    }

    /**
     * One measurement of a row: of a point, or of a rate.
     *
     * @param progress what the progress line says meanwhile
     */
    record Trial(String progress, ExperimentPoint point, Rate rate) {}

    /** One row: its trials, and then what they gave, in the same order. */
    static final class Row {
        private final String name;
        private final List<Trial> trials = new ArrayList<>();
        private final List<ExperimentResult> results = new ArrayList<>();
        private final List<Double> rates = new ArrayList<>();

        private Row(String name) {
            this.name = name;
        }

        /** Adds the measurement of a point. */
        Row measure(String progress, ExperimentPoint point) {
            trials.add(new Trial(progress, point, null));
            return this;
        }

        /** Adds the measurement of a rate. */
        Row compare(String progress, Rate rate) {
            trials.add(new Trial(progress, null, rate));
            return this;
        }

        String name() {
            return name;
        }

        List<Trial> trials() {
            return trials;
        }

        void add(ExperimentResult result) {
            results.add(result);
        }

        void add(double rate) {
            rates.add(rate);
        }

        /** Of the first point. */
        ExperimentResult result() {
            return results.get(0);
        }

        /** Of the point with this number, from 0. */
        ExperimentResult result(int number) {
            return results.get(number);
        }

        /** The rate that was measured without the service, MB/s. */
        double rate() {
            return rates.get(0);
        }
    }

    /** An empty table; without a heading only its figures and points are reported. */
    ExperimentTable(String heading, String text) {
        this.heading = heading;
        this.text = text;
    }

    /** Adds a row, which has no trials yet. */
    Row row(String name) {
        Row row = new Row(name);
        rows.add(row);
        return row;
    }

    List<Row> rows() {
        return rows;
    }

    /** Names rows by their results. */
    ExperimentTable naming(Function<Row, String> names) {
        naming = names;
        return this;
    }

    /** Title of the column with the rows' names. */
    ExperimentTable head(String title) {
        head.add(title);
        return this;
    }

    /** Adds a column. */
    ExperimentTable column(String title, ToDoubleFunction<Row> value) {
        head.add(title);
        columns.add(value);
        return this;
    }

    /** Adds a column with the mean of a field of {@link ExperimentSamples}, divided by a unit. */
    ExperimentTable mean(String title, int field, double unit) {
        return column(title, row -> row.result().mean(field) / unit);
    }

    /** Shows a line for each percentile instead of one for each row. */
    ExperimentTable percentiles(
            List<String> titles, int[] shares, BiFunction<List<Row>, Integer, double[]> values) {
        head.addAll(titles);
        lines =
                measured ->
                        Arrays.stream(shares)
                                .mapToObj(p -> line(percentile(p), values.apply(measured, p)))
                                .toList();
        return this;
    }

    private static String percentile(int share) {
        return share == 100 ? "largest" : "p" + share;
    }

    /** Adds a field to the points of each row in JSON and CSV. */
    ExperimentTable field(String name, ToDoubleFunction<Row> value) {
        fields.put(name, value);
        return this;
    }

    /** Shows a chart above the table. */
    ExperimentTable chart(String title, Function<List<Row>, Chart> drawn) {
        caption = title;
        chart = drawn;
        return this;
    }

    /** Shows a chart of {@link #curve curves} above the table. */
    ExperimentTable chart(String title, Chart empty, ToDoubleFunction<Row> x) {
        return chart(
                title,
                measured -> {
                    curves.forEach((name, y) -> empty.line(name, values(x), values(y), true));
                    return empty;
                });
    }

    /** Adds a line to the chart, with a dot for each row. */
    ExperimentTable curve(String name, ToDoubleFunction<Row> y) {
        curves.put(name, y);
        return this;
    }

    private double[] values(ToDoubleFunction<Row> value) {
        return rows.stream().mapToDouble(value).toArray();
    }

    /** Adds figures to the summary. */
    ExperimentTable figures(BiConsumer<List<Row>, ResultReport> added) {
        figures = added;
        return this;
    }

    /** The points of a row that was measured. */
    void reportPoints(Row row, ResultReport report) {
        for (ExperimentResult result : row.results) {
            Map<String, Object> point = result.fields();
            fields.forEach((name, value) -> point.put(name, value.applyAsDouble(row)));
            report.point(point);
        }
    }

    /** Everything else, when all rows are measured. */
    void report(ResultReport report) {
        figures.accept(rows, report);
        if (heading != null) {
            report.section(heading, text);
            if (chart != null) {
                report.chart(caption, chart.apply(rows));
            }
            report.table(head, lines.apply(rows));
        }
    }

    private List<List<String>> lineOfEachRow(List<Row> measured) {
        List<List<String>> shown = new ArrayList<>();
        for (Row row : measured) {
            double[] values = columns.stream().mapToDouble(c -> c.applyAsDouble(row)).toArray();
            shown.add(line(naming.apply(row), values));
        }
        return shown;
    }

    /** A line of a table. */
    static List<String> line(String name, double... values) {
        List<String> cells = new ArrayList<>(List.of(name));
        for (double value : values) {
            double size = Math.abs(value);
            String format = size >= 100 ? "%.0f" : size >= 1 ? "%.2f" : "%.4f";
            cells.add(String.format(Locale.ROOT, format, value));
        }
        return cells;
    }
}
