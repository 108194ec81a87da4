package dev.verbena.nsim.topology;

/**
 * A network of routers with numbered ports. Nodes and routers are numbered from 0. Immutable, so it
 * may be shared between threads; {@link #route} allocates nothing.
 */
public interface Topology {
    /** {@link #peer} of a port that no cable leads to. */
    int NOTHING = Integer.MIN_VALUE;

    /** As it is written in a configuration. */
    String name();

    /** How many nodes there are. */
    int nodes();

    /** How many routers there are. */
    int routers();

    /** How many ports a router has, those of nodes included. */
    int ports(int router);

    /**
     * What the cable of a port leads to: a router's number, {@code -1 - node} for a node, or {@link
     * #NOTHING}.
     */
    int peer(int router, int port);

    /** The port at the other end, if there is a router. */
    int peerPort(int router, int port);

    /** The router that a node is attached to. */
    int routerOf(int node);

    /** The port that a node is attached to. */
    int portOf(int node);

    /** How many classes of virtual channels its routes need so that no deadlock is possible. */
    int classes();

    /**
     * The way of a packet at a router.
     *
     * @param router where its head is
     * @param inPort the port by which it came
     * @param inClass the class of the virtual channel by which it came
     * @param source the node that it comes from
     * @param destination the node that it goes to
     * @param state what the last call answered as state; 0 or what {@link #entry} answered at the
     *     first router
     * @return port, class and state, to be taken apart with {@link #portIn}, {@link #classIn},
     *     {@link #stateIn}
     */
    long route(int router, int inPort, int inClass, int source, int destination, int state);

    /** Whether {@link #entry} is to be asked. */
    default boolean isAdaptive() {
        return false;
    }

    /**
     * The state of a packet that is about to enter the network.
     *
     * @param number how many packets the source's node has sent before
     * @param congestion of the source's router
     */
    default int entry(int source, int destination, long number, Congestion congestion) {
        return 0;
    }

    /** Packs the answer of {@link #route}. */
    static long way(int port, int vcClass, int state) {
        return (long) state << 32 | (long) vcClass << 24 | port;
    }

    /** The port in the answer of {@link #route}. */
    static int portIn(long way) {
        return (int) way & 0xffffff;
    }

    /** The class in the answer of {@link #route}. */
    static int classIn(long way) {
        return (int) (way >>> 24) & 0xff;
    }

    /** The state in the answer of {@link #route}. */
    static int stateIn(long way) {
        return (int) (way >>> 32);
    }
}
