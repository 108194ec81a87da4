package dev.verbena.ugni.transport;

/**
 * What a {@link GniResources} is made from.
 *
 * @param name a label that a URI may ask for; may be empty
 * @param port the instance; 0: any that is free
 */
record GniResourcesContext(
        String host,
        String name,
        int port,
        int ptag,
        long cookie,
        int outstandingMax,
        int receiveSlotCount,
        int connectionsMax) {}
