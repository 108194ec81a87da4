package dev.verbena.cli.experiment;

import dev.verbena.cli.experiment.ExperimentPoint.Manner;
import dev.verbena.cli.report.Chart;
import dev.verbena.cli.report.ResultReport;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

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
    private final ResultReport report =
            new ResultReport("DART experiment 1: bandwidth by message size");
    private final List<List<String>> rows = new ArrayList<>();

    ExperimentBandwidth(ExperimentRun run) {
        this.run = run;
    }

    /** Rates of one size, MB/s. */
    private record Rates(int mebibytes, double raw, double transfer, double saturated) {}

    ResultReport run() throws Exception {
        if (run.options.only != null) {
            return one(run.options.only);
        }
        int[] sizes = sizes();
        int rounds = run.isQuick() ? 1 : 3;
        run.expect(3 * sizes.length + 2 * rounds);
        ExperimentPoint first = point(sizes[0], COMPUTE_NS);
        List<Rates> all = new ArrayList<>();
        int buffers = Math.max(3, first.buffers());
        try (RawGet raw =
                new RawGet(
                        run.scheme, sizes[sizes.length - 1] * MEBI, first.bufferSize(), buffers)) {
            for (int size : sizes) {
                all.add(measure(raw, size));
            }
        }
        bandwidth(all);
        streaming(rounds);
        return report;
    }

    private int[] sizes() {
        if (run.options.size != null) {
            return new int[] {Math.max(1, run.options.size >> 10)};
        }
        if (run.isQuick()) {
            return QUICK_SIZES;
        }
        int[] sizes = new int[1 + LARGEST / 4];
        sizes[0] = 1;
        for (int i = 1; i < sizes.length; i++) {
            sizes[i] = 4 * i;
        }
        return sizes;
    }

    private ExperimentPoint point(int mebibytes, double computeNs) {
        int clients = run.clients(2).get(0);
        int counted = run.steps(transfers(mebibytes));
        // The first ones run unoptimised code: as many bytes for every size.
        int warmUp = 10 + WARM_UP_MEBIBYTES / mebibytes;
        int steps = counted + warmUp;
        ExperimentPoint point = run.point(Manner.MESSAGE, clients, steps, warmUp);
        point = ExperimentRun.limited(point, ExperimentPoint.DISCARD);
        return ExperimentRun.sized(point, (long) mebibytes * MEBI, steps, warmUp)
                .computing(computeNs);
    }

    /** A hundred as in the paper, fewer of the long ones; the quick form counts bytes. */
    private int transfers(int mebibytes) {
        int most = run.isQuick() ? QUICK_MAX : 100;
        int bytes = run.isQuick() ? QUICK_MEBIBYTES : MEBIBYTES_MAX;
        return Math.min(most, Math.max(10, bytes / mebibytes));
    }

    private Rates measure(RawGet raw, int mebibytes) throws Exception {
        String what = mebibytes + " MiB, ";
        ExperimentPoint paper = run.computing(point(mebibytes, 0), COMPUTE_NS);
        double rawRate = raw.rate(mebibytes * MEBI, paper.steps() - paper.warmUp());
        run.did(what + "gets alone");
        ExperimentResult transfer = run.measure(paper, what + "compute time as given");
        ExperimentResult saturated = run.measure(point(mebibytes, 0), what + "no compute time");
        report.point(transfer.fields()).point(saturated.fields());
        Rates rates =
                new Rates(mebibytes, rawRate, transfer.transferRate(), saturated.overallRate());
        rows.add(
                ExperimentRun.row(
                        mebibytes + " MiB",
                        rawRate,
                        rates.transfer(),
                        transfer.overallRate(),
                        rates.saturated(),
                        rates.saturated() / rawRate));
        return rates;
    }

    private void bandwidth(List<Rates> all) {
        double[] x = all.stream().mapToDouble(Rates::mebibytes).toArray();
        double[] raw = all.stream().mapToDouble(Rates::raw).toArray();
        double[] transfer = all.stream().mapToDouble(Rates::transfer).toArray();
        double[] saturated = all.stream().mapToDouble(Rates::saturated).toArray();
        report.section(
                "Bandwidth between compute processes and a server (figure 6)",
                "Two processes, one server that throws the data away. Transfer: bytes over the time"
                        + " that the server spent on getting them, as the paper measured. Without"
                        + " compute time: bytes over the whole time, headers and confirmations"
                        + " included. Gets alone: the same gets from another process without a"
                        + " protocol.");
        report.chart(
                "Bandwidth by message size",
                new Chart("bandwidth by message size", "message, MiB", "MB/s", false)
                        .line("gets alone", "four", x, raw, true)
                        .line("transfer", "one", x, transfer, true)
                        .line("without compute time", "two", x, saturated, true));
        report.table(
                List.of(
                        "message",
                        "gets alone MB/s",
                        "transfer MB/s",
                        "with compute time MB/s",
                        "without MB/s",
                        "without / gets alone"),
                rows);
        double plateau = Arrays.stream(saturated).max().orElse(0);
        for (int i = 0; i < x.length; i++) {
            if (saturated[i] >= PLATEAU * plateau) {
                report.figure("smallest size at 95 % of the plateau, MiB", x[i]);
                break;
            }
        }
        Rates four = find(all, 4);
        Rates sixtyFour = find(all, 64);
        if (four != null) {
            report.figure("pull at 4 MiB, MB/s", four.saturated());
            report.figure("pull / gets alone at 4 MiB", four.saturated() / four.raw());
        }
        if (four != null && sixtyFour != null) {
            report.figure("pull at 4 MiB / at 64 MiB", four.saturated() / sixtyFour.saturated());
        }
    }

    private static Rates find(List<Rates> all, int mebibytes) {
        return all.stream().filter(r -> r.mebibytes() == mebibytes).findFirst().orElse(null);
    }

    private ResultReport one(DartExperiment.Part part) throws Exception {
        run.expect(1);
        switch (part) {
            case tcp -> {
                double rate = TcpTwin.best(streamingPoint().countedBytes());
                report.figure("plain TCP, MB/s", rate);
            }
            case pulls -> {
                ExperimentResult result = run.measure(pullPoint(), "pulls");
                report.point(result.fields()).figure("pulls, MB/s", result.overallRate());
            }
            case gets -> report.figure("gets alone, MB/s", gets(pullPoint()));
            default -> {
                ExperimentResult result = run.measure(streamingPoint(), "streaming");
                report.point(result.fields()).figure("streaming, MB/s", result.streamedRate());
            }
        }
        return report;
    }

    /**
     * One size, four times as many bytes before it counts as while it counts: seconds, or it would
     * be measured while the compiler has one of the processors.
     */
    private ExperimentPoint pullPoint() {
        int mebibytes = run.options.size == null ? 4 : Math.max(1, run.options.size >> 10);
        int steps = Math.max(4, (run.isQuick() ? QUICK_MEBIBYTES : PULL_MEBIBYTES) / mebibytes);
        // Two of a process: the server need not wait until a process has heard of its last one.
        ExperimentPoint point = point(mebibytes, 0).inFlight(2);
        return ExperimentRun.sized(point, (long) mebibytes * MEBI, 5 * steps, 4 * steps);
    }

    private double gets(ExperimentPoint point) throws InterruptedException {
        int size = (int) point.size();
        try (RawGet raw =
                new RawGet(run.scheme, size, point.bufferSize(), Math.max(3, point.buffers()))) {
            raw.rate(size, point.warmUp());
            return raw.rate(size, point.steps() - point.warmUp());
        }
    }

    private ExperimentPoint streamingPoint() {
        // Seconds, or it would be measured while the compiler has one of the processors.
        int warmUp = run.isQuick() ? 50 : 1000;
        int steps = warmUp + (run.isQuick() ? 50 : 400);
        ExperimentPoint point = run.point(Manner.MESSAGE, run.clients(2).get(0), steps, warmUp);
        return ExperimentRun.sized(ExperimentRun.limited(point, 0), STREAM_SIZE, steps, warmUp);
    }

    /** Rounds of both, one after the other, so that a slow moment strikes both. */
    private void streaming(int rounds) throws Exception {
        ExperimentPoint point = streamingPoint();
        List<List<String>> table = new ArrayList<>();
        double[] ratios = new double[rounds];
        for (int i = 0; i < rounds; i++) {
            double tcp = TcpTwin.best(point.countedBytes());
            run.did("plain TCP");
            ExperimentResult result = run.measure(point, "streaming");
            report.point(result.fields());
            ratios[i] = result.streamedRate() / tcp;
            table.add(ExperimentRun.row("round " + (i + 1), tcp, result.streamedRate(), ratios[i]));
        }
        report.section(
                "Streaming to the receiver",
                "The same two processes send 4 MiB messages as fast as they can; the receiver"
                        + " checks, assembles and acknowledges everything. Plain TCP: one connection"
                        + " over loopback, blocking Java channels, the best of writes of 64 KiB, 256"
                        + " KiB and 1 MiB, read into memory of a message's length, without checksums.");
        report.table(List.of("", "plain TCP MB/s", "streaming MB/s", "ratio"), table);
        Arrays.sort(ratios);
        report.figure("streaming / plain TCP, median", ratios[rounds / 2]);
    }
}
