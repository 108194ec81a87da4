package dev.verbena.cli.experiment;

import static dev.verbena.cli.experiment.ExperimentSamples.HEADER;
import static dev.verbena.cli.experiment.ExperimentSamples.TOTAL;
import static dev.verbena.cli.experiment.ExperimentSamples.WAIT;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * E2: compute time from below to above the knee (benchmark D2), times per process below it (figure
 * 7), time on the server (figures 8 and 9, benchmark D7).
 */
final class ExperimentKnee {
    /** Compute times as multiples of the knee. 0.66 is the paper's 2.9 s over 4.383 s. */
    private static final double[] MULTIPLES = {0.5, 0.66, 0.8, 1, 1.25, 1.5, 2};

    private static final double[] QUICK_MULTIPLES = {0.5, 0.66, 1, 1.5};
    private static final double BELOW = 0.66;
    private static final int WARM_UP = 5;
    private static final String[] STYLES = {"one", "two", "three", "four"};

    private final ExperimentRun run;
    private final List<Integer> counts;
    private final double[] multiples;
    private final Map<ExperimentTable.Row, KneePrediction> predictions = new HashMap<>();

    ExperimentKnee(ExperimentRun run) {
        this.run = run;
        counts = run.isQuick() ? run.clients(8) : run.clients(8, 32, 128);
        multiples = run.isQuick() ? QUICK_MULTIPLES : MULTIPLES;
    }

    void run() throws Exception {
        ExperimentTable table =
                new ExperimentTable(
                        "Waiting time by compute time",
                        "A process computes, hands a message to the library, and waits first if its"
                                + " previous message has not left it. The knee is N x S / R."
                                + " Dashed: the law, knee minus compute time. First steps, which"
                                + " fill the buffers, are left out. Simulated: DART's own agents in"
                                + " virtual time, as many processes, messages and buffers; the"
                                + " simulator knows the receiver's rate and nothing else of this"
                                + " machine.");
        int steps = run.steps(run.isQuick() ? 12 : 20);
        for (int clients : counts) {
            for (double multiple : multiples) {
                ExperimentPoint point = run.point(Manner.MESSAGE, clients, steps, WARM_UP);
                table.row(clients + ", " + multiple)
                        .measure(
                                "N " + clients + ", compute time " + multiple + " x knee",
                                point.computing(multiple * point.kneeNs()));
            }
        }
        table.head("N, C / knee")
                .column("knee ms", row -> row.result().point().kneeNs() / 1e6)
                .column("C ms", row -> row.result().point().load().computeNs() / 1e6)
                .mean("th us", HEADER, 1e3)
                .mean("tw ms", WAIT, 1e6)
                .mean("tt ms", TOTAL, 1e6)
                .column("tw / (knee - C)", ExperimentKnee::overMissing)
                .column("tw / C", ExperimentKnee::overCompute)
                .column("tw / knee", row -> prediction(row).measured())
                .column("simulated", row -> prediction(row).simulated())
                .column("deviation", row -> prediction(row).deviation())
                .field("tw_simulated_us", this::simulatedUs)
                .chart("The knee", this::chart)
                .figures(this::figures);
        run.expect(table);
        run.perform(table);
        int below =
                IntStream.range(0, multiples.length)
                        .filter(k -> multiples[k] == BELOW)
                        .findFirst()
                        .orElseThrow();
        for (int i = 0; i < counts.size(); i++) {
            perProcess(table.rows().get(i * multiples.length + below).result());
        }
    }

    private KneePrediction prediction(ExperimentTable.Row row) {
        return predictions.computeIfAbsent(
                row, r -> KneePrediction.of(r.result().point(), r.result().mean(WAIT)));
    }

    private double simulatedUs(ExperimentTable.Row row) {
        return prediction(row).simulated() * row.result().point().kneeNs() / 1e3;
    }

    /** Beyond the knee nothing is missing. */
    private static double overMissing(ExperimentTable.Row row) {
        ExperimentPoint point = row.result().point();
        double missing = point.kneeNs() - point.load().computeNs();
        return missing > 1 ? row.result().mean(WAIT) / missing : Double.NaN;
    }

    private static double overCompute(ExperimentTable.Row row) {
        return row.result().mean(WAIT) / row.result().point().load().computeNs();
    }

    private Chart chart(List<ExperimentTable.Row> rows) {
        Chart chart =
                new Chart(
                        "waiting time by compute time",
                        "compute time / knee",
                        "mean tw / knee",
                        false);
        for (int i = 0; i < counts.size(); i++) {
            String style = STYLES[i % STYLES.length];
            String name = "N = " + counts.get(i);
            int first = i * multiples.length;
            List<KneePrediction> own =
                    rows.subList(first, first + multiples.length).stream()
                            .map(this::prediction)
                            .toList();
            double[] waits = own.stream().mapToDouble(KneePrediction::measured).toArray();
            double[] simulated = own.stream().mapToDouble(KneePrediction::simulated).toArray();
            chart.line(name, style, multiples, waits, true);
            chart.line(name + ", simulated", style, multiples, simulated, false);
        }
        double[] law =
                Arrays.stream(multiples).map(multiple -> Math.max(0, 1 - multiple)).toArray();
        return chart.line("law", "dash", multiples, law, false).band(0.5, 1);
    }

    private void figures(List<ExperimentTable.Row> rows, ResultReport report) {
        double largest = 0;
        for (int i = 0; i < rows.size(); i++) {
            ExperimentTable.Row row = rows.get(i);
            KneePrediction both = prediction(row);
            double multiple = multiples[i % multiples.length];
            String name = "N " + both.clients() + ": tw / ";
            largest = Math.max(largest, Math.abs(both.deviation()));
            report.figure(both.name(), both.text());
            if (multiple == 0.5) {
                report.figure(name + "(knee - compute) at 0.5 knee", overMissing(row));
            } else if (multiple == 1.5) {
                report.figure(name + "compute at 1.5 knee", overCompute(row));
            }
        }
        report.figure("largest deviation of simulated from measured tw, knees", largest);
    }

    /** Figures 7 to 9: sums over the run, for each process. */
    private void perProcess(ExperimentResult result) {
        int clients = result.point().load().clients();
        ExperimentSamples samples = result.samples();
        ExperimentResult.ClientTime[] server = result.perClient();
        String sums = "sum over " + result.point().load().steps() + " steps, s";
        run.report.section(
                "N = " + clients + ", compute time " + BELOW + " x knee",
                "The receiver is too slow, and each process waits for its previous message: tw"
                        + " follows tt, th is nothing. On the server the time goes into waiting for"
                        + " the messages that are streamed before.");
        run.report.chart(
                "Time in the library (figure 7)",
                new Chart("time in the library", "process", sums, false)
                        .line("tt", clients, rank -> samples.sum(rank, TOTAL, 0) / 1e9, true)
                        .line("tw", clients, rank -> samples.sum(rank, WAIT, 0) / 1e9, false)
                        .line("th", clients, rank -> samples.sum(rank, HEADER, 0) / 1e9, false));
        run.report.chart(
                "Streaming time on the server (figure 8)",
                new Chart("streaming time", "process", sums, false)
                        .line("stream", clients, rank -> server[rank].streamNs() / 1e9, true));
        run.report.chart(
                "Time on the server (figure 9)",
                new Chart("time on the server", "process", sums, false)
                        .line("all", clients, rank -> server[rank].allNs() / 1e9, true)
                        .line("waiting", clients, rank -> server[rank].queueNs() / 1e9, false)
                        .line("streaming", clients, rank -> server[rank].streamNs() / 1e9, false));
    }
}
