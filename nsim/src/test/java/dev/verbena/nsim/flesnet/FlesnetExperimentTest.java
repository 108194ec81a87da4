package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.flesnet.FlesnetExperiment.Outcome;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The scheduler's effect, packet by packet, in small. */
@Timeout(900)
@Tag("once")
class FlesnetExperimentTest {
    // --long: 32 nodes of each kind instead of 8
    private static final int PAIRS = Boolean.getBoolean("verbena.long") ? 32 : 8;
    private static final int INTERVALS = 4;

    private static Outcome run(boolean isPaced) {
        Outcome outcome = new FlesnetExperiment(PAIRS, 320, INTERVALS).paced(isPaced).run();
        assertThat(outcome.isOnce()).isTrue();
        return outcome;
    }

    /** So short a run does not show that arrivals come closer together. */
    @Test
    @Tag("flesnet-51")
    @Tag("flesnet-18")
    void shouldKeepRingsNearlyEmpty() {
        Outcome bestEffort = run(false);
        Outcome paced = run(true);
        assertThat(bestEffort.fill(100)).isEqualTo(1.0);
        assertThat(paced.fill(50)).isLessThanOrEqualTo(0.15);
    }
}
