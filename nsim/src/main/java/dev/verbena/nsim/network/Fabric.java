package dev.verbena.nsim.network;

import dev.verbena.nsim.topology.Congestion;

/** Routers and cables: carries packets from one network interface to another. */
interface Fabric extends Congestion {
    /**
     * A node puts the head of a packet on its cable now. The node has taken a credit of the
     * channel.
     *
     * @param channel of the node's link
     */
    void inject(long timePs, int node, int packet, int channel);

    /**
     * A node has room again behind a channel of its router.
     *
     * @param channel of the router's link to the node
     */
    void release(long timePs, int node, int channel);

    /** Decides about a link of a router; see {@link PacketNetwork#decide}. */
    void arbitrate(long timePs, int link);

    /** For checking: the room behind a channel is free again, and was not before. */
    boolean isFreed(int channel);

    /** For checking: the most packets that a channel of a router held. */
    int fullestBuffer();
}
