package dev.verbena.nsim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.verbena.nsim.network.LinkStatistics;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.program.Rank;
import dev.verbena.nsim.program.SimulationException;
import dev.verbena.nsim.topology.GridTopology;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** One message on an idle network, against section 5.1 of the specification. */
class ZeroLoadTest {
    private static final double PS = 1e-3;
    private static final int PAYLOAD = 2048;
    private static final int STAGES = 3;

    /** From node 0, {@code routers} routers away; rank 0 does one thing, the last another. */
    private static SimulationResult run(NetworkContext context, int routers, Program program) {
        int nodes = Math.max(2, routers);
        return new Simulation(GridTopology.mesh(nodes), context).run(program);
    }

    /** A mesh of R routers in a line; with one router, both nodes are on a switch. */
    private static SimulationResult between(
            NetworkContext context, int routers, Program first, Program last) {
        Simulation simulation =
                routers == 1
                        ? new Simulation(dev.verbena.nsim.topology.TreeTopology.single(2), context)
                        : new Simulation(GridTopology.mesh(routers), context);
        return simulation.run(
                rank -> {
                    if (rank.rank() == 0) {
                        first.run(rank);
                    } else if (rank.rank() == rank.size() - 1) {
                        last.run(rank);
                    }
                });
    }

    private static SimulationResult put(NetworkContext context, int routers, long bytes) {
        return between(
                context,
                routers,
                rank -> rank.complete(rank.put(rank.size() - 1, bytes, 3)),
                rank -> rank.poll(3));
    }

    private static double arrivalNs(SimulationResult result) {
        return result.endPs(result.processes() - 1) * PS;
    }

    /** Rounding up, at most 1 ps per packet and stage; the table itself has three decimals. */
    private static org.assertj.core.data.Offset<Double> rounding(long bytes) {
        long packets = Math.max(1, (bytes + PAYLOAD - 1) / PAYLOAD);
        return within(PS * (STAGES * packets + 1));
    }

    @ParameterizedTest
    @Tag("nsim-9")
    @Tag("nsim-28")
    @CsvSource({
        "8, 148.914, 289.514, 430.114, 711.314",
        "64, 202.914, 343.514, 484.114, 765.314",
        "256, 388.057, 528.657, 669.257, 950.457",
        "1024, 1128.629, 1269.229, 1409.829, 1691.029",
        "2048, 2116.057, 2256.657, 2397.257, 2678.457",
        "4096, 2847.486, 2988.086, 3128.686, 3409.886",
        "65536, 24790.343, 24930.943, 25071.543, 25352.743",
        "2000000, 715670.343, 715810.943, 715951.543, 716232.743",
        "2097152, 750367.486, 750508.086, 750648.686, 750929.886",
    })
    void shouldArriveAtTheTimesOfTheTable(long bytes, double r1, double r2, double r3, double r5) {
        int[] routers = {1, 2, 3, 5};
        double[] expected = {r1, r2, r3, r5};
        for (int i = 0; i < routers.length; i++) {
            SimulationResult result = put(new NetworkContext(), routers[i], bytes);
            assertThat(arrivalNs(result)).isCloseTo(expected[i], rounding(bytes));
        }
    }

    @Test
    @Tag("nsim-10")
    void shouldTakeOneRouterAndOneCableMoreForEachRouter() {
        long before = put(new NetworkContext(), 1, 5000).endPs(1);
        for (int routers = 2; routers < 12; routers++) {
            SimulationResult result = put(new NetworkContext(), routers, 5000);
            long now = result.endPs(result.processes() - 1);
            assertThat(now - before).isEqualTo(140_600);
            before = now;
        }
    }

    @Test
    @Tag("nsim-11")
    void shouldTakeAFlitMorePerRouterIfHeadsAreStored() {
        for (int routers : new int[] {1, 2, 3, 5}) {
            for (long bytes : new long[] {16, 2048, 100_000}) {
                SimulationResult plain = put(new NetworkContext(), routers, bytes);
                SimulationResult stored =
                        put(new NetworkContext().isFlitStored(true), routers, bytes);
                int last = plain.processes() - 1;
                assertThat(stored.endPs(last) - plain.endPs(last)).isEqualTo(routers * 4_000L);
            }
        }
    }

    @Test
    @Tag("nsim-27")
    void shouldReturnFromPutAtOnce() {
        NetworkContext slow = new NetworkContext().overheadPs(900_000);
        SimulationResult result =
                between(
                        slow,
                        2,
                        rank -> rank.put(1, 1_000_000, 0),
                        rank -> rank.compute(java.time.Duration.ZERO));
        assertThat(result.endPs(0)).isLessThanOrEqualTo(900_000);
    }

    @ParameterizedTest
    @Tag("nsim-29")
    @CsvSource({"8, 1, 306.114", "8, 3, 868.514", "2000000, 1, 715827.543"})
    void shouldCompleteOneControlPacketLater(long bytes, int routers, double expected) {
        SimulationResult result = put(new NetworkContext().controlBytes(64), routers, bytes);
        assertThat(result.endPs(0) * PS).isCloseTo(expected, rounding(bytes));
        long control = routers * 140_000L + (routers + 1) * 600L + 16_000;
        int last = result.processes() - 1;
        assertThat(result.endPs(0) - result.endPs(last)).isEqualTo(control);
    }

    /** Nobody polls or asks; the target polls; the initiator asks at once, late, or computes. */
    private static Stream<Arguments> programsOfTenPuts() {
        Program tenPolls = rank -> rank.loop(10, () -> rank.poll(3));
        Program late =
                rank -> {
                    rank.computeNanos(10_000_000);
                    tenPolls.run(rank);
                };
        Program oneByOne = rank -> rank.loop(10, () -> rank.complete(rank.put(2, 10_000, 3)));
        return Stream.of(
                programs("nobody asks", tenPuts(rank -> {}), rank -> {}),
                programs("the target polls", tenPuts(rank -> {}), tenPolls),
                programs("each is awaited", oneByOne, tenPolls),
                programs("all are awaited", tenPuts(Rank::completeAll), rank -> {}),
                programs("initiator computes", tenPuts(r -> r.computeNanos(10_000_000)), tenPolls),
                programs("target computes", tenPuts(Rank::completeAll), late));
    }

    private static Arguments programs(String name, Program initiator, Program target) {
        return Arguments.of(name, initiator, target);
    }

    private static Program tenPuts(Program then) {
        return rank -> {
            for (int i = 0; i < 10; i++) {
                rank.put(2, 10_000, 3);
            }
            then.run(rank);
        };
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("programsOfTenPuts")
    @Tag("nsim-30")
    void shouldSendOneControlPacketAfterTheDataOfAPutWhateverTheProgramDoes(
            String name, Program initiator, Program target) {
        List<Long> arrived = new ArrayList<>();
        List<Long> completed = new ArrayList<>();
        SimulationResult result =
                new Simulation(GridTopology.mesh(3), new NetworkContext())
                        .trace(
                                (timePs, event, kind, from, to, bytes, tag, issued, firstIn) ->
                                        (event.equals("arrived") ? arrived : completed).add(timePs))
                        .run(
                                rank -> {
                                    if (rank.rank() == 0) {
                                        initiator.run(rank);
                                    } else if (rank.rank() == 2) {
                                        target.run(rank);
                                    }
                                });
        long back = result.links().packets(result.links().linkOfNode(2));
        assertThat(back).isEqualTo(10);
        assertThat(result.links().bytes(result.links().linkOfNode(2))).isEqualTo(160);
        assertThat(result.links().packets(result.links().linkOfNode(0))).isEqualTo(50);
        // Each is sent at the instant when the last byte of its put is in memory.
        long controlPs = 3 * 140_000L + 4 * 600L + 16 * 250L;
        assertThat(arrived).hasSize(10);
        assertThat(completed).isEqualTo(arrived.stream().map(time -> time + controlPs).toList());
    }

    @Test
    @Tag("nsim-31")
    void shouldNeedAsManyPollsAsPutsAndRememberEarlyOnes() {
        Program sender =
                rank -> {
                    for (int i = 0; i < 3; i++) {
                        rank.put(1, 8, 5);
                    }
                };
        SimulationResult late =
                between(
                        new NetworkContext(),
                        2,
                        sender,
                        rank -> {
                            rank.computeNanos(1_000_000);
                            rank.poll(5);
                            rank.poll(5);
                            rank.poll(5);
                        });
        assertThat(late.endPs(1)).isEqualTo(1_000_000_000L);
        assertThat(late.pollPs(1)).isZero();
        assertThatThrownBy(
                        () ->
                                between(
                                        new NetworkContext(),
                                        2,
                                        sender,
                                        rank -> rank.loop(4, () -> rank.poll(5))))
                .isInstanceOf(SimulationException.class)
                .hasMessageContaining("rank 1 waits in poll(tag 5)")
                .hasMessageContaining("nobody sends");
    }

    @Test
    @Tag("nsim-31")
    void shouldCountPutsOfOneSourceApart() {
        SimulationResult result =
                new Simulation(GridTopology.mesh(4), new NetworkContext())
                        .run(
                                rank -> {
                                    if (rank.rank() == 0) {
                                        rank.poll(3, 1);
                                        rank.poll(1, 1);
                                        rank.poll(3, 1);
                                    } else if (rank.rank() != 2) {
                                        rank.computeNanos(rank.rank() * 10_000);
                                        rank.put(0, 8, 1);
                                        rank.put(0, 8, 1);
                                    }
                                });
        assertThat(result.endPs(0)).isGreaterThan(30_000_000);
        assertThat(result.pollPs(0)).isEqualTo(result.endPs(0));
    }

    @Test
    @Tag("nsim-32")
    void shouldSendOnePacketForNoBytes() {
        SimulationResult result = put(new NetworkContext(), 3, 0);
        assertThat(result.links().packets(result.links().linkOfNode(0))).isEqualTo(1);
        assertThat(result.endPs(2)).isEqualTo(3 * 140_000 + 4 * 600);
    }

    @Test
    @Tag("nsim-32")
    void shouldPutToItselfOnlyIfAllowedAndThenForTheTimeOfTheDma() {
        Program self = rank -> rank.complete(rank.put(rank.rank(), 28_000, 0));
        assertThatThrownBy(() -> run(new NetworkContext(), 2, self))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("loopback=true");
        SimulationResult result = run(new NetworkContext().isLoopback(true), 2, self);
        assertThat(result.executionPs()).isBetween(10_000_000L, 10_000_014L);
        LinkStatistics links = result.links();
        assertThat(IntStream.range(0, links.count()).mapToLong(links::bytes).sum()).isZero();
    }

    @Test
    @Tag("nsim-33")
    void shouldGetInTheTimeOfARequestAndAPut() {
        for (int routers : new int[] {1, 2, 3, 5}) {
            for (long bytes : new long[] {8, 2048, 65_536, 2_000_000}) {
                NetworkContext context = new NetworkContext().overheadPs(700_000);
                SimulationResult put = put(new NetworkContext(), routers, bytes);
                SimulationResult get =
                        between(
                                context,
                                routers,
                                rank -> rank.complete(rank.get(rank.size() - 1, bytes)),
                                rank -> {});
                long request = 700_000 + routers * 140_000L + (routers + 1) * 600L + 4_000;
                assertThat(get.endPs(0)).isEqualTo(request + put.endPs(put.processes() - 1));
            }
        }
    }

    @Test
    @Tag("nsim-35")
    void shouldShareTheDmaBetweenProcessesOfANode() {
        AtomicLong total = new AtomicLong();
        SimulationResult result =
                new Simulation(GridTopology.mesh(2), new NetworkContext())
                        .processes(4)
                        .perNode(2)
                        .run(
                                rank -> {
                                    if (rank.rank() < 2) {
                                        rank.put(rank.rank() + 2, 2_000_000, 0);
                                        total.addAndGet(2_000_000);
                                    } else {
                                        rank.poll(0);
                                    }
                                });
        double sum = 1e3 * total.get() / result.executionPs();
        assertThat(sum).isBetween(2.75, 2.8);
        assertThat(Math.abs(result.endPs(2) - result.endPs(3))).isLessThan(2_000_000);
    }

    @Test
    @Tag("nsim-35")
    void shouldHalveTheRateWhereOneEngineReadsAndWrites() {
        Program exchange =
                rank -> {
                    rank.put(1 - rank.rank(), 2_000_000, 0);
                    rank.poll(0);
                };
        long duplex = run(new NetworkContext(), 2, exchange).executionPs();
        long shared = run(new NetworkContext().isDmaShared(true), 2, exchange).executionPs();
        assertThat(1.0 * shared / duplex).isBetween(1.95, 2.05);
    }
}
