package dev.verbena.nsim.network;

import dev.verbena.nsim.topology.Topology;

/**
 * What went over each cable, in one direction: from a router's port, or from a node into the
 * network. Counted when a packet is given the cable.
 */
public final class LinkStatistics {
    final long[] bytes;
    final long[] packets;
    final long[] busyPs;

    /** How often a packet that was next had no room behind the cable. */
    final long[] creditStalls;

    private final Topology topology;
    private final int[] portBase;
    private final int ports;

    LinkStatistics(Topology topology, int[] portBase, int ports) {
        this.topology = topology;
        this.portBase = portBase;
        this.ports = ports;
        int links = ports + topology.nodes();
        bytes = new long[links];
        packets = new long[links];
        busyPs = new long[links];
        creditStalls = new long[links];
    }

    /** How many directed links there are, ports without a cable included. */
    public int count() {
        return bytes.length;
    }

    /** The link from a router's port. */
    public int linkOf(int router, int port) {
        return portBase[router] + port;
    }

    /** The link from a node to its router. */
    public int linkOfNode(int node) {
        return ports + node;
    }

    /** Whether there is a cable. */
    public boolean isConnected(int link) {
        return link >= ports || topology.peer(routerAt(link), portAt(link)) != Topology.NOTHING;
    }

    /** Where the link begins: a router, or -1 - node. */
    public int from(int link) {
        return link >= ports ? -1 - (link - ports) : routerAt(link);
    }

    /** Where the link ends: a router, or -1 - node. */
    public int to(int link) {
        return link >= ports
                ? topology.routerOf(link - ports)
                : topology.peer(routerAt(link), portAt(link));
    }

    private int routerAt(int link) {
        int at = java.util.Arrays.binarySearch(portBase, 0, topology.routers(), link);
        return at >= 0 ? at : -2 - at;
    }

    private int portAt(int link) {
        return link - portBase[routerAt(link)];
    }

    /** Bytes that went over a link. */
    public long bytes(int link) {
        return bytes[link];
    }

    /** Packets that went over a link. */
    public long packets(int link) {
        return packets[link];
    }

    /** How long a link was busy, in picoseconds. */
    public long busyPs(int link) {
        return busyPs[link];
    }

    /** How often a link was free and a packet was there, but no room behind it. */
    public long creditStalls(int link) {
        return creditStalls[link];
    }
}
