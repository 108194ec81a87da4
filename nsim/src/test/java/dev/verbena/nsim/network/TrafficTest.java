package dev.verbena.nsim.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.nsim.engine.Engine;
import dev.verbena.nsim.topology.GridTopology;
import dev.verbena.nsim.topology.TieRule;
import dev.verbena.nsim.topology.Topology;
import dev.verbena.nsim.topology.TopologyChecks;
import dev.verbena.nsim.topology.TreeTopology;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Many packets at once, against the bounds of section 5.3 of the specification. */
@Tag("once")
class TrafficTest {
    private static final long US = 1_000_000;

    private static NetworkContext fast() {
        return new NetworkContext().dmaRate(0);
    }

    private static Topology topology(String text, TieRule tie) {
        return dev.verbena.nsim.topology.Topologies.parse(text, tie);
    }

    /** A pattern on a k x k machine or ring. */
    private static Traffic.Pattern pattern(String name, int k) {
        return switch (name) {
            case "tornado" -> (node, random) -> (node + k / 2 - 1) % k;
            case "transpose" ->
                    (node, random) -> node % k == node / k ? -1 : node % k * k + node / k;
            case "complement" -> (node, random) -> k * k - 1 - node;
            case "neighbour" -> (node, random) -> node / k * k + (node + 1) % k;
            case "ring" -> (node, random) -> (node + 1 + random.below(k - 1)) % k;
            default ->
                    (node, random) -> {
                        int to = random.below(k * k - 1);
                        return to < node ? to : to + 1;
                    };
        };
    }

    @ParameterizedTest
    @Tag("nsim-18")
    @CsvSource(
            delimiter = '|',
            value = {
                "uniform | torus(4,4) | BALANCED | 4 | 1.0",
                "uniform | torus(8,8) | BALANCED | 8 | 1.0",
                "uniform | torus(16,16) | BALANCED | 16 | 0.5",
                "ring | torus(64) | BALANCED | 64 | 0.125",
                "uniform | torus(4,4) | POSITIVE | 4 | 1.0",
                "uniform | torus(8,8) | POSITIVE | 8 | 0.8",
                "uniform | torus(16,16) | POSITIVE | 16 | 0.4444",
                "uniform | mesh(4,4) | BALANCED | 4 | 1.0",
                "uniform | mesh(8,8) | BALANCED | 8 | 0.5",
                "uniform | mesh(16,16) | BALANCED | 16 | 0.25",
                "tornado | torus(8) | BALANCED | 8 | 0.3333",
                "tornado | torus(16) | BALANCED | 16 | 0.142857",
                "transpose | mesh(4,4) | BALANCED | 4 | 0.3333",
                "transpose | mesh(8,8) | BALANCED | 8 | 0.142857",
                "transpose | mesh(16,16) | BALANCED | 16 | 0.066667",
                "complement | mesh(4,4) | BALANCED | 4 | 0.5",
                "complement | mesh(8,8) | BALANCED | 8 | 0.25",
                "neighbour | torus(8,8) | BALANCED | 8 | 1.0",
            })
    void shouldSaturateBelowTheBoundAndNotFarBelow(
            String pattern, String shape, TieRule tie, int k, double bound) {
        double best = 0;
        for (double part : new double[] {0.6, 0.75, 1.0}) {
            Traffic traffic =
                    new Traffic(topology(shape, tie), fast(), pattern(pattern, k), part * bound);
            double accepted = traffic.accepted(20 * US, 25 * US, busiest(pattern, k));
            assertThat(accepted).isLessThanOrEqualTo(1.02 * bound);
            best = Math.max(best, accepted);
        }
        assertThat(best).isBetween(0.55 * bound, 1.001 * bound);
    }

    /** Nodes that send: in a transpose those on the diagonal do not. */
    private static double busiest(String pattern, int k) {
        return pattern.equals("transpose") ? 1.0 * k / (k - 1) : 1;
    }

    @Test
    @Tag("nsim-19")
    void shouldReachTheBoundWithEndlessBuffersAndAChannelPerDestination() {
        NetworkContext ring = fast().vcBuffer(10_000).vcPerClass(8);
        Topology torus = GridTopology.torus(TieRule.BALANCED, 8);
        double tornado =
                new Traffic(torus, ring, pattern("tornado", 8), 1.0 / 3)
                        .accepted(50 * US, 100 * US, 1);
        assertThat(tornado).isCloseTo(1.0 / 3, within(0.05 / 3));
        NetworkContext mesh = fast().vcBuffer(10_000).vcPerClass(16);
        double transpose =
                new Traffic(GridTopology.mesh(4, 4), mesh, pattern("transpose", 4), 1.0 / 3)
                        .accepted(50 * US, 100 * US, 4.0 / 3);
        assertThat(transpose).isCloseTo(1.0 / 3, within(0.05 / 3));
    }

    @Test
    @Tag("nsim-17")
    void shouldAlwaysMakeProgressOnASaturatedTorus() {
        Traffic traffic =
                new Traffic(
                        GridTopology.torus(TieRule.BALANCED, 5),
                        fast().vcBuffer(1).vcPerClass(1),
                        (node, random) -> (node + 1 + random.below(4)) % 5,
                        1.0);
        long before = 0;
        for (int i = 1; i <= 1000; i++) {
            traffic.runUntil(i * 10 * US);
            long now = traffic.arrived;
            assertThat(now).isGreaterThan(before);
            before = now;
        }
    }

    @Test
    @Tag("nsim-13")
    @Tag("nsim-25")
    void shouldNeverFillABufferBeyondItsSizeAndCompleteUnderLoad() {
        for (int buffer = 1; buffer <= 3; buffer++) {
            Traffic traffic =
                    new Traffic(
                            GridTopology.torus(TieRule.POSITIVE, 4, 4),
                            fast().vcBuffer(buffer).vcPerClass(1),
                            pattern("uniform", 4),
                            1.0);
            long before = 0;
            for (int i = 1; i <= 10; i++) {
                traffic.runUntil(i * 10 * US);
                assertThat(traffic.completed).isGreaterThan(before);
                before = traffic.completed;
            }
            assertThat(traffic.network.fullestBuffer()).isEqualTo(buffer);
        }
    }

    @ParameterizedTest
    @Tag("nsim-14")
    @Tag("nsim-24")
    @Tag("nsim-26")
    @ValueSource(
            strings = {
                "torus(7)",
                "torus(2,3)",
                "torus(4,1,3)",
                "torus(2,3,2,2)",
                "torus(2,2,3,1,2)",
                "torus(2,1,2,3,2,2)",
                "mesh(5)",
                "mesh(3,1,4)",
                "mesh(2,3,2,1,2,2)",
                "torus(1)",
                "torus(1,1)",
                "switch(9)",
                "xgft(3,2,2;1,2,3)",
                "leafspine(leaves=3,down=4,spines=2)",
                "dragonfly(p=2,a=3,h=1)",
                "hyperx(3,4;nodes=2)",
                "slimfly(q=5,nodes=1)",
            })
    void shouldDeliverEachPacketOnceAndInOrder(String shape) {
        Topology topology = topology(shape, TieRule.BALANCED);
        int nodes = topology.nodes();
        Traffic traffic =
                new Traffic(
                        topology, new NetworkContext(), (node, random) -> random.below(nodes), 0.9);
        traffic.runUntil(60 * US);
        traffic.stop();
        traffic.engine.run();
        assertThat(traffic.completed).isEqualTo(traffic.submitted).isPositive();
        assertThat(traffic.overtaken).isZero();
        assertThat(traffic.network.packetsInFlight()).isZero();
        assertThat(traffic.network.messages().used()).isZero();
        LinkStatistics links = traffic.network.links();
        assertThat(Arrays.stream(links.bytes).sum()).isEqualTo(traffic.expectedLinkBytes);
        for (int link = 0; link < links.count(); link++) {
            assertThat(links.busyPs(link)).isEqualTo(links.bytes(link) * 250);
        }
    }

    @Test
    @Tag("nsim-20")
    void shouldSendToNeighboursAtFullRateOverOneCableEach() {
        GridTopology torus = GridTopology.torus(TieRule.BALANCED, 4, 4);
        long bytes = 2_000_000;
        OneEach run =
                new OneEach(
                        torus, new NetworkContext(), bytes, node -> node / 4 * 4 + (node + 1) % 4);
        double rate = 1e3 * bytes / run.lastPs;
        assertThat(rate).isBetween(0.99 * 2.8, 2.8);
        LinkStatistics links = run.network.links();
        for (int router = 0; router < 16; router++) {
            // The data eastwards, one control packet back; nothing north and south.
            assertThat(links.bytes(links.linkOf(router, 0))).isEqualTo(bytes);
            assertThat(links.bytes(links.linkOf(router, 1))).isEqualTo(16);
            assertThat(links.bytes(links.linkOf(router, 2))).isZero();
            assertThat(links.bytes(links.linkOf(router, 3))).isZero();
        }
    }

    @ParameterizedTest
    @Tag("nsim-21")
    @ValueSource(longs = {2_800_000_000L, 0})
    void shouldShareOneReceiverFairly(long dma) {
        int senders = 7;
        NetworkContext context = new NetworkContext().dmaRate(dma);
        Traffic traffic =
                new Traffic(
                        TreeTopology.single(senders + 1),
                        context,
                        (node, random) -> node == senders ? -1 : senders,
                        1.0);
        traffic.runUntil(50 * US);
        long[] before = traffic.arrivedFrom.clone();
        traffic.runUntil(550 * US);
        double sum = 0;
        double[] rates = new double[senders];
        for (int i = 0; i < senders; i++) {
            rates[i] = (traffic.arrivedFrom[i] - before[i]) / (500.0 * US) * 1e3;
            sum += rates[i];
        }
        double bound = dma == 0 ? 4.0 : 2.8;
        assertThat(sum).isBetween(0.97 * bound, 1.005 * bound);
        for (double rate : rates) {
            assertThat(rate).isCloseTo(sum / senders, within(0.05 * sum / senders));
        }
    }

    @Test
    @Tag("nsim-22")
    void shouldShiftAtFullRateOnAFullTreeAndPermuteSlower() {
        Topology tree = TopologyChecks.kAryTree(4, 2);
        long bytes = 100_000;
        long alone = new OneEach(tree, fast(), bytes, node -> node == 0 ? 5 : -1).lastPs;
        for (int shift = 1; shift < 16; shift++) {
            int by = shift;
            long time = new OneEach(tree, fast(), bytes, node -> (node + by) % 16).lastPs;
            // Control packets of others share the cables: 16 bytes each.
            assertThat(time).isLessThanOrEqualTo(alone + 50_000);
        }
        int[] order = new dev.verbena.nsim.scenario.SeededRandom(3).permutation(16);
        long permuted =
                new OneEach(tree, fast(), bytes, node -> order[node] == node ? -1 : order[node])
                        .lastPs;
        assertThat(permuted).isGreaterThan(alone * 3 / 2);
    }

    @Test
    @Tag("nsim-23")
    void shouldFollowTheCreditLoop() {
        long bytes = 4_096_000;
        for (int n = 1; n <= 8; n++) {
            NetworkContext context = fast().vcPerClass(1).vcBuffer(n).nicBuffer(64);
            OneEach run =
                    new OneEach(GridTopology.mesh(4), context, bytes, node -> node == 0 ? 3 : -1);
            double loopNs = 2048 / 4.0 + 140 + 2 * 0.6 + 132;
            double expected = Math.min(4.0, n * 2048 / loopNs);
            assertThat(1e3 * bytes / run.lastPs).isCloseTo(expected, within(0.01 * expected));
        }
    }

    @Test
    @Tag("nsim-16")
    void shouldHaveTheAverageHopsOfUniformTraffic() {
        assertThat(averageHops(GridTopology.torus(TieRule.BALANCED, 4, 4, 4))).isEqualTo(3.0);
        assertThat(averageHops(GridTopology.torus(TieRule.POSITIVE, 8, 8, 8))).isEqualTo(6.0);
        assertThat(averageHops(GridTopology.torus(TieRule.BALANCED, 8))).isEqualTo(2.0);
        assertThat(averageHops(GridTopology.torus(TieRule.BALANCED, 16))).isEqualTo(4.0);
    }

    private static double averageHops(Topology topology) {
        long sum = 0;
        int n = topology.nodes();
        for (int from = 0; from < n; from++) {
            for (int to = 0; to < n; to++) {
                sum += TopologyChecks.routersBetween(topology, from, to) - 1;
            }
        }
        return 1.0 * sum / n / n;
    }

    /** One put per node, all at once. */
    private static final class OneEach implements MessageHandler {
        final PacketNetwork network;
        long lastPs;

        OneEach(
                Topology topology,
                NetworkContext context,
                long bytes,
                java.util.function.IntUnaryOperator to) {
            Engine engine = new Engine(NetworkModel.entities(topology));
            network = new PacketNetwork(engine, topology, context);
            network.handler(this);
            for (int node = 0; node < topology.nodes(); node++) {
                int destination = to.applyAsInt(node);
                if (destination >= 0) {
                    network.submit(
                            network.messages().add(MessageTable.PUT, node, destination, bytes));
                }
            }
            engine.run();
            assertThat(network.messages().used()).isZero();
        }

        @Override
        public void onData(long timePs, int message) {
            lastPs = timePs;
        }

        @Override
        public void onComplete(long timePs, int message) {}
    }
}
