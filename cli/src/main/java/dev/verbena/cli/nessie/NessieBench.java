package dev.verbena.cli.nessie;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.cli.terminal.TransportOption;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code nessie bench}: what calls cost, beside what they are made of and beside others. */
@Command(
        name = "bench",
        description = {
            "Measure calls and their bulk data beside sends, puts and gets of the same length, and"
                    + " beside others where they are on the class path.",
            "Each round runs all programs once, one after the other; figures are medians."
        },
        mixinStandardHelpOptions = true,
        sortOptions = false)
public final class NessieBench extends CliCommand {
    @Option(
            names = "--transport",
            paramLabel = "SCHEME",
            description = "Transport: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.",
            completionCandidates = TransportOption.Schemes.class,
            defaultValue = "shm")
    private String scheme;

    @Option(
            names = "--rounds",
            paramLabel = "N",
            defaultValue = "5",
            description = "How often everything is measured; default ${DEFAULT-VALUE}.")
    private int rounds;

    @Option(
            names = "--only",
            paramLabel = "NAME",
            split = ",",
            description = "These rows only: null, write, read, encode, clients, torus.")
    private List<String> only = List.of();

    @Option(
            names = "--quick",
            hidden = true,
            description = "Try whether it works: the figures mean nothing.")
    private boolean isQuick;

    @Option(
            names = "--output",
            paramLabel = "DIR",
            defaultValue = "nessie-bench",
            description = "New folder for report.html, results.json, points.csv.")
    private Path output;

    @Override
    public Integer call() throws Exception {
        TransportOption.require(spec, scheme);
        inRange("--rounds", rounds, 1, 1000);
        List<BenchRow> rows = BenchRow.of(scheme, isQuick);
        List<String> names = rows.stream().map(BenchRow::group).distinct().toList();
        for (String name : only) {
            if (!names.contains(name)) {
                throw wrong("--only %s is none of %s", name, String.join(", ", names));
            }
        }
        rows = rows.stream().filter(row -> only.isEmpty() || only.contains(row.group())).toList();
        Path folder = OutputFolder.prepare("--output", output);
        try (Termination termination = new Termination(10_000)) {
            for (int round = 0; round < rounds; round++) {
                for (BenchRow row : rows) {
                    if (termination.await(1)) {
                        return 1;
                    }
                    row.measure(folder);
                }
            }
        }
        print(rows);
        write(rows, folder);
        return 0;
    }

    private void print(List<BenchRow> rows) {
        say("%-46s %12s %12s %8s".formatted("", "ours", "beside", "ratio"));
        for (BenchRow row : rows) {
            say(
                    "%-46s %12s %12s %8s"
                            .formatted(
                                    row.name(),
                                    text(row.value()) + " " + row.unit(),
                                    row.base() == null ? "" : text(row.base().value()),
                                    row.base() == null
                                            ? ""
                                            : "%.2f".formatted(row.value() / row.base().value())));
        }
    }

    private static String text(double value) {
        return value >= 1000
                ? String.format(Locale.ROOT, "%,.0f", value)
                : String.format(Locale.ROOT, "%.1f", value);
    }

    private void write(List<BenchRow> rows, Path folder) throws IOException {
        ResultReport report = new ResultReport("Nessie: what a call costs");
        List<List<String>> lines = new ArrayList<>();
        for (BenchRow row : rows) {
            BenchRow base = row.base();
            lines.add(
                    List.of(
                            row.name(),
                            text(row.value()),
                            row.unit(),
                            base == null ? "" : base.name(),
                            base == null ? "" : "%.2f".formatted(row.value() / base.value())));
            Map<String, Object> point = new LinkedHashMap<>();
            point.put("row", row.name());
            point.put("unit", row.unit());
            point.put("median", row.value());
            point.put("samples", row.samples());
            report.point(point);
            report.figure(row.name(), row.value());
        }
        report.section(
                "Calls beside what they are made of",
                "Medians of " + rounds + " rounds, in which all programs took turns.");
        report.table(List.of("what", "median", "unit", "beside", "ratio"), lines);
        chart(rows, report);
        Map<String, Object> environment = new LinkedHashMap<>();
        environment.put("processor", ThisMachine.processor());
        environment.put("processors", Runtime.getRuntime().availableProcessors());
        environment.put(
                "system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        environment.put("Java", System.getProperty("java.version"));
        environment.put("transport", scheme);
        report.write(folder, environment);
        say("written: " + folder.resolve("report.html"));
    }

    /** Throughput by the number of clients, if it was measured. */
    private static void chart(List<BenchRow> rows, ResultReport report) {
        Chart chart = new Chart("bulk data by clients", "clients", "MB/s", false).doubling();
        boolean isDrawn = false;
        String[] styles = {"one", "two", "three", "four"};
        int style = 0;
        for (String line : List.of("write_rdma", "read_rdma", "torus, write", "torus, read")) {
            List<BenchRow> found = rows.stream().filter(row -> row.isOfLine(line)).toList();
            if (!found.isEmpty()) {
                double[] xs = found.stream().mapToDouble(BenchRow::clients).toArray();
                double[] ys = found.stream().mapToDouble(BenchRow::value).toArray();
                chart.line(line, styles[style++], xs, ys, true);
                isDrawn = true;
            }
        }
        if (isDrawn) {
            report.section(
                    "Clients",
                    "One server; each client has 4 requests under way. Torus: simulated, a node for each"
                            + " client.");
            report.chart("Payload of all clients", chart);
        }
    }
}
