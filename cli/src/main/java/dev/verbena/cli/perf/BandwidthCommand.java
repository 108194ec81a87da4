package dev.verbena.cli.perf;

import dev.verbena.cli.terminal.Text;
import dev.verbena.cli.transfer.PerfEndpoint;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code verbena bw}. */
@Command(
        name = "bw",
        description = {
            "Measure bandwidth between two processes, in the manner of perftest.",
            "With a word behind it: over an RDMA device, the other side may be perftest's program."
        })
public final class BandwidthCommand extends PerfCommand {
    private static final int[] WIDTHS = {9, 11, 15, 15, 12, -17};
    private static final int BATCH_COUNT = 20;
    private static final long WARM_UP_NS = 1_000_000_000L;
    private static final long WARM_UP_BATCH = 5_000;

    @Option(
            names = "--window",
            paramLabel = "N",
            description = "Operations outstanding at a time, 1 to 1024. Default: 32.")
    private int window = 32;

    /** After the first length, which the compiler needs. */
    private boolean isWarm;

    @Override
    int defaultLength() {
        return 64 << 10;
    }

    @Override
    long defaultIterations(int length) {
        return Math.max(100, Math.min(10_000_000, (8L << 30) / (length + 500)));
    }

    @Override
    List<Object> header() {
        return List.of("#bytes", "#iterations", "peak[MB/sec]", "average[MB/s]", "rate[Mpps]");
    }

    @Override
    int[] widths() {
        return WIDTHS;
    }

    @Override
    void check() {
        inRange("--window", window, 1, 1024);
    }

    @Override
    Result measure(PerfEndpoint endpoint, int length, long count) {
        endpoint.announce(new PerfEndpoint.Round(what.operation, length, count));
        warmUp(endpoint, length, count);
        double[] batches = new double[BATCH_COUNT];
        int measured = 0;
        long begin = System.nanoTime();
        long done = 0;
        for (int batch = 1; batch <= BATCH_COUNT; batch++) {
            long until = count * batch / BATCH_COUNT;
            long batchBegin = System.nanoTime();
            long size = until - done;
            endpoint.start(what.operation, length, window, size);
            done = until;
            endpoint.drain();
            if (size > 0) {
                batches[measured++] = 1e3 * size * length / (System.nanoTime() - batchBegin);
            }
        }
        double ns = System.nanoTime() - begin;
        Arrays.sort(batches, 0, measured);
        double peak = batches[measured - 1];
        double average = 1e3 * count * length / ns;
        double rate = 1e3 * count / ns;
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("peakMBps", Text.format("%.1f", peak));
        fields.put("medianMBps", Text.format("%.1f", batches[measured / 2]));
        double medianRate = batches[measured / 2] / length;
        fields.put("medianMpps", Text.format("%.6f", medianRate));
        fields.put("averageMBps", Text.format("%.1f", average));
        fields.put("messageRateMpps", Text.format("%.6f", rate));
        List<Object> cells =
                List.of(
                        length,
                        count,
                        fields.get("peakMBps"),
                        fields.get("averageMBps"),
                        fields.get("messageRateMpps"));
        return new Result(cells, fields);
    }

    /**
     * Until the compiler has settled and the memory is touched: short operations for a while, long
     * ones a few times.
     */
    private void warmUp(PerfEndpoint endpoint, int length, long count) {
        long deadlineNs = System.nanoTime() + (isWarm ? brief(WARM_UP_NS) : WARM_UP_NS);
        long batch = Math.max(2, Math.min(count / 10, WARM_UP_BATCH));
        do {
            endpoint.start(what.operation, length, window, batch);
            endpoint.drain();
        } while (System.nanoTime() - deadlineNs < 0);
        isWarm = true;
    }
}
