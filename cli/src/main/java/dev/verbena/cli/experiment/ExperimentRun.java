package dev.verbena.cli.experiment;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.ResultReport;
import dev.verbena.cli.terminal.ProgressLine;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What the four experiments have in common: options with their defaults, measuring, progress. */
final class ExperimentRun {
    private static final double KNEE_NS = 0.5e9;
    private static final double QUICK_KNEE_NS = 0.25e9;
    private static final double RATE_MAX = 512e6;
    private static final double MEGA = 1e6;

    final DartExperiment options;
    final String scheme;
    private final ExperimentService service;
    private final ProgressLine line;
    private int done;
    private int expected;

    ExperimentRun(
            DartExperiment options, String scheme, ExperimentService service, PrintWriter out) {
        this.options = options;
        this.scheme = scheme;
        this.service = service;
        this.line = options.isJson ? null : new ProgressLine(out);
    }

    ResultReport run() throws Exception {
        try {
            return switch (options.which) {
                case e1 -> new ExperimentBandwidth(this).run();
                case e2 -> new ExperimentKnee(this).run();
                case e3 -> new ExperimentBeyond(this).run();
                default -> new ExperimentRestart(this).run();
            };
        } finally {
            if (line != null) {
                line.end();
            }
        }
    }

    boolean isQuick() {
        return options.isQuick;
    }

    /** Points that will be measured in all, for the progress line. */
    void expect(int points) {
        expected = points;
    }

    List<Integer> clients(Integer... otherwise) {
        return options.clients == null ? List.of(otherwise) : options.clients;
    }

    int steps(int otherwise) {
        return options.steps == null ? otherwise : options.steps;
    }

    int busyCores() {
        return options.busyCores == null
                ? Math.max(1, Runtime.getRuntime().availableProcessors() - 1)
                : options.busyCores;
    }

    /** A point with the options' size, servers and buffers, and the default rate. */
    ExperimentPoint point(Manner manner, int clients, int steps, int warmUp) {
        long size = (options.size == null ? 4096L : options.size) << 10;
        ExperimentPoint unlimited =
                new ExperimentPoint(
                        manner,
                        clients,
                        size,
                        0,
                        steps,
                        Math.min(warmUp, steps / 2),
                        options.servers,
                        options.buffers,
                        options.bufferMebibytes << 20,
                        0,
                        busyCores(),
                        1,
                        0);
        double knee = isQuick() ? QUICK_KNEE_NS : KNEE_NS;
        double natural = Math.min(RATE_MAX, unlimited.stepBytes() / knee * 1e9);
        return limited(unlimited, options.rate == null ? natural : options.rate * MEGA);
    }

    static ExperimentPoint limited(ExperimentPoint p, double rate) {
        return new ExperimentPoint(
                p.manner(),
                p.clients(),
                p.size(),
                p.computeNs(),
                p.steps(),
                p.warmUp(),
                p.servers(),
                p.buffers(),
                p.bufferSize(),
                rate,
                p.busyCores(),
                p.inFlight(),
                p.pollNs());
    }

    /** The same with another message size and other steps. */
    static ExperimentPoint sized(ExperimentPoint p, long size, int steps, int warmUp) {
        return new ExperimentPoint(
                p.manner(),
                p.clients(),
                size,
                p.computeNs(),
                steps,
                warmUp,
                p.servers(),
                p.buffers(),
                p.bufferSize(),
                p.rate(),
                p.busyCores(),
                p.inFlight(),
                p.pollNs());
    }

    /** {@code --compute} if it was given. */
    ExperimentPoint computing(ExperimentPoint point, double otherwiseNs) {
        return point.computing(options.compute == null ? otherwiseNs : options.compute * MEGA);
    }

    ExperimentResult measure(ExperimentPoint point, String what) throws Exception {
        ExperimentResult result =
                service.measure(point, step -> progress(step, point.steps(), what));
        done++;
        return result;
    }

    /** Something else was measured, which counts as a point. */
    void did(String what) {
        progress(1, 1, what);
        done++;
    }

    private void progress(int step, int steps, String what) {
        if (line != null) {
            long parts = 100L * done + 100L * step / steps;
            line.percent(parts, Math.max(100L * expected, parts), what);
        }
    }

    static String number(double value) {
        double size = Math.abs(value);
        String format = size >= 100 ? "%.0f" : size >= 1 ? "%.2f" : "%.4f";
        return String.format(Locale.ROOT, format, value);
    }

    static double[] array(List<Double> values) {
        return values.stream().mapToDouble(Double::doubleValue).toArray();
    }

    /** 0, 1, 2, ... */
    static double[] indices(int count) {
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = i;
        }
        return values;
    }

    static List<String> row(String name, double... values) {
        List<String> cells = new ArrayList<>(List.of(name));
        for (double value : values) {
            cells.add(number(value));
        }
        return cells;
    }
}
