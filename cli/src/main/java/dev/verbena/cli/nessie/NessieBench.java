package dev.verbena.cli.nessie;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.CliCommand;
import dev.verbena.cli.terminal.Messages;
import dev.verbena.cli.terminal.OutputFolder;
import dev.verbena.cli.terminal.ProgressLine;
import dev.verbena.cli.terminal.Termination;
import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.cli.terminal.TransportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
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
        sortOptions = false)
public final class NessieBench extends CliCommand {
    private static final List<String> CLIENTS =
            List.of("client processes", "write_rdma, MB/s", "read_rdma, MB/s", "calls/s");

    /** The longest that a row is measured. */
    private static final long CLOSE_MS = 130_000;

    private static final long SIGNAL_MS = 100;

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
            description = "These rows only: null, write, read, encode, clients, torus, mpi.")
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
        Path yardstick = output.resolve("mpi_yardstick");
        List<BenchRow> rows = BenchRows.of(scheme, yardstick, isQuick);
        List<String> names = rows.stream().map(BenchRow::group).distinct().toList();
        for (String name : only) {
            if (!names.contains(name)) {
                throw wrong("--only %s is none of %s", name, String.join(", ", names));
            }
        }
        if (!only.isEmpty()) {
            rows.removeIf(row -> !only.contains(row.group()));
        }
        Path folder = OutputFolder.prepare("--output", output);
        compile(rows, yardstick);
        boolean isWhole;
        try (Termination termination = new Termination(CLOSE_MS)) {
            isWhole = measure(rows, folder, termination);
        }
        Files.deleteIfExists(yardstick);
        rows.removeIf(row -> row.samples().isEmpty());
        print(rows);
        write(rows, folder);
        if (!isWhole) {
            say("ended early: the figures are of fewer rounds, and some may be missing");
        }
        return isWhole ? 0 : 1;
    }

    /** Whether all was measured; not when the user has ended it before. */
    private boolean measure(List<BenchRow> rows, Path folder, Termination termination)
            throws IOException, InterruptedException {
        ProgressLine progress = new ProgressLine(out());
        int done = 0;
        try {
            for (int round = 0; round < rounds; round++) {
                for (BenchRow row : rows) {
                    progress.progress(done++, (long) rounds * rows.size(), row.name());
                    row.measure(folder);
                    if (termination.await(1)) {
                        return done == rounds * rows.size();
                    }
                }
            }
            return true;
        } catch (Messages.Failure e) {
            // The signal ends the program that is measured, too.
            if (termination.await(SIGNAL_MS)) {
                return false;
            }
            throw e;
        } finally {
            progress.end();
        }
    }

    /** Without Open MPI its rows are left out. */
    private void compile(List<BenchRow> rows, Path yardstick)
            throws IOException, InterruptedException {
        if (rows.stream().anyMatch(NessieBench::isOfMpi)) {
            String why = BenchRows.compile(yardstick);
            if (why != null) {
                rows.removeIf(NessieBench::isOfMpi);
                say("without the lines of MPI: " + why);
            }
        }
    }

    private static boolean isOfMpi(BenchRow row) {
        return row.name().startsWith("MPI_");
    }

    private void print(List<BenchRow> rows) {
        say("%-46s %12s %12s %8s".formatted("", "ours", "beside", "ratio"));
        for (BenchRow row : rows) {
            BenchRow base = row.measuredBase();
            say(
                    "%-46s %12s %12s %8s"
                            .formatted(
                                    row.name(),
                                    text(row.value()) + " " + row.unit(),
                                    base == null ? "" : text(base.value()),
                                    ratio(row, base)));
        }
        List<List<String>> clients = clients(rows);
        if (!clients.isEmpty()) {
            say("");
            say(columns(CLIENTS));
            clients.forEach(line -> say(columns(line)));
        }
    }

    private static String columns(List<String> words) {
        return String.join("", words.stream().map("%19s"::formatted).toList());
    }

    /** For each number of client processes, what was measured with so many. */
    private static List<List<String>> clients(List<BenchRow> rows) {
        Map<Integer, List<String>> lines = new TreeMap<>();
        for (String name : List.of("write_rdma", "read_rdma", "RPC of 16 B")) {
            for (BenchRow row : rows) {
                if (row.isOfLine(name, "clients")) {
                    lines.computeIfAbsent(row.x(), x -> new ArrayList<>(List.of("" + x)))
                            .add(text(row.value()));
                }
            }
        }
        lines.values().removeIf(line -> line.size() < CLIENTS.size());
        return List.copyOf(lines.values());
    }

    private static String text(double value) {
        return String.format(Locale.ROOT, value >= 1000 ? "%,.0f" : "%.1f", value);
    }

    private static String ratio(BenchRow row, BenchRow base) {
        return base == null ? "" : String.format(Locale.ROOT, "%.2f", row.value() / base.value());
    }

    private void write(List<BenchRow> rows, Path folder) throws IOException {
        ResultReport report = new ResultReport("Nessie: what a call costs");
        List<List<String>> lines = new ArrayList<>();
        for (BenchRow row : rows) {
            BenchRow base = row.measuredBase();
            lines.add(
                    List.of(
                            row.name(),
                            text(row.value()),
                            row.unit(),
                            base == null ? "" : base.name(),
                            ratio(row, base)));
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
        List<List<String>> clients = clients(rows);
        if (!clients.isEmpty()) {
            report.section(
                    "Client processes",
                    "One server process; bulk data of 1 MiB with 4 requests under way at each"
                            + " client, and calls of 16 bytes with 8.");
            report.table(CLIENTS, clients);
        }
        charts(rows, report);
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

    /** A picture of these lines, if they were measured. */
    private static void chart(
            List<BenchRow> rows,
            ResultReport report,
            String caption,
            String over,
            String text,
            List<String> lines) {
        Chart chart = new Chart(caption, over, "MB/s", false).doubling();
        boolean isDrawn = false;
        for (String line : lines) {
            List<BenchRow> found = rows.stream().filter(row -> row.isOfLine(line, over)).toList();
            if (!found.isEmpty()) {
                double[] xs = found.stream().mapToDouble(BenchRow::x).toArray();
                double[] ys = found.stream().mapToDouble(BenchRow::value).toArray();
                chart.line(line, xs, ys, true);
                isDrawn = true;
            }
        }
        if (isDrawn) {
            report.section(caption, text);
            report.chart("Payload by " + over, chart);
        }
    }

    private static void charts(List<BenchRow> rows, ResultReport report) {
        chart(
                rows,
                report,
                "Clients",
                "clients",
                "One server; each client is a process and has 4 requests under way. Torus:"
                        + " simulated, a node for each client.",
                List.of("write_rdma", "read_rdma", "torus, write", "torus, read"));
        String text =
                "The paper's Fig. 10: one client, 8 requests under way, beside the same bytes by Open"
                        + " MPI between two processes of this machine.";
        chart(rows, report, "To the server", "bytes", text, BenchRows.WRITES);
        chart(rows, report, "From the server", "bytes", text, BenchRows.READS);
    }
}
