package dev.verbena.cli.stage.demo;

import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.Html;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.ThisMachine;
import dev.verbena.examples.intransit.FieldQueries;
import dev.verbena.examples.intransit.SteeredRun;
import dev.verbena.examples.pic.PicParameters;
import dev.verbena.examples.pic.TwoStreamTheory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** The database's answers as a page with two pictures. */
final class DemoReport {
    private final PicParameters parameters;
    private final FieldQueries queries;
    private final SteeredRun.Outcome outcome;
    private final String command;

    DemoReport(
            PicParameters parameters,
            FieldQueries queries,
            SteeredRun.Outcome outcome,
            String command) {
        this.parameters = parameters;
        this.queries = queries;
        this.outcome = outcome;
        this.command = command;
    }

    /** Writes {@code report.html}, {@code results.json}, {@code points.csv}, {@code field.png}. */
    void write(Path folder) throws IOException {
        byte[] picture = FieldPicture.png(outcome.values());
        Files.write(folder.resolve("field.png"), picture);
        ResultReport report = new ResultReport("A simulation that SQL steers");
        double theory = TwoStreamTheory.growthRate(parameters);
        report.section(
                "Two beams of electrons",
                String.format(
                        Locale.ROOT,
                        "%d particles, %d steps; %s. Growth rate by SQL %.4f, by linear theory %.4f;"
                                + " the total energy changed by %.3g %% at most.",
                        parameters.particleCount(),
                        outcome.steps(),
                        outcome.isSteered()
                                ? "ended by the database's answer"
                                : "the database did not end it",
                        outcome.state().growth(),
                        theory,
                        100 * outcome.state().energyChange()));
        List<double[]> rows = rows();
        report.chart("Energy of the field, by SQL", chart(rows));
        report.html(
                "<div class=\"card\"><h3>The field: place to the right, time downwards</h3><img"
                        + " style=\"width:100%\" alt=\"field\" src=\"data:image/png;base64,"
                        + Base64.getEncoder().encodeToString(picture)
                        + "\"></div>\n");
        report.section("What was asked", "In SQL, while it ran and at the end:");
        report.html("<pre>" + Html.escape(queries.state()) + "</pre>\n");
        report.html("<pre>" + Html.escape(outcome.stateText()) + "</pre>\n");
        report.section("", "The energies in SAVIME's language, to be multiplied by half a cell:");
        report.html("<pre>" + Html.escape(queries.savimeEnergyByStep()) + "</pre>\n");
        report.figure("steps", outcome.steps());
        report.figure("ended by the database", outcome.isSteered());
        report.figure("growth rate, SQL", outcome.state().growth());
        report.figure("growth rate, theory", theory);
        report.figure("energy change, largest", outcome.state().energyChange());
        for (double[] row : rows) {
            Map<String, Object> point = new LinkedHashMap<>();
            point.put("step", (long) row[0]);
            point.put("time", row[1]);
            point.put("field_energy", row[2]);
            point.put("kinetic_energy", row[3]);
            report.point(point);
        }
        Map<String, Object> environment = new LinkedHashMap<>();
        environment.put("processor", ThisMachine.processor());
        environment.put("java", System.getProperty("java.vm.version"));
        environment.put("command", command);
        report.write(folder, environment);
    }

    private List<double[]> rows() {
        List<double[]> rows = new ArrayList<>();
        for (String line : outcome.energies().lines().skip(1).toList()) {
            String[] fields = line.split("\t");
            double[] row = new double[fields.length];
            for (int i = 0; i < row.length; i++) {
                row[i] = Double.parseDouble(fields[i]);
            }
            rows.add(row);
        }
        return rows;
    }

    /** With the growth that SQL found, through the energy's top, as a straight line. */
    private Chart chart(List<double[]> rows) {
        double[] times = rows.stream().mapToDouble(row -> row[1]).toArray();
        double[] energies = rows.stream().mapToDouble(row -> row[2]).toArray();
        Chart chart = new Chart("Energy of the field", "time", "energy", true);
        chart.line("field", "one", times, energies, false);
        double growth = outcome.state().growth();
        if (!Double.isNaN(growth)) {
            int top = 0;
            for (int i = 1; i < energies.length; i++) {
                top = energies[i] > energies[top] ? i : top;
            }
            double[] until = java.util.Arrays.copyOf(times, top + 1);
            double[] line = new double[top + 1];
            for (int i = 0; i <= top; i++) {
                line[i] = energies[top] * Math.exp(2 * growth * (times[i] - times[top]));
            }
            chart.line("exp(2 g t), g by SQL", "dash", until, line, false);
        }
        return chart;
    }
}
