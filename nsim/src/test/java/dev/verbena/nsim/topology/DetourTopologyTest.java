package dev.verbena.nsim.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Ways over a third router, and shapes by name. */
class DetourTopologyTest {
    private static final int DIRECT = -1;

    private static HyperXTopology square(DetourRouting detour) {
        return new HyperXTopology(1, detour, 4, 4);
    }

    @Test
    void shouldNeedAClassForEachCableOfTheLongestWay() {
        assertThat(square(DetourRouting.MINIMAL).classes()).isEqualTo(2);
        assertThat(square(DetourRouting.VALIANT).classes()).isEqualTo(4);
        assertThat(new HyperXTopology(3, DetourRouting.MINIMAL, 1).classes()).isEqualTo(1);
        assertThat(new HyperXTopology(3, DetourRouting.UGAL, 1, 5).classes()).isEqualTo(2);
        assertThat(square(DetourRouting.MINIMAL).isAdaptive()).isFalse();
        assertThat(square(DetourRouting.VALIANT).isAdaptive()).isTrue();
        assertThat(GridTopology.mesh(2).isAdaptive()).isFalse();
    }

    @Test
    void shouldCountTheCablesBetweenRouters() {
        HyperXTopology square = square(DetourRouting.MINIMAL);
        assertThat(square.distance(5, 5)).isZero();
        assertThat(square.distance(5, 6)).isEqualTo(1);
        assertThat(square.distance(5, 9)).isEqualTo(1);
        assertThat(square.distance(5, 10)).isEqualTo(2);
    }

    @Test
    void shouldTakeNoDetourWhereThereIsNone() {
        HyperXTopology minimal = square(DetourRouting.MINIMAL);
        HyperXTopology valiant = new HyperXTopology(2, DetourRouting.VALIANT, 4, 4);
        DragonflyTopology two = new DragonflyTopology(1, 1, 1, DetourRouting.VALIANT);
        for (int number = 0; number < 50; number++) {
            assertThat(minimal.entry(5, 10, number, Congestion.UNKNOWN)).isEqualTo(DIRECT);
            assertThat(valiant.entry(6, 7, number, Congestion.UNKNOWN)).isEqualTo(DIRECT);
            assertThat(two.entry(0, 1, number, Congestion.UNKNOWN)).isEqualTo(DIRECT);
        }
    }

    @Test
    void shouldSpreadDetoursOverAllRoutersButTheEnds() {
        HyperXTopology valiant = square(DetourRouting.VALIANT);
        Set<Integer> seen = new HashSet<>();
        for (int number = 0; number < 500; number++) {
            int state = valiant.entry(5, 10, number, Congestion.UNKNOWN);
            assertThat(valiant.entry(5, 10, number, Congestion.UNKNOWN)).isEqualTo(state);
            seen.add(state - 1);
        }
        for (int router = 0; router < 16; router++) {
            assertThat(seen.contains(router)).isEqualTo(router != 5 && router != 10);
        }
        // As in every version so far: a run of an earlier one is repeated exactly.
        int[] first = new int[8];
        for (int number = 0; number < 8; number++) {
            first[number] = valiant.entry(5, 10, number, Congestion.UNKNOWN);
        }
        assertThat(first).containsExactly(1, 7, 14, 13, 4, 8, 1, 9);
        DragonflyTopology three = new DragonflyTopology(1, 2, 1, DetourRouting.VALIANT);
        seen.clear();
        for (int number = 0; number < 200; number++) {
            seen.add(three.entry(0, 2, number, Congestion.UNKNOWN));
        }
        assertThat(seen).as("none of four tries hit the third group").contains(DIRECT);
        assertThat(seen).containsExactlyInAnyOrder(DIRECT, 5, 6);
    }

    /** Over the third router, then straight on; a class more behind each cable. */
    @Test
    void shouldGoOverTheRouterOfItsState() {
        HyperXTopology valiant = square(DetourRouting.VALIANT);
        for (int over = 0; over < 16; over++) {
            int router = 5;
            int inPort = valiant.portOf(5);
            int inClass = 0;
            int state = over == 5 || over == 10 ? DIRECT : over + 1;
            int cables = valiant.distance(5, over) + valiant.distance(over, 10);
            boolean isOver = state == DIRECT;
            for (int passed = 0; passed < cables; passed++) {
                long way = valiant.route(router, inPort, inClass, 5, 10, state);
                assertThat(Topology.classIn(way)).isEqualTo(passed);
                inClass = Topology.classIn(way);
                state = Topology.stateIn(way);
                inPort = valiant.peerPort(router, Topology.portIn(way));
                router = valiant.peer(router, Topology.portIn(way));
                isOver |= router == over;
            }
            assertThat(isOver).isTrue();
            assertThat(router).isEqualTo(10);
            long end = valiant.route(router, inPort, inClass, 5, 10, state);
            assertThat(Topology.portIn(end)).isEqualTo(valiant.portOf(10));
            assertThat(Topology.classIn(end)).isZero();
            assertThat(Topology.stateIn(end)).isEqualTo(DIRECT);
        }
    }

    /** UGAL: waiting packets times cables, and the direct way unless the other is better by two. */
    @Test
    void shouldGoAroundWhereLessWaits() {
        HyperXTopology ugal = square(DetourRouting.UGAL);
        HyperXTopology valiant = square(DetourRouting.VALIANT);
        int tried = 0;
        for (int to : new int[] {6, 10}) {
            int direct = ugal.shortestPort(5, to);
            for (int number = 0; number < 100; number++) {
                int state = valiant.entry(5, to, number, Congestion.UNKNOWN);
                int over = state - 1;
                if (state == DIRECT || ugal.shortestPort(5, over) == direct) {
                    continue;
                }
                int straight = ugal.distance(5, to);
                int around = ugal.distance(5, over) + ugal.distance(over, to);
                for (int waiting = 0; waiting < 20; waiting++) {
                    for (int other = 0; other < 3; other++) {
                        int ahead = waiting;
                        int beside = other;
                        boolean isDirect = ahead * straight <= beside * around + 1;
                        int entry =
                                ugal.entry(
                                        5,
                                        to,
                                        number,
                                        (router, port) -> port == direct ? ahead : beside);
                        assertThat(entry).isEqualTo(isDirect ? DIRECT : state);
                        tried++;
                    }
                }
            }
        }
        assertThat(tried).isGreaterThan(1000);
    }

    @Test
    void shouldPackPortClassAndState() {
        for (int state : new int[] {-1, 0, 7, Integer.MAX_VALUE}) {
            long way = Topology.way(0xABCDEF, 0x12, state);
            assertThat(Topology.portIn(way)).isEqualTo(0xABCDEF);
            assertThat(Topology.classIn(way)).isEqualTo(0x12);
            assertThat(Topology.stateIn(way)).isEqualTo(state);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "switch(16)",
                "xgft(4,4;1,4)",
                "leafspine(leaves=4,down=3,spines=2)",
                "fattree(levels=2,down=2,up=2)",
                "fattree(levels=1,down=4,up=4,leaves=3)",
                "fattree(levels=3,down=2,up=2,leaves=4)",
                "fattree(levels=10,down=1,up=1)"
            })
    void shouldSayTheShapeOfATreeAsAConfigurationDoes(String name) {
        Topology tree = Topologies.parse(name, TieRule.POSITIVE);
        assertThat(tree.name()).isEqualTo(name);
        assertThat(tree.classes()).isEqualTo(1);
        TopologyChecks.cablesHaveTwoEnds(tree);
    }

    @Test
    void shouldBuildTreesOfTheSizeThatIsAsked() {
        assertThat(nodes("fattree(levels=3,down=2,up=2,leaves=4)")).isEqualTo(8);
        assertThat(nodes("fattree(levels=3,down=2,up=2,leaves=6)")).isEqualTo(12);
        assertThat(nodes("fattree(levels=2,down=4,up=4,leaves=3)")).isEqualTo(12);
        assertThat(nodes("fattree(levels=1,down=4,up=4,leaves=3)")).isEqualTo(4);
        assertThat(nodes(" Torus( 4, 3 ) ")).isEqualTo(12);
        assertThat(TopologyChecks.kAryTree(3, 2).name()).isEqualTo("xgft(3,3;1,3)");
    }

    private static int nodes(String name) {
        return Topologies.parse(name, TieRule.POSITIVE).nodes();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "torus",
                "(4)",
                "torus(4",
                "blob(3)",
                "torus(a)",
                "hyperx(4,4)",
                "hyperx(4;nodes=2;nodes=2)",
                "xgft(4,4)",
                "xgft(4;1;1)",
                "xgft(0;1)",
                "xgft(4;2)",
                "dragonfly(p=2,a)",
                "dragonfly(=2)",
                "dragonfly(p=2,a=4)",
                "dragonfly(p=0,a=4,h=2)",
                "hyperx(0;nodes=2)",
                "hyperx(4;nodes=0)",
                "fattree(levels=0,down=2,up=2)",
                "fattree(levels=11,down=1,up=1)",
                "fattree(levels=3,down=2,up=2,leaves=3)",
                "torus(100000,100000,100000)",
                "blob(3,routing=ugal)",
                "slimfly(q=5,nodes=0)"
            })
    void shouldRefuseWhatIsNoShape(String name) {
        assertThatThrownBy(() -> Topologies.parse(name, TieRule.POSITIVE))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "fattree(levels=2,down=4,up=4,leafs=4) | no 'leafs=' in this place; there are",
                "fattree(levels=2,down=4,up=4,leavs=4) | did you mean 'leaves'?",
                "fattree(levels=2,down=4,up=4,up=2) | fattree has up= twice",
                "fattree(levels=2,down=4,up=4,leaves=0) | fattree: leaves=0; at least 1",
                "fattree(levels=1,down=4,up=4,leaves=-3) | fattree: leaves=-3; at least 1",
                "fattree(levels=2,down=4,up=4,routing=ugal) | fattree has no routing=",
                "leafspine(leaves=4,down=4,spines=4,up=2) | leafspine has no 'up='",
                "torus(4,4,routing=valiant) | torus has no routing=",
                "switch(4,routing=minimal) | switch has no routing=",
                "dragonfly(p=2,a=4,h=2,a=4) | dragonfly has a= twice",
                "dragonfly(p=2,a=4,h=2,q=4) | dragonfly has no 'q='",
                "dragonfly(p=2,a=4,h=2,routing=valient) | routing=valient is none of minimal,",
                "dragonfly(p=2,a=4,h=2,routing=valient) | did you mean 'valiant'?",
                "dragonfly(p=2,a=4,h=2,routing=ugal,routing=ugal) | dragonfly has no 'routing='",
                "hyperx(4,4;nodes=2,node=3) | did you mean 'nodes'?",
                "slimfly(q=5,nodes=3,nodes=3) | slimfly has nodes= twice",
                "fattree(levels=3,down=0,up=1,leaves=4) | numbers from 1, not 0",
                "dragonfly(p=1,a=-70000,h=70000) | each must be at least 1",
                "hyperx(-70000,70000;nodes=1) | each must be at least 1",
            })
    void shouldNameWhatAShapeDoesNotHave(String name, String expected) {
        assertThatThrownBy(() -> Topologies.parse(name, TieRule.POSITIVE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "torus(1000,1000,1000)",
                "mesh(65536,65536)",
                "xgft(65536,65536;1,1)",
                "dragonfly(p=1,a=65536,h=65536)",
                "dragonfly(p=1,a=1,h=2147483647)",
                "dragonfly(p=4,a=1024,h=1024)",
                "hyperx(32768,32768;nodes=4)",
                "slimfly(q=61,nodes=1000000)"
            })
    void shouldSayThatAShapeIsTooLarge(String name) {
        assertThatThrownBy(() -> Topologies.parse(name, TieRule.POSITIVE))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("'" + name + "' has more than 2^31 nodes or ports; make");
    }

    @Test
    void shouldFindTheWayFromARouterOfMoreNodesThanAShortCounts() {
        int nodes = 40_000;
        HyperXTopology two = new HyperXTopology(nodes, DetourRouting.MINIMAL, 2);
        long way = two.route(0, 0, 0, 0, nodes, DIRECT);
        assertThat(Topology.portIn(way)).isEqualTo(nodes);
        assertThat(two.peer(0, Topology.portIn(way))).isEqualTo(1);
    }
}
