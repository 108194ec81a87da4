package dev.verbena.nsim.topology;

import static org.assertj.core.api.Assertions.assertThat;

/** What holds for every shape. */
final class TopologyChecks {
    private TopologyChecks() {}

    static void cablesHaveTwoEnds(Topology topology) {
        int nodes = 0;
        for (int router = 0; router < topology.routers(); router++) {
            for (int port = 0; port < topology.ports(router); port++) {
                int peer = topology.peer(router, port);
                if (peer >= 0) {
                    int back = topology.peerPort(router, port);
                    assertThat(topology.peer(peer, back)).isEqualTo(router);
                    assertThat(topology.peerPort(peer, back)).isEqualTo(port);
                } else if (peer != Topology.NOTHING) {
                    assertThat(topology.routerOf(-1 - peer)).isEqualTo(router);
                    assertThat(topology.portOf(-1 - peer)).isEqualTo(port);
                    nodes++;
                }
            }
        }
        assertThat(nodes).isEqualTo(topology.nodes());
    }

    /** The most cables between routers on a way between two nodes. */
    static int diameter(Topology topology) {
        int most = 0;
        for (int from = 0; from < topology.nodes(); from++) {
            for (int to = 0; to < topology.nodes(); to++) {
                most = Math.max(most, topology.routersBetween(from, to) - 1);
            }
        }
        return most;
    }
}
