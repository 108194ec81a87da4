package dev.verbena.nsim.topology;

import java.util.Arrays;

/**
 * A HyperX (Ahn and others 2009), with one dimension a full mesh, with two a flattened butterfly:
 * routers at the points of a grid, all routers that differ in one coordinate linked, t nodes each.
 * The shortest way corrects one coordinate after the other. Ports: t nodes, then per dimension one
 * for each other coordinate.
 */
public final class HyperXTopology extends DetourTopology {
    private final int[] sizes;
    private final int[] strides;
    private final int[] firstPort;

    /**
     * A HyperX.
     *
     * @param t nodes per router
     * @param sizes of the dimensions
     */
    public HyperXTopology(int t, DetourRouting detour, int... sizes) {
        super(detour, (int) Arrays.stream(sizes).filter(s -> s > 1).count(), t, routers(t, sizes));
        this.sizes = sizes.clone();
        strides = new int[sizes.length];
        firstPort = new int[sizes.length + 1];
        int product = 1;
        firstPort[0] = t;
        for (int d = 0; d < sizes.length; d++) {
            strides[d] = product;
            product *= sizes[d];
            firstPort[d + 1] = firstPort[d] + sizes[d] - 1;
        }
    }

    private static int routers(int t, int[] sizes) {
        if (t < 1 || sizes.length == 0 || Arrays.stream(sizes).anyMatch(s -> s < 1)) {
            throw new IllegalArgumentException(
                    "hyperx of %s nodes per router and sizes %s: each must be at least 1"
                            .formatted(t, Arrays.toString(sizes)));
        }
        return Arrays.stream(sizes).reduce(1, Math::multiplyExact);
    }

    @Override
    public String name() {
        return "hyperx(%s;nodes=%s%s)"
                .formatted(Topologies.list(sizes), nodesPerRouter, detourName());
    }

    @Override
    public int ports(int router) {
        return firstPort[sizes.length];
    }

    private int dimension(int port) {
        int d = 0;
        while (port >= firstPort[d + 1]) {
            d++;
        }
        return d;
    }

    @Override
    int neighbour(int router, int cable) {
        int port = nodesPerRouter + cable;
        int d = dimension(port);
        int own = router / strides[d] % sizes[d];
        int other = port - firstPort[d];
        return router + ((other < own ? other : other + 1) - own) * strides[d];
    }

    @Override
    public int peerPort(int router, int port) {
        int d = dimension(port);
        int own = router / strides[d] % sizes[d];
        int other = port - firstPort[d];
        return firstPort[d] + (other < own ? own - 1 : own);
    }

    @Override
    int shortestPort(int router, int target) {
        for (int d = 0; d < sizes.length; d++) {
            int own = router / strides[d] % sizes[d];
            int other = target / strides[d] % sizes[d];
            if (own != other) {
                return firstPort[d] + (other < own ? other : other - 1);
            }
        }
        throw new IllegalArgumentException("router " + router + " is the target");
    }

    @Override
    boolean isDetourUseful(int from, int over, int to) {
        return true;
    }
}
