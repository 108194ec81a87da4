package dev.verbena.jmh;

import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.Locale;

/** What is said of the figures of several rounds. Leaves the figures in their order. */
final class Samples {
    private Samples() {}

    /** The middle one, or between the two middle ones. */
    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        int half = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
    }

    /** As {@link #spread}, of the ratios of each round. */
    static String ratios(double[] ours, double[] others) {
        double[] ratios = new double[ours.length];
        for (int i = 0; i < ratios.length; i++) {
            ratios[i] = ours[i] / others[i];
        }
        return spread(ratios);
    }

    /** The median, then the least and the greatest. */
    static String spread(double[] values) {
        DoubleSummaryStatistics all = Arrays.stream(values).summaryStatistics();
        return String.format(
                Locale.ROOT, "%.2f (%.2f to %.2f)", median(values), all.getMin(), all.getMax());
    }

    /** Prints the one figure of a program. */
    static void print(double value) {
        System.out.printf(Locale.ROOT, "\"value\": %.2f%n", value);
    }

    /** The median, then the least. */
    static String medianAndLeast(double[] values) {
        double least = Arrays.stream(values).min().orElse(Double.NaN);
        return String.format(Locale.ROOT, "%.1f (%.1f)", median(values), least);
    }
}
