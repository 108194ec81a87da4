package dev.verbena.cli.stage.experiment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Statistics of the experiment, beside numbers that were computed by hand. */
@Timeout(60)
class IntervalTest {
    @Test
    void shouldUseStudentsDistribution() {
        Interval interval = Interval.of(new double[] {1, 2, 3, 4, 5, Double.NaN});
        assertThat(interval.count()).isEqualTo(5);
        assertThat(interval.mean()).isEqualTo(3);
        // 2.776 times the root of 2.5 / 5
        assertThat(interval.half()).isCloseTo(1.963, within(0.001));
        assertThat(interval.text("%.2f")).isEqualTo("3.00 ± 1.96");
    }

    @Test
    void shouldHaveNoIntervalOfOneValue() {
        assertThat(Interval.of(new double[] {7}).text("%.0f")).isEqualTo("7");
        assertThat(Interval.of(new double[0]).text("%.0f")).isEqualTo("-");
    }

    @Test
    void shouldFitALine() {
        LineFit fit = LineFit.of(new double[] {0, 1, 2}, new double[] {1, 3, 5});
        assertThat(fit.offset()).isCloseTo(1, within(1e-12));
        assertThat(fit.slope()).isCloseTo(2, within(1e-12));
        assertThat(fit.square()).isCloseTo(1, within(1e-12));
    }
}
