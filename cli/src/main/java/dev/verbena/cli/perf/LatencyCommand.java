package dev.verbena.cli.perf;

import dev.verbena.cli.terminal.Text;
import dev.verbena.cli.transfer.PerfEndpoint;
import dev.verbena.cli.transfer.PerfPeer;
import dev.verbena.transport.Operation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;

/** {@code verbena lat}. */
@Command(
        name = "lat",
        description = {
            "Measure latency between two processes, in the manner of perftest.",
            "put and send: half a round trip, the other process answering. get: one read.",
            "Two clock readings cost as much as a short put: the column batch is the median over"
                    + " batches of transfers with one reading for each batch; the others time every"
                    + " transfer.",
            "Before the first length up to 100,000 transfers are made: the Java compiler works"
                    + " meanwhile.",
            "With a word behind it: over an RDMA device, the other side may be perftest's program."
        })
public final class LatencyCommand extends PerfCommand {
    private static final int[] WIDTHS = {9, 11, 10, 10, 10, 10, 10, 10, 10, -17};
    private static final long LONGEST_NS = 10_000_000_000L;
    private static final long WARM_UP_NS = 1_000_000_000L;
    private static final long WARM_UP_MAX = 20_000;

    /** Of the first length: the compiler works until then, on the same processor. */
    private static final long WARM_UP_FIRST = 100_000;

    private static final int TRIALS = 8;
    private static final int BATCH_MAX = 1000;
    private static final int BATCH_COUNT = 50;

    private long seen;
    private boolean isWarm;

    @Override
    int defaultLength() {
        return 8;
    }

    @Override
    long defaultIterations(int length) {
        return Math.max(1000, Math.min(200_000, 400_000_000L / (length + 2000)));
    }

    @Override
    List<Object> header() {
        return List.of(
                "#bytes",
                "#iterations",
                "batch[us]",
                "min[usec]",
                "p50[usec]",
                "avg[usec]",
                "p99[usec]",
                "p99.9",
                "max[usec]");
    }

    @Override
    int[] widths() {
        return WIDTHS;
    }

    @Override
    Result measure(PerfEndpoint endpoint, int length, long count) {
        boolean isOneWay = what == What.get;
        long warmUp = warmUp(count);
        isWarm = true;
        int batch = (int) Math.max(1, Math.min(BATCH_MAX, count / BATCH_COUNT));
        long batched = (count / batch) * batch;
        boolean isFencing = what == What.put && isFencingFaster(endpoint, length, warmUp / TRIALS);
        long total = warmUp + batched + count;
        begin(endpoint, length, total, isFencing);
        long i = 1;
        for (; i <= warmUp; i++) {
            transfer(endpoint, length, i);
        }
        // A get needs no count on the other side: repeat until the compiler has finished.
        long settledNs = System.nanoTime() + (isOneWay ? brief(WARM_UP_NS) : 0);
        while (isOneWay && System.nanoTime() - settledNs < 0) {
            transfer(endpoint, length, i);
        }
        double[] means = new double[(int) (batched / batch)];
        for (int b = 0; b < means.length; b++) {
            long begin = System.nanoTime();
            for (int k = 0; k < batch; k++) {
                transfer(endpoint, length, i++);
            }
            means[b] = (System.nanoTime() - begin) / (double) batch;
        }
        Histogram histogram = new Histogram(LONGEST_NS, 3);
        for (; i <= total; i++) {
            long begin = System.nanoTime();
            transfer(endpoint, length, i);
            long elapsed = System.nanoTime() - begin;
            histogram.recordValue(Math.min(LONGEST_NS, isOneWay ? elapsed : elapsed / 2));
        }
        endpoint.drain();
        Arrays.sort(means);
        return result(histogram, length, means[means.length / 2] / (isOneWay ? 1 : 2));
    }

    /** Each way is tried in turn: which is faster depends on where the two processors are. */
    private boolean isFencingFaster(PerfEndpoint endpoint, int length, long count) {
        long[] least = {Long.MAX_VALUE, Long.MAX_VALUE};
        for (int i = 0; endpoint.isBypassing() && i < TRIALS; i++) {
            begin(endpoint, length, count, i % 2 == 1);
            long begin = System.nanoTime();
            for (long k = 1; k <= count; k++) {
                transfer(endpoint, length, k);
            }
            if (i >= TRIALS / 2) { // the compiler works before
                least[i % 2] = Math.min(least[i % 2], System.nanoTime() - begin);
            }
        }
        return least[1] < least[0];
    }

    private void begin(PerfEndpoint endpoint, int length, long count, boolean isFencing) {
        int flags = (what == What.get ? 0 : PerfPeer.ECHO) | (isFencing ? PerfPeer.FENCING : 0);
        endpoint.drain();
        endpoint.fence(isFencing);
        endpoint.announce(new PerfEndpoint.Round(what.operation | flags, length, count));
        endpoint.clearMark(length);
        seen = endpoint.messageCount();
    }

    private long warmUp(long count) {
        if (isWarm) {
            return Math.min(count, WARM_UP_MAX);
        }
        return isBrief && iterations == null ? WARM_UP_FIRST : Math.min(2 * count, WARM_UP_FIRST);
    }

    /** Number {@code i}, there and back; a get only there. */
    private void transfer(PerfEndpoint endpoint, int length, long i) {
        if (what == What.put) {
            endpoint.mark(length, PerfEndpoint.markOf(i));
            endpoint.start(Operation.PUT, length, 1);
            endpoint.awaitMark(length, PerfEndpoint.markOf(i));
        } else {
            endpoint.start(what.operation, length, 1);
            if (what == What.get) {
                endpoint.drain();
            } else {
                endpoint.awaitMessages(seen + i);
            }
        }
    }

    private static Result result(Histogram histogram, int length, double batchMedianNs) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("batchMedianNs", Text.format("%.2f", batchMedianNs));
        fields.put("minNs", histogram.getMinValue());
        fields.put("p50Ns", histogram.getValueAtPercentile(50));
        fields.put("meanNs", Math.round(histogram.getMean()));
        fields.put("p99Ns", histogram.getValueAtPercentile(99));
        fields.put("p999Ns", histogram.getValueAtPercentile(99.9));
        fields.put("maxNs", histogram.getMaxValue());
        List<Object> cells = new ArrayList<>(List.of(length, histogram.getTotalCount()));
        for (Object value : fields.values()) {
            double ns = Double.parseDouble(value.toString());
            cells.add(Text.format("%.3f", ns / 1e3));
        }
        fields.put("p90Ns", histogram.getValueAtPercentile(90));
        addCorrected(fields, histogram);
        return new Result(cells, fields);
    }

    /**
     * While one transfer is late no other begins, so the late one is counted once although it would
     * have delayed all that a steady load has meanwhile. These percentiles count those too: a
     * transfer is expected to begin every median ("coordinated omission").
     */
    private static void addCorrected(Map<String, Object> fields, Histogram histogram) {
        long expectedNs = Math.max(1, histogram.getValueAtPercentile(50));
        Histogram corrected = histogram.copyCorrectedForCoordinatedOmission(expectedNs);
        fields.put("p99CorrectedNs", corrected.getValueAtPercentile(99));
        fields.put("p999CorrectedNs", corrected.getValueAtPercentile(99.9));
    }
}
