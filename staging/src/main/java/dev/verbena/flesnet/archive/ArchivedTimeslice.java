package dev.verbena.flesnet.archive;

import java.util.List;

/**
 * A timeslice of an archive.
 *
 * @param index its number
 * @param startNs when it begins; 0 in older files
 * @param durationNs how long it is; 0 in older files
 * @param flags of the timeslice; 0 in older files
 * @param position of the descriptor at the compute node
 * @param coreMicroslices those that begin in it
 * @param components one for each input
 */
public record ArchivedTimeslice(
        long index,
        long startNs,
        long durationNs,
        int flags,
        long position,
        int coreMicroslices,
        List<Component> components) {
    /**
     * What one input contributed.
     *
     * @param timeslice number of the timeslice
     * @param offset position in the receive ring's stream
     * @param size bytes as the descriptor says
     * @param microslices as the descriptor says
     * @param flags see {@link dev.verbena.flesnet.ComponentFlyweight}; 0 in older files
     * @param data descriptors, then contents; not copied
     */
    public record Component(
            long timeslice, long offset, long size, long microslices, int flags, byte[] data) {}
}
