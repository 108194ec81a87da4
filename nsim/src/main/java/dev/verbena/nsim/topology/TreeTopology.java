package dev.verbena.nsim.topology;

import java.util.Arrays;

/**
 * A generalised fat tree, XGFT(h; m1..mh; w1..wh): a switch of level l has m(l) children and each
 * vertex of level l-1 has w(l) parents. Nodes are level 0. Packets go up until they can go down;
 * the way up is chosen by the destination (its number, divided by the number of switches below one
 * another so far, modulo the number of parents), so ways are fixed, packets stay in order, and
 * shifts share no cable in a full tree. Fewer parents than children is a taper.
 *
 * <p>A single switch is XGFT(1; m; 1); leaf and spine is XGFT(2; nodes per leaf, leaves; 1,
 * spines).
 */
public final class TreeTopology implements Topology {
    private final int[] m;
    private final int[] w;

    /** Products of m up to a level: how many nodes are below a switch of it. */
    private final int[] below;

    /** Products of w up to a level: how many switches share the same nodes. */
    private final int[] above;

    /** The first switch of each level. */
    private final int[] first;

    private final int nodes;
    private final int routers;
    private final String name;

    /**
     * A tree.
     *
     * @param name as {@link #name()} answers; null for {@code xgft(...)}
     * @param m children of a switch, lowest level first
     * @param w parents of a vertex, nodes first; nodes have one
     */
    public TreeTopology(String name, int[] m, int[] w) {
        if (m.length == 0 || m.length != w.length || w[0] != 1) {
            throw new IllegalArgumentException(
                    ("xgft takes as many numbers of children as of parents, and one parent for a"
                                    + " node; got %s and %s")
                            .formatted(Arrays.toString(m), Arrays.toString(w)));
        }
        int h = m.length;
        this.m = m.clone();
        this.w = w.clone();
        below = new int[h + 1];
        above = new int[h + 1];
        first = new int[h + 2];
        below[0] = 1;
        above[0] = 1;
        for (int l = 1; l <= h; l++) {
            if (m[l - 1] < 1 || w[l - 1] < 1) {
                throw new IllegalArgumentException(
                        "xgft takes numbers from 1, not " + Math.min(m[l - 1], w[l - 1]));
            }
            below[l] = Math.multiplyExact(below[l - 1], m[l - 1]);
            above[l] = Math.multiplyExact(above[l - 1], w[l - 1]);
        }
        nodes = below[h];
        for (int l = 1; l <= h; l++) {
            first[l + 1] = Math.addExact(first[l], Math.multiplyExact(above[l], nodes / below[l]));
        }
        routers = first[h + 1];
        String lists = Topologies.list(m) + ";" + Topologies.list(w);
        this.name = name != null ? name : "xgft(" + lists + ")";
    }

    /** One switch. */
    public static TreeTopology single(int nodes) {
        return new TreeTopology("switch(" + nodes + ")", new int[] {nodes}, new int[] {1});
    }

    /** A level of leaf switches below a level of spine switches. */
    public static TreeTopology leafSpine(int leaves, int nodesPerLeaf, int spines) {
        String name =
                "leafspine(leaves=" + leaves + ",down=" + nodesPerLeaf + ",spines=" + spines + ")";
        return new TreeTopology(name, new int[] {nodesPerLeaf, leaves}, new int[] {1, spines});
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int nodes() {
        return nodes;
    }

    @Override
    public int routers() {
        return routers;
    }

    private int level(int router) {
        int l = 1;
        while (router >= first[l + 1]) {
            l++;
        }
        return l;
    }

    @Override
    public int ports(int router) {
        int l = level(router);
        return m[l - 1] + (l < m.length ? w[l] : 0);
    }

    @Override
    public int peer(int router, int port) {
        int l = level(router);
        int index = router - first[l];
        int group = index / above[l];
        int which = index % above[l];
        if (port < m[l - 1]) {
            int child = group * m[l - 1] + port;
            return l == 1 ? -1 - child : first[l - 1] + child * above[l - 1] + which % above[l - 1];
        }
        int parent = port - m[l - 1];
        return first[l + 1] + group / m[l] * above[l + 1] + which + parent * above[l];
    }

    @Override
    public int peerPort(int router, int port) {
        int l = level(router);
        int index = router - first[l];
        if (port < m[l - 1]) {
            return m[l - 2] + index % above[l] / above[l - 1];
        }
        return index / above[l] % m[l];
    }

    @Override
    public int routerOf(int node) {
        return node / m[0];
    }

    @Override
    public int portOf(int node) {
        return node % m[0];
    }

    @Override
    public int classes() {
        return 1;
    }

    @Override
    public long route(int router, int inPort, int inClass, int source, int destination, int state) {
        int l = level(router);
        if (destination / below[l] == (router - first[l]) / above[l]) {
            return Topology.way(destination / below[l - 1] % m[l - 1], 0, 0);
        }
        return Topology.way(m[l - 1] + destination / above[l] % w[l], 0, 0);
    }
}
