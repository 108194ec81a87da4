package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.flesnet.FlesnetExperiment.Outcome;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The scheduler's effect, packet by packet, in small. */
@Timeout(900)
@Tag("once")
class FlesnetExperimentTest {
    // --long: 32 nodes of each kind instead of 8
    private static final int PAIRS = Boolean.getBoolean("verbena.long") ? 32 : 8;
    private static final int INTERVALS = 12;

    private static Outcome bestEffort;
    private static Outcome paced;

    @BeforeAll
    static void runBoth() {
        bestEffort = new FlesnetExperiment(PAIRS, 320, INTERVALS).run();
        paced = new FlesnetExperiment(PAIRS, 320, INTERVALS).paced(true).run();
        assertThat(bestEffort.isOnce()).isTrue();
        assertThat(paced.isOnce()).isTrue();
    }

    @Test
    @Tag("flesnet-51")
    @Tag("flesnet-18")
    void shouldKeepRingsNearlyEmpty() {
        assertThat(bestEffort.fill(100)).isEqualTo(1.0);
        assertThat(paced.fill(50)).isLessThanOrEqualTo(0.15);
    }

    /** The paper has a thirtieth on its machine: docs/flesnet-experiments.md. */
    @Test
    @Tag("flesnet-50")
    void shouldBringArrivalsTogether() {
        assertThat(3 * paced.spreadNs(90)).isLessThanOrEqualTo(bestEffort.spreadNs(90));
    }

    /** The paper has 1.39 to 1.52 on its machine. */
    @Test
    @Tag("flesnet-52")
    void shouldCostLittleBandwidth() {
        assertThat(paced.bytesPerSecond()).isGreaterThan(0.8 * bestEffort.bytesPerSecond());
    }
}
