package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.scenario.SeededRandom;
import dev.verbena.nsim.topology.GridTopology;
import dev.verbena.nsim.topology.TieRule;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TopologyChecks;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The flit level beside figures of BookSim 2 (commit 28f43299), a public flit-level simulator:
 * input-queued routers with 4 virtual channels of 8 flits, a cycle each for routing, allocation of
 * the channel, of the switch and the way through it. A cycle is 1 ns here. BookSim's cables between
 * routers take a cycle on a mesh and two on a torus, those of nodes always one; ours are all alike,
 * so on a torus both ends together take two cycles more. A packet's channel is by its destination
 * here, and a free one there, which alone would explain small differences where cables are full.
 */
@Timeout(600)
@Tag("once")
class FlitReferenceTest {
    private static final int WARM_UP = 500;
    private static final int CYCLE = 1_000;
    private static final int FLIT = 1024;
    private static final int TICK = 30;
    private static final int STAGES = 4;

    private static Topology network(String name) {
        return switch (name) {
            case "mesh 8x8" -> GridTopology.mesh(8, 8);
            case "torus 8x8" -> GridTopology.torus(TieRule.BALANCED, 8, 8);
            default -> GridTopology.torus(TieRule.BALANCED, 4, 4, 4);
        };
    }

    private static int cable(String network) {
        return network.startsWith("mesh") ? 1 : 2;
    }

    private static NetworkContext context(String network, int flits, Level level) {
        // Control packets go back for every put, which BookSim has not: a thousandth of a flit.
        return new NetworkContext()
                .level(level)
                .flit(FLIT)
                .payload(flits * FLIT)
                .controlBytes(1)
                .linkRate(1_024_000_000_000L)
                .switchRate(1_024_000_000_000L)
                .dmaRate(0)
                .routingPs(CYCLE)
                .vcAllocationPs(CYCLE)
                .switchAllocationPs(CYCLE)
                .switchPs(CYCLE)
                .cablePs((long) cable(network) * CYCLE)
                .vcPerClass(network.startsWith("mesh") ? 4 : 2)
                .vcBuffer(8);
    }

    /** Where a node sends, or -1 for a random other one. */
    private static int target(String pattern, String network, int node) {
        int k = network.endsWith("8x8") ? 8 : 4;
        return switch (pattern) {
            case "neighbor" -> shifted(node, k, 1);
            case "tornado" -> shifted(node, k, (k + 1) / 2 - 1);
            case "bitcomp" -> 63 - node;
            case "transpose" -> node % 8 * 8 + node / 8;
            default -> -1;
        };
    }

    private static int shifted(int node, int k, int by) {
        int to = 0;
        for (int stride = 1; stride < 64; stride *= k) {
            to += (node / stride % k + by) % k * stride;
        }
        return to;
    }

    /** Nodes that send packets of one flit at random cycles. */
    private static final class Load implements MessageHandler {
        private final Topology topology;
        private final String name;
        private final String pattern;
        private final double rate;
        private final SeededRandom random = new SeededRandom(1);
        private final Engine engine;
        private final PacketNetwork network;
        private long sent;
        private long arrived;
        private long latencyPs;

        Load(String name, String pattern, double rate, int flits, Level level) {
            this.topology = network(name);
            this.name = name;
            this.pattern = pattern;
            this.rate = rate;
            engine = new Engine(NetworkModel.entities(topology));
            network = new PacketNetwork(engine, topology, context(name, flits, level));
            network.handler(this);
            engine.handler(TICK, (time, node, bytes) -> tick(time, node, bytes));
        }

        private void tick(long timePs, int node, long bytes) {
            send(node, (int) bytes);
            engine.schedule(timePs + gap(), node, node, TICK, bytes);
        }

        private void send(int node, int bytes) {
            int to = target(pattern, name, node);
            while (to < 0 || to == node && pattern.equals("uniform")) {
                to = random.below(64);
            }
            if (to != node) {
                int row = network.messages().add(MessageTable.PUT, node, to, bytes);
                network.messages().ranks(row, node, to, 0, 0);
                network.submit(row);
                sent++;
            }
        }

        /** To the next packet, each cycle being as likely. */
        private long gap() {
            double chance = (random.below(1 << 20) + 1.0) / (1 << 20);
            long cycles = (long) (Math.log(chance) / Math.log1p(-Math.min(rate, 0.999_999)));
            return (cycles + 1) * CYCLE;
        }

        /** One packet alone. */
        long alonePs(int node, int bytes) {
            send(node, bytes);
            engine.run();
            return latencyPs;
        }

        /** Whether what arrives keeps up with what is sent. */
        boolean isStable(int cycles) {
            for (int node = 0; node < topology.nodes(); node++) {
                engine.schedule(gap(), node, node, TICK, FLIT);
            }
            engine.run((long) cycles * CYCLE, Long.MAX_VALUE);
            long sentBefore = sent;
            long arrivedBefore = arrived;
            engine.run(3L * cycles * CYCLE, Long.MAX_VALUE);
            return arrived - arrivedBefore >= 0.97 * (sent - sentBefore);
        }

        @Override
        public void onData(long timePs, int message) {
            latencyPs += timePs - network.messages().issuedPs(message);
            arrived++;
        }

        @Override
        public void onComplete(long timePs, int message) {
            // The reference has no acknowledgements.
        }
    }

    private static double cycles(long picoseconds) {
        return (double) picoseconds / CYCLE;
    }

    @ParameterizedTest
    @Tag("nsim-55")
    @CsvSource({
        "mesh 8x8, neighbor",
        "mesh 8x8, transpose",
        "torus 8x8, neighbor",
        "torus 8x8, tornado",
        "torus 4x4x4, neighbor"
    })
    void shouldTakeTheReferencesCyclesPerRouterAndFlit(String name, String pattern) {
        int perRouter = STAGES + cable(name);
        for (int node = 0; node < 64; node++) {
            int to = target(pattern, name, node);
            if (to == node) {
                continue;
            }
            int routers = TopologyChecks.routersBetween(network(name), node, to);
            for (int flits : new int[] {1, 5, 16}) {
                long time =
                        new Load(name, pattern, 1, flits, Level.FLIT).alonePs(node, flits * FLIT);
                int expected = perRouter * routers + cable(name) + flits;
                assertThat(cycles(time)).isEqualTo(expected);
            }
        }
    }

    /** Its own figures, at 0.005 flits per node and cycle. */
    @ParameterizedTest
    @Tag("nsim-55")
    @CsvSource({
        "mesh 8x8, neighbor, 24.7, 28.5, 39.8",
        "torus 8x8, neighbor, 19.0, 23.0, 34.1",
        "torus 4x4x4, neighbor, 25.0, 29.0, 40.1"
    })
    void shouldHaveTheReferencesLatencies(
            String name, String pattern, double one, double five, double sixteen) {
        int[] flits = {1, 5, 16};
        double[] reference = {one, five, sixteen};
        int ends = 2 * (cable(name) - 1);
        for (int i = 0; i < flits.length; i++) {
            long sum = 0;
            for (int node = 0; node < 64; node++) {
                sum +=
                        new Load(name, pattern, 1, flits[i], Level.FLIT)
                                .alonePs(node, flits[i] * FLIT);
            }
            assertThat(cycles(sum) / 64 - ends).isCloseTo(reference[i], within(0.5));
        }
    }

    /** At a rate between their highest stable ones, one pattern is stable and the next is not. */
    @ParameterizedTest
    @Tag("nsim-55")
    @CsvSource({
        "mesh 8x8, neighbor, uniform, 0.6",
        "mesh 8x8, uniform, bitcomp, 0.3",
        "mesh 8x8, bitcomp, transpose, 0.17",
        "torus 8x8, neighbor, uniform, 0.62",
        "torus 8x8, uniform, bitcomp, 0.45",
        "torus 8x8, bitcomp, tornado, 0.25",
        "torus 4x4x4, uniform, bitcomp, 0.78",
        "torus 4x4x4, uniform, neighbor, 0.78"
    })
    void shouldSaturateInTheReferencesOrder(String name, String later, String sooner, double rate) {
        assertThat(isStable(name, later, rate)).as(later).isTrue();
        assertThat(isStable(name, sooner, rate)).as(sooner).isFalse();
    }

    // --long: the highest stable rate of each pattern instead of their order alone
    @ParameterizedTest
    @CsvSource({
        "mesh 8x8, neighbor, 0.98",
        "mesh 8x8, uniform, 0.40",
        "mesh 8x8, bitcomp, 0.20",
        "mesh 8x8, transpose, 0.10",
        "torus 8x8, neighbor, 0.65",
        "torus 8x8, uniform, 0.50",
        "torus 8x8, bitcomp, 0.30",
        "torus 8x8, tornado, 0.10",
        "torus 4x4x4, uniform, 0.80",
        "torus 4x4x4, bitcomp, 0.65",
        "torus 4x4x4, neighbor, 0.65"
    })
    void shouldSaturateWhereTheReferenceDoes(String name, String pattern, double reference) {
        assumeTrue(Boolean.getBoolean("verbena.long"), "takes a minute; with --long");
        int low = 0;
        int high = 21;
        while (high - low > 1) {
            int middle = (low + high) / 2;
            if (isStable(name, pattern, middle / 20.0)) {
                low = middle;
            } else {
                high = middle;
            }
        }
        assertThat(low / 20.0).isCloseTo(reference, within(0.101));
    }

    /** Packet by packet, which takes the same times as flit by flit and less of ours. */
    private static boolean isStable(String name, String pattern, double rate) {
        return new Load(name, pattern, rate, 1, Level.PACKET).isStable(WARM_UP);
    }
}
