package dev.verbena.nsim.network;

/** How much of a network is modelled, the configuration's {@code level}. */
public enum Level {
    /** Packets, cut-through, credits: the usual one. */
    PACKET,
    /** Each flit is an event: slow, a reference for the packet level. */
    FLIT,
    /**
     * A message is a flow that has a share of each cable and DMA engine on its way: a few events
     * per message whatever its length, for machines with very many nodes.
     */
    MESSAGE
}
