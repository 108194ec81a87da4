package dev.verbena.nsim.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LowDiameterTest {
    @ParameterizedTest
    @Tag("nsim-53")
    @CsvSource({"1, 2, 1", "2, 4, 2", "1, 3, 2", "2, 1, 3"})
    void shouldHaveTheNumbersOfADragonfly(int p, int a, int h) {
        DragonflyTopology dragonfly = new DragonflyTopology(p, a, h, DetourRouting.MINIMAL);
        int groups = a * h + 1;
        assertThat(dragonfly.nodes()).isEqualTo(a * p * groups);
        assertThat(dragonfly.ports(0)).isEqualTo(p + a - 1 + h);
        check(dragonfly, a == 1 ? 1 : 3);
    }

    @ParameterizedTest
    @Tag("nsim-53")
    @CsvSource({"1, 4, 1, 1", "2, 3, 4, 1", "1, 2, 3, 4", "3, 1, 5, 2"})
    void shouldHaveTheNumbersOfAHyperX(int t, int s1, int s2, int s3) {
        HyperXTopology hyperX = new HyperXTopology(t, DetourRouting.MINIMAL, s1, s2, s3);
        assertThat(hyperX.nodes()).isEqualTo(t * s1 * s2 * s3);
        assertThat(hyperX.ports(0)).isEqualTo(t + s1 + s2 + s3 - 3);
        check(hyperX, (s1 > 1 ? 1 : 0) + (s2 > 1 ? 1 : 0) + (s3 > 1 ? 1 : 0));
    }

    @ParameterizedTest
    @Tag("nsim-53")
    @CsvSource({"5, 1", "5, 3", "13, 1"})
    void shouldHaveTheNumbersOfASlimFly(int q, int t) {
        SlimFlyTopology slimFly = new SlimFlyTopology(q, t, DetourRouting.MINIMAL);
        assertThat(slimFly.routers()).isEqualTo(2 * q * q);
        assertThat(slimFly.nodes()).isEqualTo(2 * q * q * t);
        assertThat(slimFly.ports(0)).isEqualTo(t + (3 * q - 1) / 2);
        check(slimFly, 2);
    }

    /** Cables fit together, and the shortest ways are as long as the longest one should be. */
    private static void check(Topology topology, int diameter) {
        TopologyChecks.cablesHaveTwoEnds(topology);
        assertThat(TopologyChecks.diameter(topology)).isEqualTo(diameter);
    }

    @Test
    void shouldRefuseWhatIsNoSlimFly() {
        for (int q : new int[] {4, 7, 9, 25, 89}) {
            assertThatThrownBy(() -> new SlimFlyTopology(q, 1, DetourRouting.MINIMAL))
                    .hasMessageContaining("q must be 5, 13, 17");
        }
    }

    @Test
    void shouldNeedAtLeastOneNodeAtEachRouterOfASlimFly() {
        assertThatThrownBy(() -> new SlimFlyTopology(5, 0, DetourRouting.MINIMAL))
                .hasMessageContaining("5");
    }

    /** Over routers of third groups only. */
    @Test
    void shouldDetourOverOtherGroupsOfADragonfly() {
        DragonflyTopology dragonfly = new DragonflyTopology(1, 3, 1, DetourRouting.VALIANT);
        int from = 4;
        int to = 7;
        for (int over = 0; over < dragonfly.routers(); over++) {
            boolean isThird = over / 3 != from / 3 && over / 3 != to / 3;
            assertThat(dragonfly.isDetourUseful(from, over, to)).isEqualTo(isThird);
        }
        SlimFlyTopology slimFly = new SlimFlyTopology(5, 1, DetourRouting.VALIANT);
        assertThat(slimFly.isDetourUseful(1, 2, 3)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "torus(4,3)",
                "mesh(2,5)",
                "dragonfly(p=2,a=4,h=2)",
                "dragonfly(p=2,a=4,h=2,routing=ugal)",
                "slimfly(q=5,nodes=3)",
                "slimfly(q=5,nodes=3,routing=valiant)",
                "hyperx(4,4;nodes=2)",
                "fattree(levels=2,down=4,up=4,leaves=4)"
            })
    void shouldSayItsShapeAsAConfigurationDoes(String name) {
        assertThat(Topologies.parse(name, TieRule.POSITIVE).name()).isEqualTo(name);
    }
}
