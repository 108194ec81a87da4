package dev.verbena.cli.experiment;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * E1: bandwidth by message size with two processes for a server and its data thrown away (figure 6,
 * benchmark D1), beside the same gets without a protocol; streaming beside plain TCP.
 */
final class ExperimentBandwidth {
    private static final int MEBI = 1 << 20;
    private static final int[] QUICK_SIZES = {1, 4, 16, 64};
    private static final int LARGEST = 100;
    private static final int MEBIBYTES_MAX = 3000;
    private static final int QUICK_MAX = 200;
    private static final int QUICK_MEBIBYTES = 500;
    private static final int WARM_UP_MEBIBYTES = 200;
    private static final int PULL_MEBIBYTES = 8000;
    private static final double COMPUTE_NS = 1e6;
    private static final double PLATEAU = 0.95;
    private static final int STREAM_SIZE = 4 * MEBI;

    private final ExperimentRun run;

    ExperimentBandwidth(ExperimentRun run) {
        this.run = run;
    }

    void run() throws Exception {
        if (run.options.only != null) {
            ExperimentTable table = one(run.options.only);
            run.expect(table);
            run.perform(table);
            return;
        }
        int[] sizes = sizes();
        ExperimentTable streaming = streaming(run.isQuick() ? 1 : 3);
        try (RawGet raw = raw(point(sizes[0], 0), sizes[sizes.length - 1] * MEBI)) {
            ExperimentTable bandwidth = bandwidth(sizes, raw);
            run.expect(bandwidth, streaming);
            run.perform(bandwidth);
        }
        run.perform(streaming);
    }

    private int[] sizes() {
        if (run.options.size != null) {
            return new int[] {mebibytes(run.options.size)};
        }
        return run.isQuick()
                ? QUICK_SIZES
                : IntStream.rangeClosed(0, LARGEST / 4).map(i -> Math.max(1, 4 * i)).toArray();
    }

    private static int mebibytes(Integer kibibytes) {
        return kibibytes == null ? 4 : Math.max(1, kibibytes >> 10);
    }

    private RawGet raw(ExperimentPoint point, int sizeMax) throws InterruptedException {
        ExperimentPoint.Service service = point.service();
        int buffers = Math.max(3, service.buffers());
        return new RawGet(run.scheme, sizeMax, service.bufferSize(), buffers);
    }

    private ExperimentPoint point(int mebibytes, double computeNs) {
        int clients = run.clients(2).get(0);
        int counted = run.steps(transfers(mebibytes));
        // The first ones run unoptimised code: as many bytes for every size.
        int warmUp = 10 + WARM_UP_MEBIBYTES / mebibytes;
        int steps = counted + warmUp;
        return run.point(Manner.MESSAGE, clients, steps, warmUp)
                .limited(ExperimentPoint.DISCARD)
                .sized((long) mebibytes * MEBI, steps, warmUp)
                .computing(computeNs);
    }

    /** A hundred as in the paper, fewer of the long ones; the quick form counts bytes. */
    private int transfers(int mebibytes) {
        int most = run.isQuick() ? QUICK_MAX : 100;
        int bytes = run.isQuick() ? QUICK_MEBIBYTES : MEBIBYTES_MAX;
        return Math.min(most, Math.max(10, bytes / mebibytes));
    }

    private ExperimentTable bandwidth(int[] sizes, RawGet raw) {
        ExperimentTable table =
                new ExperimentTable(
                        "Bandwidth between compute processes and a server (figure 6)",
                        "Two processes, one server that throws the data away. Transfer: bytes over"
                                + " the time that the server spent on getting them, as the paper"
                                + " measured. Without compute time: bytes over the whole time,"
                                + " headers and confirmations included. Gets alone: the same gets"
                                + " from another process without a protocol.");
        for (int size : sizes) {
            String what = size + " MiB, ";
            ExperimentPoint paper = run.computing(point(size, 0), COMPUTE_NS);
            int counted = paper.load().steps() - paper.load().warmUp();
            table.row(size + " MiB")
                    .compare(what + "gets alone", () -> raw.rate(size * MEBI, counted))
                    .measure(what + "compute time as given", paper)
                    .measure(what + "no compute time", point(size, 0));
        }
        return table.head("message")
                .column("gets alone MB/s", ExperimentTable.Row::rate)
                .column("transfer MB/s", ExperimentBandwidth::transfer)
                .column("with compute time MB/s", row -> row.result().overallRate())
                .column("without MB/s", ExperimentBandwidth::saturated)
                .column("without / gets alone", row -> saturated(row) / row.rate())
                .chart(
                        "Bandwidth by message size",
                        new Chart("bandwidth by message size", "message, MiB", "MB/s", false),
                        ExperimentBandwidth::mebibytes)
                .curve("gets alone", ExperimentTable.Row::rate)
                .curve("transfer", ExperimentBandwidth::transfer)
                .curve("without compute time", ExperimentBandwidth::saturated)
                .figures(ExperimentBandwidth::figures);
    }

    private static double transfer(ExperimentTable.Row row) {
        return row.result().transferRate();
    }

    private static double saturated(ExperimentTable.Row row) {
        return row.result(1).overallRate();
    }

    private static double mebibytes(ExperimentTable.Row row) {
        return row.result().point().load().size() / (double) MEBI;
    }

    private static void figures(List<ExperimentTable.Row> rows, ResultReport report) {
        double plateau = rows.stream().mapToDouble(ExperimentBandwidth::saturated).max().orElse(0);
        rows.stream()
                .filter(row -> saturated(row) >= PLATEAU * plateau)
                .findFirst()
                .ifPresent(
                        row ->
                                report.figure(
                                        "smallest size at 95 % of the plateau, MiB",
                                        mebibytes(row)));
        ExperimentTable.Row four = find(rows, 4);
        ExperimentTable.Row sixtyFour = find(rows, 64);
        if (four != null) {
            report.figure("pull at 4 MiB, MB/s", saturated(four));
            report.figure("pull / gets alone at 4 MiB", saturated(four) / four.rate());
        }
        if (four != null && sixtyFour != null) {
            report.figure("pull at 4 MiB / at 64 MiB", saturated(four) / saturated(sixtyFour));
        }
    }

    private static ExperimentTable.Row find(List<ExperimentTable.Row> rows, int mebibytes) {
        return rows.stream().filter(row -> mebibytes(row) == mebibytes).findFirst().orElse(null);
    }

    /** A single figure, for a comparison that runs it again and again. */
    private ExperimentTable one(DartExperiment.Part part) {
        ExperimentTable table = new ExperimentTable(null, null);
        ExperimentTable.Row row = table.row("");
        switch (part) {
            case tcp ->
                    row.compare("plain TCP", () -> TcpTwin.best(streamingPoint().countedBytes()));
            case gets -> row.compare("gets alone", () -> gets(pullPoint()));
            case pulls -> row.measure("pulls", pullPoint());
            case carried -> row.measure("streaming", streamingPoint().carried());
            default -> row.measure("streaming", streamingPoint());
        }
        return table.figures(
                (rows, report) ->
                        report.figure(
                                row.trials().get(0).progress() + ", MB/s",
                                switch (part) {
                                    case pulls -> row.result().overallRate();
                                    case streaming, carried -> row.result().streamedRate();
                                    default -> row.rate();
                                }));
    }

    /**
     * One size, four times as many bytes before it counts as while it counts: seconds, or it would
     * be measured while the compiler has one of the processors.
     */
    private ExperimentPoint pullPoint() {
        int mebibytes = mebibytes(run.options.size);
        int steps = Math.max(4, (run.isQuick() ? QUICK_MEBIBYTES : PULL_MEBIBYTES) / mebibytes);
        // Two of a process: the server need not wait until a process has heard of its last one.
        return point(mebibytes, 0).inFlight(2).sized((long) mebibytes * MEBI, 5 * steps, 4 * steps);
    }

    private double gets(ExperimentPoint point) throws InterruptedException {
        ExperimentPoint.Load load = point.load();
        int size = (int) load.size();
        try (RawGet raw = raw(point, size)) {
            raw.rate(size, load.warmUp());
            return raw.rate(size, load.steps() - load.warmUp());
        }
    }

    private ExperimentPoint streamingPoint() {
        // Seconds, or it would be measured while the compiler has one of the processors.
        int warmUp = run.isQuick() ? 50 : 1000;
        int steps = warmUp + (run.isQuick() ? 50 : 400);
        return run.point(Manner.MESSAGE, run.clients(2).get(0), steps, warmUp)
                .limited(0)
                .sized(STREAM_SIZE, steps, warmUp);
    }

    /** Rounds of both, one after the other, so that a slow moment strikes both. */
    private ExperimentTable streaming(int rounds) {
        ExperimentPoint point = streamingPoint();
        ExperimentTable table =
                new ExperimentTable(
                        "Streaming to the receiver",
                        "The same two processes send 4 MiB messages as fast as they can; the"
                                + " receiver checks, assembles and acknowledges everything. Plain"
                                + " TCP: one connection over loopback, blocking Java channels, the"
                                + " best of writes of 64 KiB, 256 KiB and 1 MiB, read into memory"
                                + " of a message's length, without checksums.");
        for (int i = 1; i <= rounds; i++) {
            table.row("round " + i)
                    .compare("plain TCP", () -> TcpTwin.best(point.countedBytes()))
                    .measure("streaming", point);
        }
        ToDoubleFunction<ExperimentTable.Row> ratio =
                row -> row.result().streamedRate() / row.rate();
        return table.head("")
                .column("plain TCP MB/s", ExperimentTable.Row::rate)
                .column("streaming MB/s", row -> row.result().streamedRate())
                .column("ratio", ratio)
                .figures(
                        (rows, report) ->
                                report.figure(
                                        "streaming / plain TCP, median",
                                        rows.stream()
                                                .mapToDouble(ratio)
                                                .sorted()
                                                .toArray()[rounds / 2]));
    }
}
