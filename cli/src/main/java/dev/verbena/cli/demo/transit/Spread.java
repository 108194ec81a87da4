package dev.verbena.cli.demo.transit;

import java.util.Arrays;
import java.util.Collection;
import java.util.function.ToLongFunction;

/**
 * Mean and spread of measured times, in nanoseconds.
 *
 * @param count how many were measured
 * @param mean of them; 0 if there are none
 * @param deviation standard deviation of the sample; 0 if there are less than two
 * @param least shortest
 * @param most longest
 */
record Spread(int count, double mean, double deviation, double least, double most) {
    /** Differences below as many standard errors are put down to chance. */
    private static final double STANDARD_ERRORS = 2;

    /** Differences below this part are not worth a word, however sure they are. */
    private static final double PART = 0.05;

    static Spread of(double[] values) {
        double mean = Arrays.stream(values).average().orElse(0);
        double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
        return new Spread(
                values.length,
                mean,
                values.length < 2 ? 0 : Math.sqrt(squares / (values.length - 1)),
                Arrays.stream(values).min().orElse(0),
                Arrays.stream(values).max().orElse(0));
    }

    static <T> Spread of(Collection<T> measured, ToLongFunction<T> time) {
        return of(measured.stream().mapToDouble(time::applyAsLong).toArray());
    }

    /** Whether the means differ by more than chance explains. */
    boolean differsFrom(Spread other) {
        double difference = Math.abs(mean - other.mean);
        double error = Math.sqrt(errorSquare() + other.errorSquare());
        return difference > STANDARD_ERRORS * error
                && difference > PART * Math.min(mean, other.mean);
    }

    private double errorSquare() {
        return deviation * deviation / Math.max(1, count);
    }

    /** For people, who are told the count elsewhere: mean, and in brackets shortest to longest. */
    String text() {
        return count == 0
                ? "-"
                : Times.text(mean) + " (" + Times.text(least) + " to " + Times.text(most) + ")";
    }
}
