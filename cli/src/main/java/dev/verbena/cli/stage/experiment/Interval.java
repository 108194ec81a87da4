package dev.verbena.cli.stage.experiment;

import java.util.Arrays;

/**
 * Mean of a sample and half of its 95 % confidence interval, by Student's t distribution.
 *
 * @param count values
 * @param mean NaN if there are none
 * @param half NaN for less than two values
 */
record Interval(int count, double mean, double half) {
    /** Two-sided 95 % quantiles of t, for 1 and more degrees of freedom. */
    private static final double[] QUANTILES = {
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042
    };

    /** Of the values that are numbers. */
    static Interval of(double[] values) {
        double[] numbers = Arrays.stream(values).filter(Double::isFinite).toArray();
        int count = numbers.length;
        double mean = Arrays.stream(numbers).average().orElse(Double.NaN);
        double squares = Arrays.stream(numbers).map(v -> (v - mean) * (v - mean)).sum();
        double half =
                count < 2
                        ? Double.NaN
                        : quantile(count - 1) * Math.sqrt(squares / (count - 1) / count);
        return new Interval(count, mean, half);
    }

    /** Above the table the normal distribution's quantile with its first correction. */
    private static double quantile(int degrees) {
        return degrees <= QUANTILES.length ? QUANTILES[degrees - 1] : 1.96 + 2.4 / degrees;
    }

    /** For people; a dash if there is nothing. */
    String text(String format) {
        if (count == 0) {
            return "-";
        }
        String shown = String.format(java.util.Locale.ROOT, format, mean);
        return count < 2
                ? shown
                : shown + " ± " + String.format(java.util.Locale.ROOT, format, half);
    }
}
