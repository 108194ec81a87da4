package dev.verbena.nsim.scenario;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The random ring, figure 1 of the paper. How much of a ring stays within a node or a switch is
 * chance, so what holds for the bandwidth in general is asked of the mean over several seeds.
 */
@Tag("once")
class RandomRingTest {
    /** What the card copies per second, for each of two processes of a node, in GB/s. */
    private static final double BOUND = 1.4;

    private static final int[] SMALL = {4, 8, 16, 32};
    private static final int[] LARGE = {32, 64, 128, 256, 512};

    private static SimulationResult ring(int nodes, int processes, long bytes, long seed) {
        Scenario scenario = Scenarios.named("random-ring");
        String leaves = "leaves=" + nodes / 4;
        Machine machine =
                new Machine().set("topology", "fattree(levels=2,down=4,up=4," + leaves + ")");
        return new Simulation(machine.topology(), machine.network())
                .processes(processes)
                .perNode(2)
                .run(scenario.program(processes, new ScenarioOptions(seed, bytes)));
    }

    /** By seed, from 1, and number of processes. */
    private static double[][] bandwidths(int nodes, int[] processes, long bytes, int seeds) {
        double[][] all = new double[seeds][processes.length];
        for (int seed = 1; seed <= seeds; seed++) {
            for (int i = 0; i < processes.length; i++) {
                SimulationResult result = ring(nodes, processes[i], bytes, seed);
                all[seed - 1][i] = result.bandwidthPerProcess();
            }
        }
        return all;
    }

    private static double mean(double[][] all, int column) {
        return Arrays.stream(all).mapToDouble(row -> row[column]).average().orElseThrow();
    }

    @Test
    @Tag("nsim-38")
    void shouldReachTheDmasRateWithinASwitchAndLessBeyond() {
        double[][] all = bandwidths(16, SMALL, 2_000_000, 10);
        for (double[] row : all) {
            // Two nodes: either everybody has a neighbour at home, which costs the card nothing, or
            // nobody has; both to one percent.
            assertThat(row[0] / BOUND)
                    .satisfiesAnyOf(
                            r -> assertThat(r).isBetween(0.99, 1.0),
                            r -> assertThat(r).isBetween(1.98, 2.0));
            assertThat(row[1]).isBetween(0.85 * BOUND, BOUND);
            assertThat(row[2]).isLessThanOrEqualTo(BOUND);
            assertThat(row[3]).isLessThanOrEqualTo(BOUND);
        }
        assertThat(mean(all, 2)).isLessThan(mean(all, 1));
        assertThat(mean(all, 3)).isLessThan(0.9 * mean(all, 2));
        // The ring that the scenario runs unless it is told another seed, as figure 1 shows it.
        assertThat(all[0][2]).isLessThan(all[0][1]);
        assertThat(all[0][3]).isLessThan(all[0][1]);
    }

    @Test
    @Tag("nsim-38")
    void shouldNotRiseWithMoreProcesses() {
        double[][] all = bandwidths(256, LARGE, 200_000, 8);
        for (int i = 1; i < LARGE.length; i++) {
            assertThat(mean(all, i)).isLessThanOrEqualTo(1.03 * mean(all, i - 1));
        }
        // Not by a little: several switches share cables.
        assertThat(mean(all, LARGE.length - 1)).isLessThan(0.8 * mean(all, 0));
    }

    @Test
    void shouldHaveTheSameTraceForTheSameSeedOnly() {
        long one = ring(16, 16, 20_000, 1).traceHash();
        assertThat(ring(16, 16, 20_000, 1).traceHash()).isEqualTo(one);
        assertThat(ring(16, 16, 20_000, 2).traceHash()).isNotEqualTo(one);
    }
}
