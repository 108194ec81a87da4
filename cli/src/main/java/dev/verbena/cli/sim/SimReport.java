package dev.verbena.cli.sim;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.Text;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.LinkDetails;
import dev.verbena.nsim.network.LinkStatistics;
import dev.verbena.nsim.scenario.Curve;
import dev.verbena.nsim.scenario.Measure;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What runs of the simulator came to, as one page with curves and a heat map, as JSON, and as CSV:
 * {@code points.csv} one line per run; {@code links.csv} and {@code ranks.csv} of the last run. One
 * thread.
 */
final class SimReport {
    private static final double PERCENT = 100;

    private final Measure measure;
    private final ResultReport page;
    private final Map<String, List<double[]>> curves = new LinkedHashMap<>();
    private final List<List<String>> rows = new ArrayList<>();
    private SimulationResult last;
    private String lastName;

    SimReport(String scenario, String description, Measure measure) {
        this.measure = measure;
        page = new ResultReport("Simulation: " + scenario);
        page.section(scenario, description);
    }

    /** One more run. */
    void add(Curve curve, SimulationResult result, Map<String, Object> fields) {
        double value = curve.measure().of(result);
        curves.computeIfAbsent(curve.name(), c -> new ArrayList<>())
                .add(new double[] {result.processes(), value});
        rows.add(
                List.of(
                        curve.name(),
                        Integer.toString(result.processes()),
                        Text.format("%.4f", value),
                        Text.format("%.3f", result.executionPs() / 1e6),
                        Text.format("%.3f", result.latency().getValueAtPercentile(50) / 1e3),
                        Text.format("%.3f", result.latency().getMaxValue() / 1e3),
                        Text.format("%.1f", PERCENT * busiest(result)[1])));
        Map<String, Object> point = new LinkedHashMap<>(fields);
        point.put("curve", curve.name());
        point.put("value", value);
        point.put("unit", measure.unit());
        page.point(point);
        last = result;
        lastName = curve.name() + ", " + result.processes() + " processes";
    }

    /** The busiest cable and the part of the time that it was busy. */
    static double[] busiest(SimulationResult result) {
        LinkStatistics links = result.links();
        double[] best = {-1, -1};
        for (int link = 0; link < links.count(); link++) {
            double part = links.busyPs(link) / (double) Math.max(1, result.lastPs());
            if (part > best[1] && links.isConnected(link)) {
                best = new double[] {link, part};
            }
        }
        return best;
    }

    /** From where to where a cable leads. */
    static String name(LinkStatistics links, int link) {
        return end(links.from(link)) + " to " + end(links.to(link));
    }

    private static String end(int at) {
        return at < 0 ? "node " + (-1 - at) : "router " + at;
    }

    /** Writes all into a folder. */
    void write(Path folder, Map<String, Object> environment) throws IOException {
        Chart chart =
                new Chart("By number of processes", "processes", measure.axis(), false).doubling();
        curves.forEach(
                (name, points) -> {
                    double[] xs = points.stream().mapToDouble(p -> p[0]).toArray();
                    double[] ys = points.stream().mapToDouble(p -> p[1]).toArray();
                    chart.line(name, xs, ys, true);
                });
        page.chart(measure.axis() + ", by number of processes", chart);
        page.table(
                List.of(
                        "curve",
                        "processes",
                        measure.unit(),
                        "execution, us",
                        "put, median us",
                        "put, longest us",
                        "busiest cable, %"),
                rows);
        page.section(
                "Cables",
                ("Part of the time that each cable was busy, in the last run (%s), from "
                                + "white (never) to red (always): a row for each router, a column for "
                                + "each of its ports; below, from the nodes. A cell says more when "
                                + "pointed at; links.csv has all figures.")
                        .formatted(lastName));
        page.html(HeatMap.of(last));
        SimSeries series = last.details() == null ? null : new SimSeries(last);
        if (series != null) {
            page.chart("Use of cables over time, in that run", series.chart());
        }
        page.write(folder, environment);
        links(folder.resolve("links.csv"));
        ranks(folder.resolve("ranks.csv"));
        if (series != null) {
            series.write(folder.resolve("series.csv"));
        }
    }

    private void links(Path file) throws IOException {
        LinkStatistics links = last.links();
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            String more = last.details() == null ? "" : ",wait_us,queue_mean,queue_max";
            out.write("from,to,bytes,packets,busy_us,busy_part,credit_stalls" + more + "\n");
            for (int link = 0; link < links.count(); link++) {
                if (links.isConnected(link)) {
                    out.write(
                            Text.format(
                                    "%s,%s,%d,%d,%.6f,%.6f,%d%s%n",
                                    end(links.from(link)),
                                    end(links.to(link)),
                                    links.bytes(link),
                                    links.packets(link),
                                    links.busyPs(link) / 1e6,
                                    links.busyPs(link) / (double) Math.max(1, last.lastPs()),
                                    links.creditStalls(link),
                                    queue(link)));
                }
            }
        }
    }

    private String queue(int link) {
        LinkDetails details = last.details();
        return details == null
                ? ""
                : Text.format(
                        ",%.6f,%.6f,%d",
                        details.waitPs(link) / 1e6,
                        details.queueMean(link, last.lastPs()),
                        details.queueMax(link));
    }

    private void ranks(Path file) throws IOException {
        try (BufferedWriter out = Files.newBufferedWriter(file)) {
            out.write("rank,end_us,compute_us,poll_us,complete_us\n");
            for (int rank = 0; rank < last.processes(); rank++) {
                out.write(
                        Text.format(
                                "%d,%.6f,%.6f,%.6f,%.6f%n",
                                rank,
                                last.endPs(rank) / 1e6,
                                last.computePs(rank) / 1e6,
                                last.pollPs(rank) / 1e6,
                                last.completePs(rank) / 1e6));
            }
        }
    }
}
