package dev.verbena.nsim.topology;

/**
 * A dragonfly (Kim, Dally, Scott, Abts 2008): groups of a routers, each with p nodes and h cables
 * to other groups; the routers of a group are all linked, and so are the groups, one cable each, so
 * that there are a * h + 1 groups. Ports of a router: p nodes, a - 1 routers of its group, h other
 * groups. The shortest way has at most three cables: within the group, to the other group, within
 * that.
 *
 * <p>A packet's class of virtual channels is the number of cables that it has passed, so no circle
 * of waiting packets can form.
 */
public final class DragonflyTopology extends DetourTopology {
    private final int p;
    private final int a;
    private final int h;
    private final int groups;

    /**
     * A dragonfly.
     *
     * @param p nodes per router
     * @param a routers per group
     * @param h cables per router to other groups
     */
    public DragonflyTopology(int p, int a, int h, DetourRouting detour) {
        super(detour, 3, p, routers(p, a, h));
        this.p = p;
        this.a = a;
        this.h = h;
        groups = a * h + 1;
    }

    private static int routers(int p, int a, int h) {
        if (p < 1 || a < 1 || h < 1) {
            throw new IllegalArgumentException(
                    "dragonfly(p=" + p + ",a=" + a + ",h=" + h + "): each must be at least 1");
        }
        return Math.multiplyExact(Math.addExact(Math.multiplyExact(a, h), 1), a);
    }

    @Override
    public String name() {
        return "dragonfly(p=" + p + ",a=" + a + ",h=" + h + detourName() + ")";
    }

    @Override
    public int ports(int router) {
        return p + a - 1 + h;
    }

    @Override
    int neighbour(int router, int cable) {
        int group = router / a;
        int own = router % a;
        if (cable < a - 1) {
            return group * a + (cable < own ? cable : cable + 1);
        }
        int offset = own * h + cable - (a - 1) + 1;
        int there = (group + offset) % groups;
        return there * a + (groups - offset - 1) / h;
    }

    @Override
    public int peerPort(int router, int port) {
        int own = router % a;
        if (port < p + a - 1) {
            int other = port - p;
            return p + (other < own ? own - 1 : own);
        }
        int offset = own * h + port - (p + a - 1) + 1;
        return p + a - 1 + (groups - offset - 1) % h;
    }

    @Override
    int shortestPort(int router, int target) {
        int group = router / a;
        int own = router % a;
        if (group == target / a) {
            return toOwn(own, target % a);
        }
        int offset = Math.floorMod(target / a - group, groups);
        int exit = (offset - 1) / h;
        return exit == own ? p + a - 1 + (offset - 1) % h : toOwn(own, exit);
    }

    private int toOwn(int own, int other) {
        return p + (other < own ? other : other - 1);
    }

    /** Detours go over a router of another group. */
    @Override
    boolean isDetourUseful(int from, int over, int to) {
        return over / a != from / a && over / a != to / a;
    }
}
