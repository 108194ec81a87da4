package dev.verbena.cli.experiment;

import static org.assertj.core.api.Assertions.assertThat;

import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the simulator says to a point of experiment e2. */
@Timeout(60)
class KneePredictionTest {
    private static ExperimentPoint point(int clients, double multiple) {
        ExperimentPoint point =
                new ExperimentPoint(
                        ExperimentPoint.Manner.MESSAGE,
                        new ExperimentPoint.Load(clients, 1 << 20, 0, 24, 12, 1),
                        new ExperimentPoint.Service(1, 0, 4 << 20, 100e6, 0, false),
                        1);
        return point.computing(multiple * point.kneeNs());
    }

    /** The law: what is missing to the knee is waited for, and beyond the knee nothing is. */
    @ParameterizedTest
    @CsvSource({"4,0.5", "8,0.5", "8,0.66", "8,0.8", "8,1.5", "8,2"})
    void shouldWaitForWhatIsMissingToTheKnee(int clients, double multiple) {
        KneePrediction prediction = KneePrediction.of(point(clients, multiple), 0);
        assertThat(prediction.simulated())
                .isCloseTo(Math.max(0, 1 - multiple), Offset.offset(0.04));
    }

    @Test
    void shouldCompareInKnees() {
        ExperimentPoint point = point(8, 1.5);
        KneePrediction both = KneePrediction.of(point, point.kneeNs() / 4);
        assertThat(both.measured()).isEqualTo(0.25);
        assertThat(both.simulated()).isBetween(0.0, 0.02);
        assertThat(both.deviation()).isEqualTo(both.simulated() - 0.25);
        assertThat(new KneePrediction(8, 0.5, 0.48, 0.5).name())
                .isEqualTo("N 8, C 0.50 knees: tw in knees");
        assertThat(new KneePrediction(8, 0.5, 0.48, 0.5).text())
                .isEqualTo("0.480 measured, 0.500 simulated, deviation +0.020");
    }

    @Test
    void shouldTakeTheSameTimesFromTheSamePoint() {
        assertThat(KneePrediction.of(point(8, 0.5), 1e6))
                .isEqualTo(KneePrediction.of(point(8, 0.5), 1e6));
    }
}
