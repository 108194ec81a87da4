package dev.verbena.cli.experiment;

import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.ProgressLine;
import java.io.PrintWriter;
import java.util.List;

/** Runs an experiment: measures the rows of its tables in order, shows progress, reports. */
final class ExperimentRun {
    private static final double KNEE_NS = 0.5e9;
    private static final double QUICK_KNEE_NS = 0.25e9;
    private static final double RATE_MAX = 512e6;
    private static final double MEGA = 1e6;

    final DartExperiment options;
    final String scheme;
    final ResultReport report;
    private final ExperimentService service;
    private final ProgressLine line;
    private int done;
    private int expected;

    ExperimentRun(
            DartExperiment options, String scheme, ExperimentService service, PrintWriter out) {
        this.options = options;
        this.scheme = scheme;
        this.service = service;
        this.report = new ResultReport(options.which.title);
        this.line = options.isJson ? null : new ProgressLine(out);
    }

    ResultReport run() throws Exception {
        try {
            switch (options.which) {
                case e1 -> new ExperimentBandwidth(this).run();
                case e2 -> new ExperimentKnee(this).run();
                case e3 -> new ExperimentBeyond(this).run();
                default -> new ExperimentRestart(this).run();
            }
            return report;
        } finally {
            if (line != null) {
                line.end();
            }
        }
    }

    /** Counts the trials of all tables, for the progress line. */
    void expect(ExperimentTable... tables) {
        for (ExperimentTable table : tables) {
            expected += table.rows().stream().mapToInt(row -> row.trials().size()).sum();
        }
    }

    /** Measures all rows of a table and reports it. */
    void perform(ExperimentTable table) throws Exception {
        for (ExperimentTable.Row row : table.rows()) {
            for (ExperimentTable.Trial trial : row.trials()) {
                if (trial.point() == null) {
                    row.add(trial.rate().measure());
                    progress(1, 1, trial.progress());
                } else {
                    int steps = trial.point().load().steps();
                    row.add(
                            service.measure(
                                    trial.point(),
                                    step -> progress(step, steps, trial.progress())));
                }
                done++;
            }
            table.reportPoints(row, report);
        }
        table.report(report);
    }

    private void progress(int step, int steps, String what) {
        if (line != null) {
            long parts = 100L * done + 100L * step / steps;
            line.percent(parts, Math.max(100L * expected, parts), what);
        }
    }

    boolean isQuick() {
        return options.isQuick;
    }

    List<Integer> clients(Integer... otherwise) {
        return options.clients == null ? List.of(otherwise) : options.clients;
    }

    int steps(int otherwise) {
        return options.steps == null ? otherwise : options.steps;
    }

    private int busyCores() {
        return options.busyCores == null
                ? Math.max(1, Runtime.getRuntime().availableProcessors() - 1)
                : options.busyCores;
    }

    /** A point with the options' size, servers and buffers, and the default rate. */
    ExperimentPoint point(ExperimentPoint.Manner manner, int clients, int steps, int warmUp) {
        long size = (options.size == null ? 4096L : options.size) << 10;
        int bufferSize = options.bufferMebibytes << 20;
        ExperimentPoint unlimited =
                new ExperimentPoint(
                        manner,
                        new ExperimentPoint.Load(
                                clients, size, 0, steps, Math.min(warmUp, steps / 2), 1),
                        new ExperimentPoint.Service(
                                options.servers, options.buffers, bufferSize, 0, 0, false),
                        busyCores());
        double knee = isQuick() ? QUICK_KNEE_NS : KNEE_NS;
        double natural = Math.min(RATE_MAX, unlimited.stepBytes() / knee * 1e9);
        return unlimited.limited(options.rate == null ? natural : options.rate * MEGA);
    }

    /** {@code --compute} if it was given. */
    ExperimentPoint computing(ExperimentPoint point, double otherwiseNs) {
        return point.computing(options.compute == null ? otherwiseNs : options.compute * MEGA);
    }
}
