package dev.verbena.nsim.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.topology.GridTopology;
import dev.verbena.nsim.topology.TieRule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SampleTest {
    /** As the paper prints it, and as the Javadoc of Rank shows it. */
    private static final Program SAMPLE =
            rank -> {
                long handle = rank.put((rank.rank() + 1) % rank.size(), 4, 0);
                rank.poll(0);
                rank.complete(handle);
            };

    @Test
    @Tag("nsim-34")
    void shouldEndEverywhereAtOnceOnARing() {
        long expected = -1;
        for (int p = 2; p <= 1024; p = p < 9 ? p + 1 : 2 * p - 2) {
            SimulationResult result =
                    new Simulation(GridTopology.torus(TieRule.POSITIVE, p), new NetworkContext())
                            .run(SAMPLE);
            for (int rank = 0; rank < p; rank++) {
                assertThat(result.endPs(rank)).isEqualTo(result.executionPs());
            }
            // With two processes the way back is not the way there reversed, but as long.
            assertThat(expected < 0 ? result.executionPs() : expected)
                    .isEqualTo(result.executionPs());
            expected = result.executionPs();
        }
        SimulationResult largest =
                new Simulation(GridTopology.torus(TieRule.POSITIVE, 1024), new NetworkContext())
                        .run(SAMPLE);
        assertThat(largest.executionPs()).isEqualTo(expected);
    }
}
