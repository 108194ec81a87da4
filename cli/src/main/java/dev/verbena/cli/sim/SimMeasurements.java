package dev.verbena.cli.sim;

import dev.verbena.nsim.scenario.Calibration;
import dev.verbena.nsim.scenario.Measure;
import java.util.Arrays;

/**
 * What times of real processes come to. Times of a scenario: a row per process, begin and end of
 * each run in turn, in nanoseconds of the host's clock, which all processes share.
 */
final class SimMeasurements {
    private SimMeasurements() {}

    /**
     * The two numbers of a machine, as the NSIM-ACE paper finds them: half of the shortest barrier
     * of two processes, by the clock of the one that begins; the rate of a ring of two.
     *
     * @param bytes that each process of the ring sent
     */
    static Calibration calibration(long[][] barrier, long[][] ring, long bytes) {
        long[] first = barrier[0];
        long shortest = Long.MAX_VALUE;
        for (int i = 0; i < first.length; i += 2) {
            shortest = Math.min(shortest, first[i + 1] - first[i]);
        }
        double ringNs = figureNs(Measure.BANDWIDTH, ring);
        return Calibration.of(1000 * shortest, Math.round(1000 * ringNs), bytes, 0);
    }

    /**
     * From the first process's beginning to the last one's end: of barriers the shortest run, of
     * others the median.
     */
    static double figureNs(Measure measure, long[][] times) {
        long[] spans = new long[times[0].length / 2];
        for (int i = 0; i < spans.length; i++) {
            long begin = Long.MAX_VALUE;
            long end = Long.MIN_VALUE;
            for (long[] own : times) {
                begin = Math.min(begin, own[2 * i]);
                end = Math.max(end, own[2 * i + 1]);
            }
            spans[i] = end - begin;
        }
        Arrays.sort(spans);
        return spans[measure == Measure.BARRIER ? 0 : spans.length / 2];
    }

    /**
     * A time in the measure's unit.
     *
     * @param bytes that each process sent
     */
    static double inUnit(Measure measure, double ns, double bytes) {
        return switch (measure) {
            case BARRIER -> ns / 1e3;
            case BANDWIDTH -> bytes / ns;
            default -> ns / 1e6;
        };
    }
}
