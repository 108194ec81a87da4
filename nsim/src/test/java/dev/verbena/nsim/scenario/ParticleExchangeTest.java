package dev.verbena.nsim.scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.nsim.Machine;
import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class ParticleExchangeTest {
    private static final long BYTES = 100_000;

    private static long time(
            Topology topology,
            NetworkContext context,
            int processes,
            int perNode,
            boolean isBarrierAfter) {
        return new Simulation(topology, context)
                .processes(processes)
                .perNode(perNode)
                .run(
                        Scenarios.named("particle-exchange")
                                .program(
                                        processes,
                                        new ScenarioOptions(
                                                1, BYTES, Map.of("late", isBarrierAfter ? 1L : 0))))
                .executionPs();
    }

    /** Each process is packed when the barrier lets it go, or the other way round: the same sum. */
    @Test
    @Tag("nsim-39")
    void shouldNotMatterWhereTheBarrierIsIfBytesTakeNoTime() {
        for (int processes : new int[] {8, 16, 32}) {
            long endless = 4_000_000_000_000_000L;
            NetworkContext context =
                    new NetworkContext()
                            .linkRate(endless)
                            .switchRate(endless)
                            .dmaRate(0)
                            .vcBuffer(1_000)
                            .nicBuffer(1_000);
            Topology topology = TreeTopology.single(processes);
            double before = time(topology, context, processes, 1, false) / 1e3;
            double after = time(topology, context, processes, 1, true) / 1e3;
            assertThat(after).isCloseTo(before, within(20.0));
        }
    }

    @Test
    @Tag("nsim-39")
    void shouldMatterWhereTheBarrierIsIfPutsMeetOnCables() {
        for (int processes : new int[] {32, 64}) {
            Machine machine = new Machine();
            Scenarios.named("particle-exchange")
                    .prepare(machine, processes, ScenarioOptions.DEFAULT);
            long before = time(machine.topology(), machine.network(), processes, 2, false);
            long after = time(machine.topology(), machine.network(), processes, 2, true);
            // Far more than the few nanoseconds of the other test.
            assertThat(Math.abs(after - before)).isGreaterThan(1_000_000);
        }
    }
}
