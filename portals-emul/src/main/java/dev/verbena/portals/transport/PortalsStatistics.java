package dev.verbena.portals.transport;

/**
 * Counters of the receive queue of a {@link PortalsTransport}.
 *
 * @param linkedDescriptors descriptors in the list of three
 * @param unlinks descriptors that used themselves up, or were closed after a loss of events
 * @param replacements descriptors appended to the list since the start
 * @param buffers buffers that exist
 * @param eventLosses times that the event queue was found to have overflowed
 * @param droppedSends messages of ours that the peer's list did not take (they were not accepted,
 *     and are not lost)
 */
public record PortalsStatistics(
        int linkedDescriptors,
        long unlinks,
        long replacements,
        int buffers,
        long eventLosses,
        long droppedSends) {}
