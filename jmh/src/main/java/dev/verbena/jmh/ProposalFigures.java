package dev.verbena.jmh;

import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import dev.verbena.flesnet.dfs.IntervalRanges;
import dev.verbena.flesnet.dfs.Proposer;
import dev.verbena.flesnet.dfs.ScheduleEngine;
import java.util.Arrays;
import java.util.Locale;

/**
 * How long a replica of FLESnet's scheduler takes for 384 inputs, with the paper's parameters.
 * Prints one median in us. Arguments: {@code proposal}, from the last report of an interval to an
 * answer for every input; {@code interval}, from its first report on.
 */
public final class ProposalFigures {
    private static final int INPUTS = 384;
    private static final int WARM_UPS = 10_000;
    private static final int INTERVALS = 10_000;
    private static final long DURATION_NS = 500_000_000;
    private static final long DIFFERENCE_NS = 10_000_000;
    private static final long LATENCY_NS = 2_000;

    private final DfsParameters parameters = DfsParameters.PAPER;
    private final IntervalRanges ranges =
            new IntervalRanges(parameters.timeslicesPerInterval(), INPUTS);
    private final ScheduleEngine engine = new ScheduleEngine(parameters, INPUTS, ranges);
    private final IntervalMetadata metadata = new IntervalMetadata();

    private ProposalFigures() {}

    /** Inputs differ, and each of them from interval to interval. */
    private void report(int input, long interval) {
        long mixed = (interval * INPUTS + input) * 0x9E3779B97F4A7C15L >>> 33;
        long differenceNs = mixed % DIFFERENCE_NS;
        long startNs = interval * (DURATION_NS + DIFFERENCE_NS) + differenceNs / 1000;
        long durationNs = DURATION_NS + differenceNs;
        long endNs = startNs + durationNs;
        metadata.set(
                interval,
                ranges.rounds(interval),
                ranges.first(interval),
                ranges.last(interval),
                startNs,
                durationNs);
        engine.onReport(
                input,
                metadata,
                interval + Proposer.DISTANCE,
                endNs,
                LATENCY_NS,
                endNs + LATENCY_NS);
    }

    private long nanoseconds(long interval, boolean isWhole) {
        long beginNs = System.nanoTime();
        for (int i = 0; i < INPUTS - 1; i++) {
            report(i, interval);
        }
        if (!isWhole) {
            beginNs = System.nanoTime();
        }
        report(INPUTS - 1, interval);
        for (int i = 0; i < INPUTS; i++) {
            if (!engine.answer(i, metadata) || metadata.durationNs() <= 0) {
                throw new IllegalStateException("input " + i + " got no proposal");
            }
        }
        return System.nanoTime() - beginNs;
    }

    private double median(boolean isWhole) {
        long[] times = new long[INTERVALS];
        for (int i = -WARM_UPS; i < INTERVALS; i++) {
            long time = nanoseconds(i + WARM_UPS, isWhole);
            if (i >= 0) {
                times[i] = time;
            }
        }
        Arrays.sort(times);
        return times[INTERVALS / 2] / 1e3;
    }

    /** Prints one number: us. */
    public static void main(String[] arguments) {
        boolean isWhole =
                switch (arguments[0]) {
                    case "proposal" -> false;
                    case "interval" -> true;
                    default -> throw new IllegalArgumentException(arguments[0]);
                };
        double value = new ProposalFigures().median(isWhole);
        System.out.printf(Locale.ROOT, "\"value\": %.3f%n", value);
    }
}
