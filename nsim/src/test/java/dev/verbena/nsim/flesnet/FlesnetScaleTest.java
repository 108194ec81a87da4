package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.FlesnetInput;
import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.BitSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The scheduler over many nodes, in one JVM. */
@Timeout(3600)
@Tag("once")
class FlesnetScaleTest {
    // --long: 500 inputs and 500 compute nodes instead of 64 of each
    private static final int PAIRS = Boolean.getBoolean("verbena.long") ? 500 : 64;

    private static final int INTERVALS = 10;
    private static final long LIMIT_NS = 600_000_000_000L;

    @Test
    @Tag("nsim-51")
    @Tag("flesnet-18")
    void shouldScheduleTenIntervals() {
        int timeslices = INTERVALS * PAIRS;
        BitSet seen = new BitSet();
        long[] delivered = new long[1];
        try (FlesnetSimulation simulation =
                new FlesnetSimulation(
                        1,
                        TreeTopology.single(2 * PAIRS),
                        new NetworkContext(),
                        c ->
                                c.nodes(PAIRS, PAIRS)
                                        .timeslice(1, 0)
                                        .rings(13, 3)
                                        .sourceRing(20, 10)
                                        .heartbeatNs(60_000_000_000L)
                                        .peerTimeoutNs(60_000_000_000L)
                                        .dfs(DfsParameters.PAPER.intervals(PAIRS, 3), 1))) {
            simulation.world().sizeOnlyAbove(512);
            for (int c = 0; c < PAIRS; c++) {
                simulation.compute(
                        t -> {
                            delivered[0]++;
                            seen.set((int) t.index());
                            t.release();
                        });
            }
            for (int i = 0; i < PAIRS; i++) {
                simulation.input(new PatternSource(i, timeslices, 992, 0, 0));
            }
            assertThat(simulation.run(LIMIT_NS)).as(simulation.failure()).isTrue();
            assertThat(delivered[0]).isEqualTo(timeslices);
            assertThat(seen.cardinality()).isEqualTo(timeslices);
            assertThat(simulation.computes().get(0).node().statistics().lastProposed())
                    .isGreaterThanOrEqualTo(INTERVALS - 1);
            for (FlesnetSimulation.Node<FlesnetInput> input : simulation.inputs()) {
                assertThat(input.node().statistics().openInterval()).isEqualTo(INTERVALS - 1);
            }
        }
    }
}
