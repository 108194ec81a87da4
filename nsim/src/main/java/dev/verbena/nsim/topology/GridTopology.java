package dev.verbena.nsim.topology;

/**
 * A mesh or torus of 1 to 6 dimensions, a node at each router, routed one dimension after the
 * other. Port 2d leads to the next higher coordinate of dimension d, 2d + 1 to the next lower one,
 * the last to the node. In a torus a packet that has passed the wrap-around cable of a dimension is
 * in class 1 until it leaves the dimension (the dateline), so rings have no cycle of waiting
 * packets. A dimension of size 2 in a torus has two cables; one of size 1 has none.
 */
public final class GridTopology implements Topology {
    private static final int DIMENSIONS_MAX = 6;

    private final int[] sizes;
    private final int[] strides;
    private final int[] coordinates;
    private final boolean[] isOdd;
    private final boolean isTorus;
    private final TieRule tie;
    private final int count;

    private GridTopology(int[] sizes, boolean isTorus, TieRule tie) {
        if (sizes.length < 1 || sizes.length > DIMENSIONS_MAX) {
            throw new IllegalArgumentException(
                    sizes.length + " dimensions; a mesh or torus has 1 to " + DIMENSIONS_MAX);
        }
        this.sizes = sizes.clone();
        this.isTorus = isTorus;
        this.tie = tie;
        strides = new int[sizes.length];
        int product = 1;
        for (int d = 0; d < sizes.length; d++) {
            if (sizes[d] < 1) {
                throw new IllegalArgumentException(
                        "a dimension of size " + sizes[d] + "; at least 1 is needed");
            }
            strides[d] = product;
            product = Math.multiplyExact(product, sizes[d]);
        }
        count = product;
        coordinates = new int[Math.multiplyExact(count, sizes.length)];
        isOdd = new boolean[count];
        fillCoordinates();
    }

    private void fillCoordinates() {
        for (int router = 0; router < count; router++) {
            int sum = 0;
            for (int d = 0; d < sizes.length; d++) {
                int c = router / strides[d] % sizes[d];
                coordinates[router * sizes.length + d] = c;
                sum += c;
            }
            isOdd[router] = (sum & 1) != 0;
        }
    }

    /** A torus with datelines. */
    public static GridTopology torus(TieRule tie, int... sizes) {
        return new GridTopology(sizes, true, tie);
    }

    /** A mesh. */
    public static GridTopology mesh(int... sizes) {
        return new GridTopology(sizes, false, TieRule.POSITIVE);
    }

    @Override
    public String name() {
        return (isTorus ? "torus(" : "mesh(") + Topologies.list(sizes) + ")";
    }

    @Override
    public int nodes() {
        return count;
    }

    @Override
    public int routers() {
        return count;
    }

    @Override
    public int ports(int router) {
        return 2 * sizes.length + 1;
    }

    @Override
    public int peer(int router, int port) {
        if (port == 2 * sizes.length) {
            return -1 - router;
        }
        int d = port >> 1;
        int k = sizes[d];
        int c = coordinates[router * sizes.length + d];
        int to = (port & 1) == 0 ? c + 1 : c - 1;
        if (k == 1 || !isTorus && (to < 0 || to == k)) {
            return NOTHING;
        }
        return router + (Math.floorMod(to, k) - c) * strides[d];
    }

    @Override
    public int peerPort(int router, int port) {
        return port ^ 1;
    }

    @Override
    public int routerOf(int node) {
        return node;
    }

    @Override
    public int portOf(int node) {
        return 2 * sizes.length;
    }

    @Override
    public int classes() {
        return isTorus ? 2 : 1;
    }

    @Override
    public long route(int router, int inPort, int inClass, int source, int destination, int state) {
        int n = sizes.length;
        int here = router * n;
        int there = destination * n;
        for (int d = 0; d < n; d++) {
            int from = coordinates[here + d];
            int to = coordinates[there + d];
            if (from != to) {
                boolean isUp = isUp(d, from, to, source);
                int port = isUp ? 2 * d : 2 * d + 1;
                return Topology.way(port, vcClass(d, from, to, isUp, inPort, inClass, source), 0);
            }
        }
        return Topology.way(2 * n, 0, 0);
    }

    private boolean isUp(int d, int from, int to, int source) {
        if (!isTorus) {
            return to > from;
        }
        int k = sizes[d];
        int distance = to > from ? to - from : to - from + k;
        if (2 * distance == k) {
            return tie == TieRule.POSITIVE || !isOdd[source];
        }
        return 2 * distance < k;
    }

    /**
     * Class 1 from the wrap-around cable on, class 0 before it; who does not come to it stays in
     * the class that it entered the dimension with, half of them in each.
     */
    private int vcClass(
            int d, int from, int to, boolean isUp, int inPort, int inClass, int source) {
        if (!isTorus) {
            return 0;
        }
        if (isUp ? from == sizes[d] - 1 : from == 0) {
            return 1;
        }
        if (inPort >> 1 == d) {
            return inClass;
        }
        boolean isWrapAhead = isUp ? to < from : to > from;
        return isWrapAhead ? 0 : source >> 1 & 1;
    }
}
