package dev.verbena.nsim.topology;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;

/** What holds for every shape. */
public final class TopologyChecks {
    private TopologyChecks() {}

    /** The k-ary n-tree: switches with k children and k parents, n levels. */
    public static TreeTopology kAryTree(int k, int n) {
        int[] m = new int[n];
        int[] w = new int[n];
        Arrays.fill(m, k);
        Arrays.fill(w, k);
        w[0] = 1;
        return new TreeTopology(null, m, w);
    }

    /**
     * How many routers a packet passes between two nodes, by following its route without traffic.
     */
    public static int routersBetween(Topology topology, int source, int destination) {
        int router = topology.routerOf(source);
        int inPort = topology.portOf(source);
        int inClass = 0;
        int state = 0;
        int passed = 1;
        while (true) {
            long way = topology.route(router, inPort, inClass, source, destination, state);
            int peer = topology.peer(router, Topology.portIn(way));
            if (peer == -1 - destination) {
                return passed;
            }
            assertThat(peer).as("a route that leaves %s", topology.name()).isNotNegative();
            assertThat(++passed).as("routers of a route").isLessThan(2 * topology.routers() + 3);
            inPort = topology.peerPort(router, Topology.portIn(way));
            inClass = Topology.classIn(way);
            state = Topology.stateIn(way);
            router = peer;
        }
    }

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
                most = Math.max(most, routersBetween(topology, from, to) - 1);
            }
        }
        return most;
    }
}
