package dev.verbena.nsim.flesnet;

import dev.verbena.flesnet.IntervalHandler;
import dev.verbena.flesnet.dfs.IntervalMetadata;
import java.util.Arrays;

/** What inputs were to take for each interval, and what they took. One thread. */
final class IntervalLog implements IntervalHandler {
    private final int inputs;
    private final long[][] planned;
    private final long[][] measured;
    private final int[] counts;
    private Report report = (input, interval, measuredNs) -> measuredNs;

    /** Decides what is reported. */
    @FunctionalInterface
    interface Report {
        long of(int input, long interval, long measuredNs);
    }

    IntervalLog(int inputs, int intervals) {
        this.inputs = inputs;
        planned = new long[intervals][inputs];
        measured = new long[intervals][inputs];
        counts = new int[intervals];
    }

    /** Sets who decides what is reported. */
    void onReport(Report value) {
        report = value;
    }

    @Override
    public long onInterval(int input, IntervalMetadata interval, long plannedNs) {
        int number = (int) interval.interval();
        if (number < counts.length && counts[number] < inputs) {
            planned[number][counts[number]] = plannedNs;
            measured[number][counts[number]++] = interval.durationNs();
        }
        return report.of(input, interval.interval(), interval.durationNs());
    }

    private long[] medians(long[][] all) {
        long[] medians = new long[all.length];
        for (int j = 0; j < all.length; j++) {
            long[] sorted = Arrays.copyOf(all[j], counts[j]);
            Arrays.sort(sorted);
            medians[j] = sorted.length == 0 ? 0 : sorted[sorted.length / 2];
        }
        return medians;
    }

    /** Median over inputs of the planned durations, by interval; 0: nobody has measured it. */
    long[] plannedNs() {
        return medians(planned);
    }

    /** Median over inputs of the measured durations, by interval; 0: nobody has measured it. */
    long[] measuredNs() {
        return medians(measured);
    }
}
