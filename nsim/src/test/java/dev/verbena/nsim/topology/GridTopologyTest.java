package dev.verbena.nsim.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nsim.Simulation;
import dev.verbena.nsim.network.NetworkContext;
import dev.verbena.nsim.program.Program;
import dev.verbena.nsim.program.SimulationException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class GridTopologyTest {
    private static final int[][] SIZES = {
        {1},
        {2},
        {5},
        {8},
        {3, 4},
        {4, 4},
        {1, 6},
        {2, 2, 2},
        {4, 1, 3},
        {2, 3, 2, 4},
        {2, 2, 3, 1, 2},
        {2, 2, 2, 2, 3, 2}
    };

    @ParameterizedTest
    @Tag("nsim-15")
    @Tag("nsim-26")
    @EnumSource(TieRule.class)
    void shouldGoOneDimensionAfterTheOtherTheShortestWay(TieRule tie) {
        for (int[] sizes : SIZES) {
            checkWays(GridTopology.torus(tie, sizes), sizes, true, tie);
            checkWays(GridTopology.mesh(sizes), sizes, false, tie);
        }
    }

    private static void checkWays(GridTopology grid, int[] sizes, boolean isTorus, TieRule tie) {
        for (int from = 0; from < grid.nodes(); from++) {
            for (int to = 0; to < grid.nodes(); to++) {
                checkWay(grid, sizes, isTorus, tie, from, to);
            }
        }
    }

    /** Follows the route, and beside it what the definition says. */
    private static void checkWay(
            GridTopology grid, int[] sizes, boolean isTorus, TieRule tie, int from, int to) {
        int[] at = coordinates(from, sizes);
        int[] end = coordinates(to, sizes);
        boolean isOdd = Arrays.stream(at).sum() % 2 != 0;
        int router = from;
        int inPort = grid.portOf(from);
        int inClass = 0;
        for (int d = 0; d < sizes.length; d++) {
            int up = Math.floorMod(end[d] - at[d], sizes[d]);
            int down = Math.floorMod(at[d] - end[d], sizes[d]);
            boolean isUp =
                    isTorus
                            ? up < down || up == down && (tie == TieRule.POSITIVE || !isOdd)
                            : end[d] > at[d];
            int hops = isTorus ? Math.min(up, down) : Math.abs(end[d] - at[d]);
            for (int hop = 0; hop < hops; hop++) {
                long way = grid.route(router, inPort, inClass, from, to, 0);
                int port = Topology.portIn(way);
                assertThat(port).isEqualTo(isUp ? 2 * d : 2 * d + 1);
                at[d] = Math.floorMod(at[d] + (isUp ? 1 : -1), sizes[d]);
                inPort = grid.peerPort(router, port);
                inClass = Topology.classIn(way);
                router = grid.peer(router, port);
                assertThat(coordinates(router, sizes)).isEqualTo(at);
            }
        }
        long last = grid.route(router, inPort, inClass, from, to, 0);
        assertThat(grid.peer(router, Topology.portIn(last))).isEqualTo(-1 - to);
    }

    private static int[] coordinates(int node, int[] sizes) {
        int[] at = new int[sizes.length];
        int rest = node;
        for (int d = 0; d < sizes.length; d++) {
            at[d] = rest % sizes[d];
            rest /= sizes[d];
        }
        return at;
    }

    @Test
    void shouldLeadBackWhereACableComesFrom() {
        for (int[] sizes : SIZES) {
            for (GridTopology grid :
                    new GridTopology[] {
                        GridTopology.torus(TieRule.BALANCED, sizes), GridTopology.mesh(sizes)
                    }) {
                TopologyChecks.cablesHaveTwoEnds(grid);
            }
        }
    }

    /** The same routes with one class of channels. */
    private static Topology withoutDateline(Topology torus) {
        InvocationHandler handler =
                (proxy, method, arguments) -> {
                    Object result = method.invoke(torus, arguments);
                    return switch (method.getName()) {
                        case "classes" -> 1;
                        case "route" -> Topology.way(Topology.portIn((long) result), 0, 0);
                        default -> result;
                    };
                };
        Class<?>[] types = {Topology.class};
        return (Topology) Proxy.newProxyInstance(Topology.class.getClassLoader(), types, handler);
    }

    /**
     * Everybody sends many packets half round the ring: each waits for room that the next one
     * holds.
     */
    @Test
    @Tag("nsim-17")
    void shouldDeadlockWithoutDatelinesAndSayso() {
        NetworkContext tight = new NetworkContext().vcPerClass(1).vcBuffer(1).dmaRate(0);
        Program program =
                rank -> {
                    rank.put((rank.rank() + 3) % rank.size(), 200_000, 0);
                    rank.poll(0);
                };
        assertThatThrownBy(
                        () ->
                                new Simulation(
                                                withoutDateline(
                                                        GridTopology.torus(TieRule.POSITIVE, 8)),
                                                tight)
                                        .run(program))
                .isInstanceOf(SimulationException.class)
                .hasMessageContaining("deadlock of the network");
        assertThat(
                        new Simulation(GridTopology.torus(TieRule.POSITIVE, 8), tight)
                                .run(program)
                                .executionPs())
                .isPositive();
    }

    /** Class 1 behind the wrap-around cable and 0 before it; without it, the source's bit. */
    @Test
    @Tag("nsim-26")
    void shouldChangeTheClassAtTheWrapAroundCable() {
        GridTopology ring = GridTopology.torus(TieRule.POSITIVE, 8);
        int own = ring.portOf(0);
        // Upwards from 6 to 1: over the cable from 7 to 0.
        assertThat(Topology.classIn(ring.route(6, own, 0, 6, 1, 0))).isZero();
        assertThat(Topology.classIn(ring.route(7, 1, 0, 6, 1, 0))).isEqualTo(1);
        assertThat(Topology.classIn(ring.route(0, 1, 1, 6, 1, 0))).isEqualTo(1);
        // Downwards from 1 to 6: over the cable from 0 to 7.
        assertThat(Topology.classIn(ring.route(1, own, 0, 1, 6, 0))).isZero();
        assertThat(Topology.classIn(ring.route(0, 0, 0, 1, 6, 0))).isEqualTo(1);
        assertThat(Topology.classIn(ring.route(7, 0, 1, 1, 6, 0))).isEqualTo(1);
        // Not over it: half of the sources in each class, and they stay in it.
        for (int source = 1; source < 5; source++) {
            int bit = source >> 1 & 1;
            assertThat(Topology.classIn(ring.route(source, own, 0, source, source + 2, 0)))
                    .isEqualTo(bit);
            assertThat(Topology.classIn(ring.route(source + 1, 1, bit, source, source + 2, 0)))
                    .isEqualTo(bit);
            assertThat(Topology.classIn(ring.route(source + 2, own, 0, source + 2, source, 0)))
                    .isEqualTo(source + 2 >> 1 & 1);
        }
    }
}
