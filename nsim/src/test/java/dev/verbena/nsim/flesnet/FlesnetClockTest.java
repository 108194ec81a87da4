package dev.verbena.nsim.flesnet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.flesnet.PatternSource;
import dev.verbena.flesnet.dfs.DfsParameters;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.TreeTopology;
import dev.verbena.nsim.world.Host;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The scheduler over clocks that are wrong. */
@Timeout(120)
@Tag("once")
class FlesnetClockTest {
    private static final long MS = 1_000_000;
    private static final int NODES = 4;
    private static final int INTERVAL = 40;
    private static final int HISTORY = 5;
    private static final int TIMESLICES = 1600;

    /** Spreads of arrivals, once all intervals of a history have passed. */
    private static List<Long> spreads(boolean isWrong, long seed) {
        List<Long> spreads = new ArrayList<>();
        try (FlesnetSimulation simulation =
                new FlesnetSimulation(
                        seed,
                        TreeTopology.single(2 * NODES),
                        new NetworkContext(),
                        c ->
                                c.nodes(NODES, NODES)
                                        .timeslice(4, 0)
                                        .rings(20, 5)
                                        .sourceRing(22, 10)
                                        .dfs(
                                                DfsParameters.PAPER.intervals(INTERVAL, HISTORY),
                                                1))) {
            simulation.world().randomSchedule(200);
            if (isWrong) {
                beginWrong(simulation);
            }
            for (int c = 0; c < NODES; c++) {
                simulation.compute(
                        t -> {
                            if (t.index() > (HISTORY + 3) * INTERVAL) {
                                spreads.add(t.arrivalSpreadNs());
                            }
                            t.release();
                        });
            }
            for (int i = 0; i < NODES; i++) {
                simulation.input(new PatternSource(i, TIMESLICES * 4, (16 << 10) - 32, 0, 0));
            }
            assertThat(simulation.run(60_000 * MS)).as(simulation.failure()).isTrue();
            simulation.inputs().forEach(i -> assertThat(i.process().errors()).isEmpty());
            simulation.computes().forEach(c -> assertThat(c.process().errors()).isEmpty());
        }
        return spreads;
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
    }

    private static double mean(List<Long> values) {
        return values.stream().mapToLong(Long::longValue).average().orElseThrow();
    }

    /** Clocks of inputs are up to a second off, and then run up to 100 ppm wrong. */
    private static void beginWrong(FlesnetSimulation simulation) {
        long[] offsetsMs = {1000, -1000, 300, -700};
        long[] drifts = {100, -100, -60, 80};
        List<Host> hosts = new ArrayList<>();
        for (int i = 0; i < NODES; i++) {
            Host host = simulation.world().host("input" + i);
            host.clock(0, offsetsMs[i] * 500);
            hosts.add(host);
        }
        // Two seconds in which they come apart.
        simulation.world().run(2000 * MS);
        for (int i = 0; i < NODES; i++) {
            hosts.get(i).clock(0, drifts[i]);
        }
    }

    @Test
    @Tag("flesnet-40")
    void shouldKeepArrivalsTogetherWithClocksThatAreWrong() {
        for (long seed = 1; seed <= 2; seed++) {
            List<Long> right = spreads(false, seed);
            List<Long> wrong = spreads(true, seed);
            assertThat((double) median(wrong) / median(right)).isBetween(0.9, 1.1);
            assertThat(mean(wrong) / mean(right)).isBetween(0.9, 1.1);
        }
    }
}
