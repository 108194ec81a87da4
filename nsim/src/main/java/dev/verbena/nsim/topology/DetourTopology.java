package dev.verbena.nsim.topology;

import dev.verbena.nsim.internal.SplitMix64;
import java.util.Locale;

/**
 * A shape with shortest ways, and detours by way of another router. The state of a packet is 0
 * before it was decided, -1 once it goes the shortest way, and the router + 1 to go to before. The
 * choice of that router is a mixture of source, destination and how many packets were decided:
 * random enough, and the same in each run. The class of virtual channels is the number of cables
 * passed so far.
 */
abstract class DetourTopology implements Topology {
    private static final int DIRECT = -1;
    private static final int TRIES = 4;

    /** With more routers, ways are computed each time. */
    private static final int TABLE_ROUTERS_MAX = 512;

    private final DetourRouting detour;
    private final int diameter;
    private final int routers;
    private final int nodes;

    /** Nodes of each router, on its first ports. */
    final int nodesPerRouter;

    /** Made when it is first needed, perhaps by several threads: all make the same. */
    private Ways ways;

    /** Shortest ways between all pairs of routers, by from * routers + to. */
    private static final class Ways {
        final int routers;
        final int[] ports;
        final byte[] distances;

        Ways(DetourTopology topology) {
            routers = topology.routers();
            ports = new int[routers * routers];
            distances = new byte[routers * routers];
            for (int from = 0; from < routers; from++) {
                for (int to = 0; to < routers; to++) {
                    int at = from * routers + to;
                    ports[at] = from == to ? -1 : topology.shortestPort(from, to);
                    distances[at] = (byte) topology.walk(from, to);
                }
            }
        }
    }

    /**
     * A shape.
     *
     * @param diameter most cables between routers on a shortest way
     * @throws ArithmeticException if it has more nodes than can be numbered
     */
    DetourTopology(DetourRouting detour, int diameter, int nodesPerRouter, int routers) {
        this.detour = detour;
        this.diameter = diameter;
        this.nodesPerRouter = nodesPerRouter;
        this.routers = routers;
        nodes = Math.multiplyExact(routers, nodesPerRouter);
    }

    @Override
    public final int routers() {
        return routers;
    }

    @Override
    public final int nodes() {
        return nodes;
    }

    @Override
    public final int routerOf(int node) {
        return node / nodesPerRouter;
    }

    @Override
    public final int portOf(int node) {
        return node % nodesPerRouter;
    }

    @Override
    public final int peer(int router, int port) {
        return port < nodesPerRouter
                ? -1 - (router * nodesPerRouter + port)
                : neighbour(router, port - nodesPerRouter);
    }

    /** The router that a cable leads to; a router's cables are numbered from 0. */
    abstract int neighbour(int router, int cable);

    final String detourName() {
        return detour == DetourRouting.MINIMAL
                ? ""
                : ",routing=" + detour.name().toLowerCase(Locale.ROOT);
    }

    /** The port towards a router, which is another one. */
    abstract int shortestPort(int router, int target);

    /** Whether a way over a router is one that avoids something. */
    abstract boolean isDetourUseful(int from, int over, int to);

    @Override
    public final int classes() {
        return Math.max(1, detour == DetourRouting.MINIMAL ? diameter : 2 * diameter);
    }

    @Override
    public final boolean isAdaptive() {
        return detour != DetourRouting.MINIMAL;
    }

    @Override
    public final int entry(int source, int destination, long number, Congestion congestion) {
        int from = routerOf(source);
        int to = routerOf(destination);
        if (detour == DetourRouting.MINIMAL || from == to) {
            return DIRECT;
        }
        int over =
                over(from, to, ((long) source << 32 | destination) + number * 0x632be59bd9b4e019L);
        if (over < 0) {
            return DIRECT;
        }
        if (detour == DetourRouting.UGAL) {
            int direct = port(from, to);
            int around = port(from, over);
            long waitDirect = (long) congestion.waiting(from, direct) * distance(from, to);
            long waitAround =
                    (long) congestion.waiting(from, around)
                            * (distance(from, over) + distance(over, to));
            if (waitDirect <= waitAround + 1) {
                return DIRECT;
            }
        }
        return over + 1;
    }

    private int over(int from, int to, long seed) {
        for (int i = 0; i < TRIES; i++) {
            long number = SplitMix64.mix(seed + i * SplitMix64.STEP);
            int over = (int) Long.remainderUnsigned(number, routers());
            if (over != from && over != to && isDetourUseful(from, over, to)) {
                return over;
            }
        }
        return -1;
    }

    private Ways ways() {
        Ways known = ways;
        if (known == null && routers() <= TABLE_ROUTERS_MAX) {
            known = new Ways(this);
            ways = known;
        }
        return known;
    }

    private int port(int from, int to) {
        Ways known = ways();
        return known == null ? shortestPort(from, to) : known.ports[from * known.routers + to];
    }

    /** Cables between two routers by the shortest way. */
    final int distance(int from, int to) {
        Ways known = ways();
        return known == null ? walk(from, to) : known.distances[from * known.routers + to];
    }

    private int walk(int from, int to) {
        int router = from;
        int cables = 0;
        while (router != to) {
            router = peer(router, shortestPort(router, to));
            cables++;
        }
        return cables;
    }

    @Override
    public final long route(
            int router, int inPort, int inClass, int source, int destination, int state) {
        int now = state == router + 1 ? DIRECT : state;
        int end = routerOf(destination);
        int target = now > 0 ? now - 1 : end;
        boolean isFromNode = inPort < nodesPerRouter;
        int vcClass = isFromNode ? 0 : inClass + 1;
        if (target == router) {
            return Topology.way(portOf(destination), 0, DIRECT);
        }
        return Topology.way(port(router, target), vcClass, now);
    }
}
