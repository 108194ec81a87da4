package dev.verbena.jmh;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.ThisMachine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** What {@code verbena bench} measured, as a page, JSON, CSV and lines for a terminal. */
final class BenchReport {
    private static final List<String> SHOWN =
            List.of("p50Ns", "p99Ns", "p999Ns", "p999CorrectedNs");

    private static final String TAIL = "p999Ns";

    private final List<BenchGroup> groups;
    private final Map<String, String> leftOut;
    private final int rounds;

    /** Of groups that had their turns. */
    BenchReport(List<BenchGroup> groups, Map<String, String> leftOut, int rounds) {
        this.groups = groups.stream().filter(group -> !group.series().isEmpty()).toList();
        this.leftOut = new LinkedHashMap<>(leftOut);
        this.rounds = rounds;
        groups.forEach(
                group ->
                        group.failures()
                                .forEach(
                                        (name, why) ->
                                                this.leftOut.put(group.id() + ", " + name, why)));
    }

    /** Rows of the tables, and those whose rounds differ much. */
    private int[] counts() {
        int[] counts = new int[2];
        for (BenchGroup group : groups) {
            for (int bytes : group.lengths()) {
                counts[0]++;
                counts[1] += group.isNoisy(bytes) ? 1 : 0;
            }
        }
        return counts;
    }

    /** One sentence on how far the figures can be trusted. */
    String trust() {
        int[] counts = counts();
        int moved = groups.stream().mapToInt(BenchGroup::moved).sum();
        if (rounds < 2) {
            String done = rounds == 0 ? "No round was finished" : "One round";
            return done + ": no spread is known, so no ratio is a verdict.";
        }
        String text = "%d rounds. In %d of %d rows the rounds differ by more than %.0f %%";
        double spread = 100 * BenchGroup.NOISY_SPREAD;
        return String.format(Locale.ROOT, text, rounds, counts[1], counts[0], spread)
                + (moved == 0 ? "." : "; during " + moved + " turns the host moved a processor.")
                + (counts[1] > 0 || moved > 0 ? " They are marked noisy: measure again." : "");
    }

    /** Writes {@code report.html}, {@code results.json} and {@code points.csv}. */
    void write(Path folder, Map<String, Object> conditions) throws IOException {
        ResultReport report = new ResultReport("Verbena beside C, this machine and others");
        report.section(
                "How it was measured",
                "All programs took turns, each beside a reading of the round trip of a cache line;"
                        + " figures are medians over the rounds, ratios medians over the ratios of"
                        + " each round. Latencies in nanoseconds, bandwidths in 10^9 bytes a second."
                        + " Corrected: a late transfer also counts for those that a steady load"
                        + " would have begun meanwhile. "
                        + trust());
        int[] counts = counts();
        report.figure("rounds", rounds);
        report.figure("rows", counts[0]).figure("noisyRows", counts[1]);
        for (BenchGroup group : groups) {
            add(report, group);
        }
        if (!leftOut.isEmpty()) {
            report.section("Left out", "What could not be measured here, and why.");
            List<List<String>> rows = new ArrayList<>();
            leftOut.forEach((name, why) -> rows.add(List.of(name, shorten(why))));
            report.table(List.of("what", "why"), rows);
        }
        report.figure("leftOut", leftOut);
        Map<String, Object> environment = new LinkedHashMap<>();
        environment.put("processor", ThisMachine.processor());
        environment.put("processors", Runtime.getRuntime().availableProcessors());
        environment.put(
                "system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        environment.put("Java", System.getProperty("java.version"));
        environment.putAll(conditions);
        report.write(folder, environment);
    }

    private static String shorten(String text) {
        String line = text.replace('\n', ' ');
        return line.length() > 200 ? line.substring(0, 200) + "..." : line;
    }

    private void add(ResultReport report, BenchGroup group) {
        report.section(group.title(), placement(group));
        List<String> series = group.series();
        String unit = group.isLatency() ? "nanoseconds" : "10^9 bytes a second";
        Chart chart = new Chart(group.title(), "bytes", unit, true).bytes();
        for (String name : series) {
            List<Integer> lengths =
                    group.lengths().stream()
                            .filter(bytes -> !group.samples(name, bytes, group.figure()).isEmpty())
                            .toList();
            double[] xs = lengths.stream().mapToDouble(Integer::doubleValue).toArray();
            double[] ys =
                    lengths.stream()
                            .mapToDouble(bytes -> group.median(name, bytes, group.figure()))
                            .toArray();
            chart.line(name, xs, ys, true);
        }
        if (group.lengths().size() > 1) {
            report.chart("By length, both axes logarithmic", chart);
        }
        report.table(head(group), rows(group));
        for (int bytes : group.lengths()) {
            series.forEach(name -> point(report, group, name, bytes));
        }
    }

    private static String placement(BenchGroup group) {
        double line = group.lineNs();
        return String.format(
                Locale.ROOT,
                "The cache line's round trip was %.0f ns (%s).%s",
                line,
                line < Turn.NEAR_BELOW_NS ? "near cores" : "far cores",
                group.moved() == 0 ? "" : " It changed during " + group.moved() + " turns.");
    }

    private static List<String> head(BenchGroup group) {
        List<String> head = new ArrayList<>(List.of("bytes"));
        for (String name : group.series()) {
            head.add(name);
            if (name.equals(BenchPlan.OURS) && group.isLatency() && hasPercentiles(group)) {
                head.addAll(List.of("p50", "p99", "p99.9", "p99.9 corrected"));
            } else if (has(group, name, TAIL)) {
                head.add("p99.9");
            }
            if (!name.equals(BenchPlan.OURS) && hasOurs(group)) {
                head.add("ours over it");
            }
        }
        head.add("spread");
        head.add("");
        return head;
    }

    private static boolean hasOurs(BenchGroup group) {
        return group.series().contains(BenchPlan.OURS);
    }

    private static boolean hasPercentiles(BenchGroup group) {
        return has(group, BenchPlan.OURS, SHOWN.get(0));
    }

    private static boolean has(BenchGroup group, String series, String figure) {
        return group.lengths().stream()
                .anyMatch(bytes -> !group.samples(series, bytes, figure).isEmpty());
    }

    private static List<List<String>> rows(BenchGroup group) {
        List<List<String>> rows = new ArrayList<>();
        for (int bytes : group.lengths()) {
            List<String> row = new ArrayList<>(List.of(Integer.toString(bytes)));
            for (String name : group.series()) {
                row.add(text(group.median(name, bytes, group.figure())));
                if (name.equals(BenchPlan.OURS) && group.isLatency() && hasPercentiles(group)) {
                    SHOWN.forEach(each -> row.add(text(group.median(name, bytes, each))));
                } else if (has(group, name, TAIL)) {
                    row.add(text(group.median(name, bytes, TAIL)));
                }
                if (!name.equals(BenchPlan.OURS) && hasOurs(group)) {
                    double ratio = group.ratio(BenchPlan.OURS, name, bytes);
                    row.add(Double.isNaN(ratio) ? "" : String.format(Locale.ROOT, "%.2f", ratio));
                }
            }
            OptionalDouble spread =
                    group.series().stream()
                            .mapToDouble(name -> group.spread(name, bytes))
                            .filter(each -> !Double.isNaN(each))
                            .max();
            row.add(spread.isEmpty() ? "" : Math.round(100 * spread.getAsDouble()) + " %");
            row.add(noisy(group, bytes));
            rows.add(row);
        }
        return rows;
    }

    private static String noisy(BenchGroup group, int bytes) {
        return group.isNoisy(bytes) || group.moved() > 0 ? "noisy" : "";
    }

    private static void point(ResultReport report, BenchGroup group, String series, int bytes) {
        List<Double> samples = group.samples(series, bytes, group.figure());
        if (samples.isEmpty()) {
            return;
        }
        Map<String, Object> point = new LinkedHashMap<>();
        point.put("group", group.id());
        point.put("series", series);
        point.put("bytes", bytes);
        point.put("unit", group.figure());
        point.put("median", group.median(series, bytes, group.figure()));
        point.put("least", samples.stream().mapToDouble(each -> each).min().orElseThrow());
        point.put("greatest", samples.stream().mapToDouble(each -> each).max().orElseThrow());
        point.put("rounds", samples.size());
        point.put("noisy", group.isNoisy(series, bytes) || group.moved() > 0);
        for (String percentile : BenchProgram.PERCENTILES) {
            if (!group.samples(series, bytes, percentile).isEmpty()) {
                point.put(percentile, group.median(series, bytes, percentile));
            }
        }
        double ratio = group.ratio(BenchPlan.OURS, series, bytes);
        if (!series.equals(BenchPlan.OURS) && !Double.isNaN(ratio)) {
            point.put("oursOverIt", ratio);
        }
        report.point(point);
    }

    /**
     * All rows in one table for {@code docs/benchmarks.md}: in each cell the median, the percentile
     * 99.9 where there is one, and ours over it.
     */
    String table() {
        StringBuilder table =
                new StringBuilder(
                        """
                        | what | bytes | Verbena | beside it | line | |
                        |---|---|---|---|---|---|
                        """);
        for (BenchGroup group : groups) {
            for (int bytes : group.lengths()) {
                List<String> others = new ArrayList<>();
                for (String name : group.series()) {
                    if (!name.equals(BenchPlan.OURS)) {
                        others.add(other(group, name, bytes));
                    }
                }
                others.removeIf(String::isEmpty);
                table.append(
                        String.format(
                                Locale.ROOT,
                                "| %s | %d | %s | %s | %.0f | %s |%n",
                                group.id(),
                                bytes,
                                cell(group, BenchPlan.OURS, bytes),
                                String.join("; ", others),
                                group.lineNs(),
                                noisy(group, bytes)));
            }
        }
        return table.toString();
    }

    private static String other(BenchGroup group, String name, int bytes) {
        String cell = cell(group, name, bytes);
        double ratio = group.ratio(BenchPlan.OURS, name, bytes);
        if (cell.isEmpty()) {
            return "";
        }
        String said = name + " " + cell;
        return Double.isNaN(ratio) ? said : said + String.format(Locale.ROOT, ": %.2f", ratio);
    }

    private static String cell(BenchGroup group, String name, int bytes) {
        double value = group.median(name, bytes, group.figure());
        if (Double.isNaN(value)) {
            return "";
        }
        double tail = group.median(name, bytes, TAIL);
        String unit = " " + group.figure();
        return text(value) + unit + (Double.isNaN(tail) ? "" : " (" + text(tail) + ")");
    }

    /** A line for each length, with each program's figure and ours over it. */
    List<String> lines(BenchGroup group) {
        List<String> lines = new ArrayList<>();
        for (int bytes : group.lengths()) {
            StringBuilder line = new StringBuilder();
            line.append(String.format(Locale.ROOT, "%-18s %9d B ", group.id(), bytes));
            for (String name : group.series()) {
                double value = group.median(name, bytes, group.figure());
                if (!Double.isNaN(value)) {
                    double ratio = group.ratio(BenchPlan.OURS, name, bytes);
                    line.append("  ").append(name).append(' ').append(text(value));
                    line.append(' ').append(group.figure());
                    if (!name.equals(BenchPlan.OURS) && !Double.isNaN(ratio)) {
                        line.append(String.format(Locale.ROOT, " (%.2f)", ratio));
                    }
                }
            }
            lines.add(line.toString());
        }
        return lines;
    }

    private static String text(double value) {
        if (Double.isNaN(value)) {
            return "";
        }
        return String.format(Locale.ROOT, value >= 100 ? "%,.0f" : "%.2f", value);
    }

    /** The load of the machine over the latest minute, as the system says it. */
    static String load() {
        try {
            return Files.readString(Path.of("/proc/loadavg")).split(" ")[0];
        } catch (IOException e) {
            return "unknown";
        }
    }
}
