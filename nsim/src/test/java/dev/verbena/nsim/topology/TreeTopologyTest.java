package dev.verbena.nsim.topology;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TreeTopologyTest {
    @Test
    void shouldConnectEveryPairOnce() {
        Topology[] trees = {
            TreeTopology.single(5),
            TreeTopology.leafSpine(3, 4, 2),
            TopologyChecks.kAryTree(2, 4),
            TopologyChecks.kAryTree(4, 3),
            new TreeTopology(null, new int[] {3, 2, 4}, new int[] {1, 2, 3}),
            Topologies.parse("fattree(levels=3,down=2,up=2,leaves=6)", TieRule.BALANCED),
        };
        for (Topology tree : trees) {
            TopologyChecks.cablesHaveTwoEnds(tree);
            for (int from = 0; from < tree.nodes(); from++) {
                for (int to = 0; to < tree.nodes(); to++) {
                    int routers = TopologyChecks.routersBetween(tree, from, to);
                    assertThat(routers % 2).isEqualTo(1);
                    assertThat(routers == 1).isEqualTo(tree.routerOf(from) == tree.routerOf(to));
                }
            }
        }
    }

    @Test
    void shouldHaveTheNumbersOfItsFormula() {
        Topology tree = TopologyChecks.kAryTree(4, 3);
        assertThat(tree.nodes()).isEqualTo(64);
        assertThat(tree.routers()).isEqualTo(48);
        assertThat(TopologyChecks.diameter(tree)).isEqualTo(4);
        Topology paper =
                Topologies.parse("fattree(levels=2,down=4,up=4,leaves=4)", TieRule.BALANCED);
        assertThat(paper.nodes()).isEqualTo(16);
        assertThat(paper.routers()).isEqualTo(8);
        assertThat(TopologyChecks.routersBetween(paper, 0, 3)).isEqualTo(1);
        assertThat(TopologyChecks.routersBetween(paper, 0, 4)).isEqualTo(3);
    }
}
