package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;

import dev.verbena.nsim.topology.DetourRouting;
import dev.verbena.nsim.topology.DragonflyTopology;
import dev.verbena.nsim.topology.TieRule;
import dev.verbena.nsim.topology.Topologies;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class DetourTest {
    private static final long US = 1_000_000;

    private static Traffic traffic(DetourRouting detour, boolean isAdversarial, double offered) {
        DragonflyTopology dragonfly = new DragonflyTopology(2, 4, 2, detour);
        int perGroup = 2 * 4;
        int nodes = dragonfly.nodes();
        return new Traffic(
                dragonfly,
                new NetworkContext().dmaRate(0),
                (node, random) ->
                        isAdversarial
                                ? ((node / perGroup + 1) * perGroup + random.below(perGroup))
                                        % nodes
                                : (node + 1 + random.below(nodes - 1)) % nodes,
                offered);
    }

    /** All of a group send to the next group, to which one cable leads. */
    @Test
    @Tag("nsim-54")
    void shouldBeatShortestWaysWhereOneCableLeadsToAllDestinations() {
        double minimal = traffic(DetourRouting.MINIMAL, true, 0.3).accepted(20 * US, 30 * US, 1);
        double valiant = traffic(DetourRouting.VALIANT, true, 0.3).accepted(20 * US, 30 * US, 1);
        double ugal = traffic(DetourRouting.UGAL, true, 0.3).accepted(20 * US, 30 * US, 1);
        assertThat(minimal).isLessThanOrEqualTo(0.127);
        assertThat(valiant).isGreaterThan(1.5 * minimal);
        assertThat(ugal).isGreaterThan(1.5 * minimal);
    }

    @Test
    @Tag("nsim-54")
    void shouldBeAboutAsGoodAsShortestWaysAtLowUniformLoad() {
        Traffic minimal = traffic(DetourRouting.MINIMAL, false, 0.1);
        Traffic ugal = traffic(DetourRouting.UGAL, false, 0.1);
        Traffic valiant = traffic(DetourRouting.VALIANT, false, 0.1);
        double accepted = minimal.accepted(20 * US, 60 * US, 1);
        assertThat(ugal.accepted(20 * US, 60 * US, 1)).isGreaterThan(0.9 * accepted);
        assertThat(valiant.accepted(20 * US, 60 * US, 1)).isGreaterThan(0.9 * accepted);
        double latency = 1.0 * minimal.latencyPs / minimal.arrived;
        assertThat(1.0 * ugal.latencyPs / ugal.arrived).isLessThan(1.1 * latency);
    }

    @Test
    void shouldDeliverEverythingByDetours() {
        for (String shape :
                new String[] {
                    "dragonfly(p=1,a=3,h=2,routing=valiant)", "dragonfly(p=2,a=2,h=1,routing=ugal)",
                    "hyperx(3,2,2;nodes=2,routing=valiant)", "slimfly(q=5,nodes=1,routing=ugal)"
                }) {
            var topology = Topologies.parse(shape, TieRule.BALANCED);
            assertThat(topology.name()).isEqualTo(shape);
            Traffic traffic =
                    new Traffic(
                            topology,
                            new NetworkContext().vcBuffer(1).dmaRate(0),
                            (node, random) -> random.below(topology.nodes()),
                            0.9);
            traffic.runUntil(20 * US);
            traffic.stop();
            traffic.engine.run();
            assertThat(traffic.completed).isEqualTo(traffic.submitted).isPositive();
        }
    }
}
