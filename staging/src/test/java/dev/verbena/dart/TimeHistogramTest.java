package dev.verbena.dart;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TimeHistogramTest {
    @Test
    void shouldKeepPercentiles() {
        TimeHistogram histogram = new TimeHistogram();
        for (int i = 1; i <= 100_000; i++) {
            histogram.record(i);
        }
        assertThat(histogram.count()).isEqualTo(100_000);
        assertThat(histogram.percentileNs(50)).isBetween(50_000L, 52_000L);
        assertThat(histogram.percentileNs(99)).isBetween(99_000L, 100_000L);
        assertThat(histogram.maxNs()).isEqualTo(100_000);
        histogram.record(Long.MAX_VALUE);
        assertThat(histogram.percentileNs(100)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldKeepSumAndMaximumWithoutADistribution() {
        TimeHistogram histogram = new TimeHistogram(false);
        histogram.record(3);
        histogram.record(5);
        assertThat(histogram.count()).isEqualTo(2);
        assertThat(histogram.meanNs()).isEqualTo(4);
        assertThat(histogram.percentileNs(50)).isEqualTo(5);
        histogram.reset();
        assertThat(histogram.percentileNs(50)).isZero();
    }
}
