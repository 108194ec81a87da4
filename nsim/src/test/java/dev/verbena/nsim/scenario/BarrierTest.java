package dev.verbena.nsim.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.SimulationResult;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TopologyChecks;
import dev.verbena.nsim.topology.TreeTopology;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Barriers, against section 5.2 of the specification. */
@Tag("once")
class BarrierTest {
    private static final int ROUTER_AND_CABLE_PS = 140_600;
    private static final int EIGHT_BYTES_PS = 2_000;
    private static final Scenario RING = Scenarios.named("ring-barrier");
    private static final Scenario DOUBLING = Scenarios.named("recursive-doubling");

    private static NetworkContext latency(double microseconds) {
        return new NetworkContext().overheadPs(Math.round(microseconds * 1e6)).dmaRate(0);
    }

    /** All hops equal: a switch, or one node per leaf below enough spines. */
    private static Topology equalHops(int routers, int processes) {
        return routers == 1
                ? TreeTopology.single(processes)
                : TreeTopology.leafSpine(processes, 1, Math.min(processes, 16));
    }

    private static SimulationResult run(
            Topology topology, NetworkContext context, int processes, Scenario scenario) {
        Program program = scenario.program(processes, ScenarioOptions.DEFAULT);
        return new Simulation(topology, context).processes(processes).run(program);
    }

    @ParameterizedTest
    @Tag("nsim-36")
    @CsvSource({
        "0.6, 1, 743.2, 2.230, 5.202, 11.148, 23.039, 379.8, 1.486, 2.230, 2.973, 3.716, 6.689",
        "0.6, 3, 1024.4, 3.073, 7.171, 15.366, 31.756, 523.5, 2.049, 3.073, 4.098, 5.122, 9.220",
        "0.8, 1, 943.2, 2.830, 6.602, 14.148, 29.239, 482.0, 1.886, 2.830, 3.773, 4.716, 8.489",
        "0.8, 3, 1224.4, 3.673, 8.571, 18.366, 37.956, 625.7, 2.449, 3.673, 4.898, 6.122, 11.02",
        "0.9, 1, 1043.2, 3.130, 7.302, 15.648, 32.339, 533.1, 2.086, 3.130, 4.173, 5.216, 9.389",
        "0.9, 3, 1324.4, 3.973, 9.271, 19.866, 41.056, 676.8, 2.649, 3.973, 5.298, 6.622, 11.92",
    })
    void shouldTakeTheTimesOfTheTable(
            double latency,
            int routers,
            double step,
            double ring4,
            double ring8,
            double ring16,
            double ring32,
            double ring512,
            double doubling4,
            double doubling8,
            double doubling16,
            double doubling32,
            double doubling512) {
        int[] processes = {4, 8, 16, 32, 512};
        double[] ring = {ring4, ring8, ring16, ring32, ring512};
        double[] doubling = {doubling4, doubling8, doubling16, doubling32, doubling512};
        for (int i = 0; i < processes.length; i++) {
            int p = processes[i];
            Topology topology = equalHops(routers, p);
            long steps = 31 - Integer.numberOfLeadingZeros(p);
            checkDoubling(topology, latency, step, p, steps, doubling[i]);
            long time = run(topology, latency(latency), p, RING).executionPs();
            assertThat(time / 1e3).isCloseTo((p - 1) * step, within(1.0));
            assertThat(time / 1e6).isCloseTo(ring[i], within(0.05 + ring[i] / 1e4));
        }
    }

    private static void checkDoubling(
            Topology topology, double latency, double step, int p, long steps, double expected) {
        long time = run(topology, latency(latency), p, DOUBLING).executionPs();
        assertThat(time / 1e3).isCloseTo(steps * step, within(1.0));
        assertThat(time / 1e6).isCloseTo(expected, within(0.006));
    }

    private static long step(Topology topology, long overheadPs, int from, int to) {
        int routers = TopologyChecks.routersBetween(topology, from, to);
        return overheadPs + routers * ROUTER_AND_CABLE_PS + 600 + EIGHT_BYTES_PS;
    }

    @Test
    @Tag("nsim-36")
    void shouldFollowTheRecurrencesWhereHopsDiffer() {
        Topology topology = TreeTopology.leafSpine(6, 8, 8);
        for (int p : new int[] {4, 9, 12, 16, 24, 32, 48}) {
            long overhead = 700_000;
            NetworkContext context = new NetworkContext().overheadPs(overhead).dmaRate(0);
            long[] now = new long[p];
            for (int k = 1; k < p; k++) {
                long[] next = new long[p];
                for (int i = 0; i < p; i++) {
                    int left = (i + p - 1) % p;
                    next[i] = Math.max(now[i], now[left] + step(topology, overhead, left, i));
                }
                now = next;
            }
            SimulationResult ring = run(topology, context, p, RING);
            for (int i = 0; i < p; i++) {
                assertThat(ring.endPs(i)).isEqualTo(now[i]);
            }
        }
    }

    @Test
    @Tag("nsim-36")
    void shouldFollowTheRecurrenceOfDoublingWhereHopsDiffer() {
        Topology topology = TreeTopology.leafSpine(8, 2, 8);
        for (int p : new int[] {2, 4, 8, 16}) {
            long overhead = 600_000;
            NetworkContext context = new NetworkContext().overheadPs(overhead).dmaRate(0);
            long[] now = new long[p];
            for (int bit = 1; bit < p; bit <<= 1) {
                long[] next = new long[p];
                for (int i = 0; i < p; i++) {
                    int partner = i ^ bit;
                    next[i] = Math.max(now[i], now[partner] + step(topology, overhead, partner, i));
                }
                now = next;
            }
            SimulationResult doubling = run(topology, context, p, DOUBLING);
            for (int i = 0; i < p; i++) {
                assertThat(doubling.endPs(i)).isEqualTo(now[i]);
            }
        }
    }

    /**
     * Two more steps; but who has no partner does not wait for them, so the time is that of one
     * step more unless two partners are as far apart as ranks can be.
     */
    @Test
    @Tag("nsim-37")
    void shouldTakeTwoStepsMoreIfNotAPowerOfTwoAndNotLoseAgainstTheRing() {
        for (int p = 2; p <= 40; p++) {
            Topology topology = TreeTopology.single(p);
            NetworkContext context = latency(0.8);
            long step = step(topology, 800_000, 0, 1);
            int power = Integer.highestOneBit(p);
            int more = p - power;
            long steps = Integer.numberOfTrailingZeros(power);
            long longer = more == 0 ? 0 : 2 * more > power ? 2 : 1;
            SimulationResult doubling = run(topology, context, p, DOUBLING);
            long ring = run(topology, context, p, RING).executionPs();
            // Two puts to one process share its cable: a few nanoseconds.
            assertThat(doubling.executionPs() / 1e3)
                    .isCloseTo((steps + longer) * step / 1e3, within(20.0));
            assertThat(doubling.putCount()).isEqualTo(power * steps + 2L * more);
            assertThat(ring).isEqualTo((p - 1) * step);
            assertThat(doubling.executionPs()).isLessThanOrEqualTo(ring + 20_000);
        }
    }
}
