package dev.verbena.cli.experiment;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * E4: a restart file of 8.5 MB at each step: not written, written to a file, sent item by item,
 * sent as one message (figures 11 and 12, benchmark D4).
 */
final class ExperimentRestart {
    private static final double MULTIPLE = 1.5;
    private static final int WARM_UP = 2;

    private final ExperimentRun run;
    private final ResultReport report = new ResultReport("DART experiment 4: restart files");

    ExperimentRestart(ExperimentRun run) {
        this.run = run;
    }

    ResultReport run() throws Exception {
        Manner[] manners = {Manner.NONE, Manner.FILE, Manner.UNBUFFERED, Manner.BUFFERED};
        run.expect(manners.length);
        int clients = run.clients(8).get(0);
        int steps = run.steps(run.isQuick() ? 8 : 10);
        Map<Manner, ExperimentResult> results = new EnumMap<>(Manner.class);
        for (Manner manner : manners) {
            ExperimentPoint point = run.point(manner, clients, steps, WARM_UP);
            point = run.computing(point, MULTIPLE * point.kneeNs());
            ExperimentResult result = run.measure(point, name(manner));
            results.put(manner, result);
            report.point(result.fields());
        }
        figures(results, clients);
        return report;
    }

    private static String name(Manner manner) {
        return switch (manner) {
            case NONE -> "no output";
            case FILE -> "file, fsync";
            case UNBUFFERED -> "DART unbuffered";
            default -> "DART buffered";
        };
    }

    private void figures(Map<Manner, ExperimentResult> results, int clients) {
        double[] x = ExperimentRun.indices(clients);
        Chart chart =
                new Chart("time for output", "process", "s per step in output calls, log", true);
        String[] styles = {"four", "one", "two", "three"};
        List<List<String>> rows = new ArrayList<>();
        int used = 0;
        for (Map.Entry<Manner, ExperimentResult> entry : results.entrySet()) {
            ExperimentResult result = entry.getValue();
            int counted = result.point().steps() - result.point().warmUp();
            double[] y = new double[clients];
            for (int rank = 0; rank < clients; rank++) {
                long sum =
                        result.samples()
                                .sum(rank, ExperimentSamples.TOTAL, result.point().warmUp());
                y[rank] = sum / 1e9 / counted;
            }
            String name = name(entry.getKey());
            chart.line(name, styles[used++], x, y, true);
            double total = result.mean(ExperimentSamples.TOTAL);
            rows.add(
                    ExperimentRun.row(
                            name,
                            total / 1e6,
                            result.mean(ExperimentSamples.WAIT) / 1e6,
                            result.percentile(ExperimentSamples.TOTAL, 100) / 1e6,
                            100 * total / (total + result.point().computeNs())));
            report.figure(name + ": mean ms per step in output calls", total / 1e6);
        }
        ExperimentPoint point = results.get(Manner.BUFFERED).point();
        report.section(
                "Time for a restart file (figures 11 and 12)",
                String.format(
                        "%d processes, 8.5 MB each at every step, %.0f ms of computing between,"
                                + " which is %.2f times the knee at %.0f MB/s. No output: the items are"
                                + " packed and dropped. File: packed, written to the local file system"
                                + " and forced to the device. Unbuffered: each of the items is a"
                                + " message and waits for the one before. Buffered: one message.",
                        clients,
                        point.computeNs() / 1e6,
                        point.computeNs() / point.kneeNs(),
                        point.rate() / 1e6));
        report.chart("Time for output", chart);
        report.table(List.of("", "mean ms", "waiting ms", "largest ms", "% of the step"), rows);
        report.figure(
                "unbuffered / buffered",
                results.get(Manner.UNBUFFERED).mean(ExperimentSamples.TOTAL)
                        / results.get(Manner.BUFFERED).mean(ExperimentSamples.TOTAL));
        report.figure(
                "file / buffered",
                results.get(Manner.FILE).mean(ExperimentSamples.TOTAL)
                        / results.get(Manner.BUFFERED).mean(ExperimentSamples.TOTAL));
    }
}
