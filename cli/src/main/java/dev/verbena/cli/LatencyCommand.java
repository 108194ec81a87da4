package dev.verbena.cli;

import dev.verbena.transport.Operation;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;

/** {@code verbena lat}. */
@Command(
        name = "lat",
        description = {
            "Measure latency between two processes, in the manner of perftest.",
            "put and send: half a round trip, the other process answering. get: one read."
        })
final class LatencyCommand extends PerfCommand {
    private static final long LONGEST_NS = 10_000_000_000L;

    @Override
    int defaultLength() {
        return 8;
    }

    @Override
    long defaultIterations(int length) {
        return Math.max(1000, Math.min(200_000, 400_000_000L / (length + 2000)));
    }

    @Override
    String header() {
        return String.format(
                "%9s %11s %10s %10s %10s %10s %10s %10s   %s",
                "#bytes",
                "#iterations",
                "min[usec]",
                "p50[usec]",
                "avg[usec]",
                "p99[usec]",
                "p99.9",
                "max[usec]",
                "cache line [ns]");
    }

    @Override
    Result measure(PerfEndpoint endpoint, int length, long count) {
        boolean isOneWay = what == What.get;
        int operation = what.operation;
        long warmUp = Math.min(count, 20_000);
        int echo = isOneWay ? 0 : PerfPeer.ECHO;
        endpoint.announce(new PerfEndpoint.Round(operation | echo, length, warmUp + count));
        endpoint.clearMark(length);
        Histogram histogram = new Histogram(LONGEST_NS, 3);
        long seen = endpoint.messageCount();
        for (long i = 1; i <= warmUp + count; i++) {
            long begin = System.nanoTime();
            if (operation == Operation.PUT) {
                endpoint.mark(length, mark(i));
                endpoint.start(operation, length, 1);
                endpoint.awaitMark(length, mark(i));
            } else {
                endpoint.start(operation, length, 1);
                if (isOneWay) {
                    endpoint.drain();
                } else {
                    endpoint.awaitMessages(seen + i);
                }
            }
            if (i > warmUp) {
                long elapsed = System.nanoTime() - begin;
                histogram.recordValue(Math.min(LONGEST_NS, isOneWay ? elapsed : elapsed / 2));
            }
        }
        endpoint.drain();
        return result(histogram, length);
    }

    private static Result result(Histogram histogram, int length) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("minNs", histogram.getMinValue());
        fields.put("p50Ns", histogram.getValueAtPercentile(50));
        fields.put("meanNs", Math.round(histogram.getMean()));
        fields.put("p99Ns", histogram.getValueAtPercentile(99));
        fields.put("p999Ns", histogram.getValueAtPercentile(99.9));
        fields.put("maxNs", histogram.getMaxValue());
        StringBuilder line = new StringBuilder();
        line.append(String.format("%9d %11d", length, histogram.getTotalCount()));
        for (Object value : fields.values()) {
            line.append(
                    String.format(Locale.ROOT, " %10.3f", ((Number) value).doubleValue() / 1e3));
        }
        return new Result(line.toString(), fields);
    }
}
