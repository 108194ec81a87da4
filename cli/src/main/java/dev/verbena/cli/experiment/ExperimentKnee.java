package dev.verbena.cli.experiment;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

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
    private final ResultReport report =
            new ResultReport("DART experiment 2: where sending begins to wait");
    private final List<List<String>> rows = new ArrayList<>();
    private final List<KneePrediction> predictions = new ArrayList<>();
    private double largestDeviation;

    ExperimentKnee(ExperimentRun run) {
        this.run = run;
    }

    ResultReport run() throws Exception {
        List<Integer> counts = run.isQuick() ? run.clients(8) : run.clients(8, 32, 128);
        double[] multiples = run.isQuick() ? QUICK_MULTIPLES : MULTIPLES;
        run.expect(counts.size() * multiples.length);
        Chart chart =
                new Chart(
                        "waiting time by compute time",
                        "compute time / knee",
                        "mean tw / knee",
                        false);
        report.section(
                "Waiting time by compute time",
                "A process computes, hands a message to the library, and waits first if its"
                        + " previous message has not left it. The knee is N x S / R. Dashed: the"
                        + " law, knee minus compute time. First steps, which fill the buffers, are"
                        + " left out. Simulated: DART's own agents in virtual time, as many"
                        + " processes, messages and buffers; the simulator knows the receiver's"
                        + " rate and nothing else of this machine.");
        List<ExperimentResult> below = new ArrayList<>();
        for (int i = 0; i < counts.size(); i++) {
            int clients = counts.get(i);
            double[] waits = new double[multiples.length];
            double[] simulated = new double[multiples.length];
            for (int k = 0; k < multiples.length; k++) {
                ExperimentResult result = measure(clients, multiples[k]);
                KneePrediction both = predictions.get(predictions.size() - 1);
                waits[k] = both.measured();
                simulated[k] = both.simulated();
                if (multiples[k] == BELOW) {
                    below.add(result);
                }
            }
            String style = STYLES[i % STYLES.length];
            chart.line("N = " + clients, style, multiples, waits, true);
            chart.line("N = " + clients + ", simulated", style, multiples, simulated, false);
        }
        double[] law = new double[multiples.length];
        for (int k = 0; k < multiples.length; k++) {
            law[k] = Math.max(0, 1 - multiples[k]);
        }
        chart.line("law", "dash", multiples, law, false).band(0.5, 1);
        report.figure("largest deviation of simulated from measured tw, knees", largestDeviation);
        report.chart("The knee", chart);
        report.table(
                List.of(
                        "N, C / knee",
                        "knee ms",
                        "C ms",
                        "th us",
                        "tw ms",
                        "tt ms",
                        "tw / (knee - C)",
                        "tw / C",
                        "tw / knee",
                        "simulated",
                        "deviation"),
                rows);
        for (ExperimentResult result : below) {
            perProcess(result);
        }
        return report;
    }

    private ExperimentResult measure(int clients, double multiple) throws Exception {
        int steps = run.steps(run.isQuick() ? 12 : 20);
        ExperimentPoint point = run.point(Manner.MESSAGE, clients, steps, WARM_UP);
        point = point.computing(multiple * point.kneeNs());
        ExperimentResult result =
                run.measure(point, "N " + clients + ", compute time " + multiple + " x knee");
        double knee = point.kneeNs();
        double wait = result.mean(ExperimentSamples.WAIT);
        double missing = knee - point.computeNs();
        String name = clients + ", " + multiple;
        KneePrediction both = KneePrediction.of(result.point(), wait);
        predictions.add(both);
        largestDeviation = Math.max(largestDeviation, Math.abs(both.deviation()));
        report.figure(both.name(), both.text());
        rows.add(
                ExperimentRun.row(
                        name,
                        knee / 1e6,
                        point.computeNs() / 1e6,
                        result.mean(ExperimentSamples.HEADER) / 1e3,
                        wait / 1e6,
                        result.mean(ExperimentSamples.TOTAL) / 1e6,
                        missing > 1 ? wait / missing : Double.NaN,
                        wait / point.computeNs(),
                        both.measured(),
                        both.simulated(),
                        both.deviation()));
        Map<String, Object> fields = result.fields();
        fields.put("tw_simulated_us", both.simulated() * knee / 1e3);
        report.point(fields);
        if (multiple == 0.5) {
            report.figure("N " + clients + ": tw / (knee - compute) at 0.5 knee", wait / missing);
        } else if (multiple == 1.5) {
            report.figure("N " + clients + ": tw / compute at 1.5 knee", wait / point.computeNs());
        }
        return result;
    }

    /** Figures 7 to 9: sums over the run, for each process. */
    private void perProcess(ExperimentResult result) {
        int clients = result.point().clients();
        int steps = result.point().steps();
        double[] x = ExperimentRun.indices(clients);
        double[][] y = new double[6][clients];
        for (int rank = 0; rank < clients; rank++) {
            y[0][rank] = result.samples().sum(rank, ExperimentSamples.TOTAL, 0) / 1e9;
            y[1][rank] = result.samples().sum(rank, ExperimentSamples.WAIT, 0) / 1e9;
            y[2][rank] = result.samples().sum(rank, ExperimentSamples.HEADER, 0) / 1e9;
            y[3][rank] = result.perClient()[rank].streamNs() / 1e9;
            y[4][rank] = result.perClient()[rank].queueNs() / 1e9;
            y[5][rank] = result.perClient()[rank].allNs() / 1e9;
        }
        String sums = "sum over " + steps + " steps, s";
        report.section(
                "N = " + clients + ", compute time " + BELOW + " x knee",
                "The receiver is too slow, and each process waits for its previous message: tw"
                        + " follows tt, th is nothing. On the server the time goes into waiting for"
                        + " the messages that are streamed before.");
        report.chart(
                "Time in the library (figure 7)",
                new Chart("time in the library", "process", sums, false)
                        .line("tt", "one", x, y[0], true)
                        .line("tw", "two", x, y[1], false)
                        .line("th", "three", x, y[2], false));
        report.chart(
                "Streaming time on the server (figure 8)",
                new Chart("streaming time", "process", sums, false)
                        .line("stream", "one", x, y[3], true));
        report.chart(
                "Time on the server (figure 9)",
                new Chart("time on the server", "process", sums, false)
                        .line("all", "one", x, y[5], true)
                        .line("waiting", "two", x, y[4], false)
                        .line("streaming", "three", x, y[3], false));
    }
}
