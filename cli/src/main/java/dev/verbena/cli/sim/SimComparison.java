package dev.verbena.cli.sim;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.Columns;
import dev.verbena.cli.terminal.Text;
import dev.verbena.nsim.scenario.Calibration;
import dev.verbena.nsim.scenario.Measure;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Real figures beside predicted ones: as a table, as JSON, as a page with curves. One thread. */
final class SimComparison {
    private static final double PERCENT = 100;

    private final String scheme;
    private final Calibration calibration;
    private final List<Point> points = new ArrayList<>();

    SimComparison(String scheme, Calibration calibration) {
        this.scheme = scheme;
        this.calibration = calibration;
    }

    /** One scenario with one number of processes. */
    record Point(String scenario, Measure measure, int size, double real, double predicted) {
        double errorPercent() {
            return real == 0 ? 0 : PERCENT * (predicted - real) / real;
        }

        private Map<String, Object> fields() {
            Map<String, Object> fields = new LinkedHashMap<>();
            fields.put("scenario", scenario);
            fields.put("processes", size);
            fields.put("unit", measure.unit());
            fields.put("real", real);
            fields.put("predicted", predicted);
            fields.put("error_percent", errorPercent());
            return fields;
        }
    }

    void add(Point point) {
        points.add(point);
    }

    void print(PrintWriter out, int width) {
        String calibrated =
                Text.format(
                        "calibrated over %s: node latency %.3f us, copying %.3f GB/s per process",
                        scheme, calibration.latencyPs() / 1e6, calibration.bytesPerSecond() / 1e9);
        out.print(Columns.fold(calibrated, width));
        List<Object[]> rows = new ArrayList<>();
        rows.add(
                new Object[] {
                    "scenario", "processes", "real", "predicted", Text.format("%8s", "error")
                });
        int last = 0;
        for (Point p : points) {
            String error = Text.format("%+7.1f%%  %s", p.errorPercent(), p.measure.unit());
            last = Math.max(last, error.length());
            rows.add(
                    new Object[] {
                        p.scenario,
                        p.size,
                        Text.format("%.4f", p.real),
                        Text.format("%.4f", p.predicted),
                        error
                    });
        }
        int[] widths = {-24, 9, 12, 12, -last};
        for (Object[] row : rows) {
            Columns.row(widths, width, row).forEach(line -> out.println(line.stripTrailing()));
        }
    }

    Map<String, Object> json() {
        Map<String, Object> all = new LinkedHashMap<>(calibrated());
        all.put("points", points.stream().map(Point::fields).toList());
        return all;
    }

    private Map<String, Object> calibrated() {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("node_latency_us", calibration.latencyPs() / 1e6);
        fields.put("copy_gb_per_s", calibration.bytesPerSecond() / 1e9);
        return fields;
    }

    ResultReport report() {
        ResultReport report = new ResultReport("Measured and predicted");
        report.section(
                "Measured and predicted",
                Text.format(
                        "The same programs as real processes over %s and in the simulator, which"
                                + " knows two numbers of this machine: the node latency, %.3f us,"
                                + " and the rate of copying, %.3f GB/s per process.",
                        scheme, calibration.latencyPs() / 1e6, calibration.bytesPerSecond() / 1e9));
        calibrated().forEach(report::figure);
        for (String name : scenarios()) {
            report.chart(name + ": measured and predicted", curves(name));
        }
        report.chart("Error of the predictions", errors());
        List<List<String>> rows = new ArrayList<>();
        for (Point p : points) {
            report.point(p.fields());
            rows.add(
                    List.of(
                            p.scenario,
                            Integer.toString(p.size),
                            Text.format("%.4f %s", p.real, p.measure.unit()),
                            Text.format("%.4f", p.predicted),
                            Text.format("%+.1f", p.errorPercent())));
        }
        report.table(List.of("scenario", "processes", "real", "predicted", "error, %"), rows);
        return report;
    }

    private List<String> scenarios() {
        return points.stream().map(p -> p.scenario).distinct().toList();
    }

    private List<Point> of(String scenario) {
        return points.stream().filter(p -> p.scenario.equals(scenario)).toList();
    }

    private Chart curves(String name) {
        List<Point> own = of(name);
        double[] xs = own.stream().mapToDouble(Point::size).toArray();
        double[] real = own.stream().mapToDouble(Point::real).toArray();
        double[] expected = own.stream().mapToDouble(Point::predicted).toArray();
        return new Chart(name, "processes", own.get(0).measure.axis(), false)
                .doubling()
                .line("real", xs, real, true)
                .line("predicted", xs, expected, true);
    }

    private Chart errors() {
        Chart chart = new Chart("error", "processes", "error, %", false).doubling();
        for (String name : scenarios()) {
            List<Point> own = of(name);
            chart.line(
                    name,
                    own.stream().mapToDouble(Point::size).toArray(),
                    own.stream().mapToDouble(Point::errorPercent).toArray(),
                    true);
        }
        return chart;
    }
}
