package dev.verbena.nsim.topology;

import java.util.Arrays;

/**
 * A Slim Fly (Besta, Hoefler 2014) for a prime q = 4w + 1: 2 q^2 routers in two halves, a router of
 * the first is (0, x, y), of the second (1, m, c). With a primitive root e of q: (0,x,y) and
 * (0,x,y') are linked if y - y' is an even power of e, (1,m,c) and (1,m,c') if c - c' is an odd
 * one, (0,x,y) and (1,m,c) if y = m x + c, all modulo q. Each router has (3q - 1)/2 cables, and no
 * two are more than two cables apart. Tables hold which port leads to which router.
 */
public final class SlimFlyTopology extends DetourTopology {
    private static final int Q_MAX = 61;

    private final int q;
    private final int degree;

    /** By router and port, without nodes: who is there. */
    private final int[] neighbour;

    /** By router and target: the port of the shortest way, without nodes. */
    private final byte[] next;

    /**
     * A Slim Fly.
     *
     * @param q a prime that leaves 1 when divided by 4: 5, 13, 17, 29, ...
     * @param t nodes per router
     */
    public SlimFlyTopology(int q, int t, DetourRouting detour) {
        super(detour, 2, t, 2 * q * q);
        if (q < 5 || q > Q_MAX || q % 4 != 1 || !isPrime(q) || t < 1) {
            throw new IllegalArgumentException(
                    ("slimfly(q=%s,nodes=%s): q must be 5, 13, 17, 29, 37, 41, 53 or 61, nodes at"
                                    + " least 1")
                            .formatted(q, t));
        }
        this.q = q;
        degree = (3 * q - 1) / 2;
        int routers = routers();
        neighbour = new int[routers * degree];
        next = new byte[routers * routers];
        boolean[] isEvenPower = evenPowers();
        for (int router = 0; router < routers; router++) {
            link(router, isEvenPower);
        }
        for (int router = 0; router < routers; router++) {
            findWays(router);
        }
    }

    private static boolean isPrime(int n) {
        for (int d = 2; d * d <= n; d++) {
            if (n % d == 0) {
                return false;
            }
        }
        return true;
    }

    /** Even powers of a primitive root are the squares. */
    private boolean[] evenPowers() {
        boolean[] isSquare = new boolean[q];
        for (int i = 1; i < q; i++) {
            isSquare[i * i % q] = true;
        }
        return isSquare;
    }

    private void link(int router, boolean[] isEvenPower) {
        boolean isFirst = router < q * q;
        int row = router % (q * q) / q;
        int column = router % q;
        int port = router * degree;
        for (int other = 0; other < q; other++) {
            int difference = Math.floorMod(column - other, q);
            if (difference != 0 && isEvenPower[difference] == isFirst) {
                neighbour[port++] = router - column + other;
            }
        }
        for (int other = 0; other < q; other++) {
            int there =
                    isFirst
                            ? Math.floorMod(column - other * row, q)
                            : Math.floorMod(row * other + column, q);
            neighbour[port++] = (isFirst ? q * q : 0) + other * q + there;
        }
        Arrays.sort(neighbour, router * degree, (router + 1) * degree);
    }

    private void findWays(int router) {
        int routers = routers();
        byte[] port = new byte[routers];
        Arrays.fill(port, (byte) -1);
        for (int i = 0; i < degree; i++) {
            port[neighbour[router * degree + i]] = (byte) i;
        }
        for (int i = 0; i < degree; i++) {
            int over = neighbour[router * degree + i];
            for (int j = 0; j < degree; j++) {
                int to = neighbour[over * degree + j];
                // Of several ways over one router, spread by the target.
                if (port[to] < 0 || !isNeighbour(router, to) && (i + to) % degree < degree / 2) {
                    port[to] = (byte) i;
                }
            }
        }
        System.arraycopy(port, 0, next, router * routers, routers);
    }

    private boolean isNeighbour(int router, int other) {
        return Arrays.binarySearch(neighbour, router * degree, (router + 1) * degree, other) >= 0;
    }

    @Override
    public String name() {
        return "slimfly(q=" + q + ",nodes=" + nodesPerRouter + detourName() + ")";
    }

    @Override
    public int ports(int router) {
        return nodesPerRouter + degree;
    }

    @Override
    int neighbour(int router, int cable) {
        return neighbour[router * degree + cable];
    }

    @Override
    public int peerPort(int router, int port) {
        int other = neighbour[router * degree + port - nodesPerRouter];
        int at = Arrays.binarySearch(neighbour, other * degree, (other + 1) * degree, router);
        return nodesPerRouter + at - other * degree;
    }

    @Override
    int shortestPort(int router, int target) {
        return nodesPerRouter + next[router * routers() + target];
    }

    @Override
    boolean isDetourUseful(int from, int over, int to) {
        return true;
    }
}
