package dev.verbena.cli.experiment;

import static dev.verbena.cli.experiment.ExperimentSamples.TOTAL;
import static dev.verbena.cli.experiment.ExperimentSamples.WAIT;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.List;
import java.util.Locale;

/**
 * E4: a restart file of 8.5 MB at each step: not written, written to a file, sent item by item,
 * sent as one message (figures 11 and 12, benchmark D4).
 */
final class ExperimentRestart {
    private static final double MULTIPLE = 1.5;
    private static final int WARM_UP = 2;
    private static final Manner[] MANNERS = {
        Manner.NONE, Manner.FILE, Manner.UNBUFFERED, Manner.BUFFERED
    };
    private static final String[] NAMES = {
        "no output", "file, fsync", "DART unbuffered", "DART buffered"
    };

    private final ExperimentRun run;
    private final int clients;

    ExperimentRestart(ExperimentRun run) {
        this.run = run;
        this.clients = run.clients(8).get(0);
    }

    void run() throws Exception {
        ExperimentPoint buffered = point(Manner.BUFFERED);
        ExperimentTable table =
                new ExperimentTable(
                        "Time for a restart file (figures 11 and 12)",
                        String.format(
                                Locale.ROOT,
                                "%d processes, 8.5 MB each at every step, %.0f ms of computing"
                                        + " between, which is %.2f times the knee at %.0f MB/s. No"
                                        + " output: the items are packed and dropped. File:"
                                        + " packed, written to the local file system and forced to"
                                        + " the device. Unbuffered: each of the items is a message"
                                        + " and waits for the one before. Buffered: one message.",
                                clients,
                                buffered.load().computeNs() / 1e6,
                                buffered.load().computeNs() / buffered.kneeNs(),
                                buffered.service().rate() / 1e6));
        for (int i = 0; i < MANNERS.length; i++) {
            table.row(NAMES[i]).measure(NAMES[i], point(MANNERS[i]));
        }
        table.head("")
                .mean("mean ms", TOTAL, 1e6)
                .mean("waiting ms", WAIT, 1e6)
                .column("largest ms", row -> row.result().percentile(TOTAL, 100) / 1e6)
                .column("% of the step", row -> 100 * row.result().share(TOTAL))
                .chart("Time for output", this::chart)
                .figures(this::figures);
        run.expect(table);
        run.perform(table);
    }

    private ExperimentPoint point(Manner manner) {
        int steps = run.steps(run.isQuick() ? 8 : 10);
        ExperimentPoint point = run.point(manner, clients, steps, WARM_UP);
        return run.computing(point, MULTIPLE * point.kneeNs());
    }

    private Chart chart(List<ExperimentTable.Row> rows) {
        Chart chart =
                new Chart("time for output", "process", "s per step in output calls, log", true);
        for (int i = 0; i < NAMES.length; i++) {
            ExperimentResult result = rows.get(i).result();
            int counted = result.point().load().steps() - result.point().load().warmUp();
            chart.line(NAMES[i], clients, rank -> result.sum(rank, TOTAL) / counted, true);
        }
        return chart;
    }

    private void figures(List<ExperimentTable.Row> rows, ResultReport report) {
        double[] totals = rows.stream().mapToDouble(row -> row.result().mean(TOTAL)).toArray();
        for (int i = 0; i < NAMES.length; i++) {
            report.figure(NAMES[i] + ": mean ms per step in output calls", totals[i] / 1e6);
        }
        report.figure("unbuffered / buffered", totals[2] / totals[3]);
        report.figure("file / buffered", totals[1] / totals[3]);
    }
}
