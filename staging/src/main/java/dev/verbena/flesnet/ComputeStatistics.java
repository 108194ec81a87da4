package dev.verbena.flesnet;

/**
 * What a compute node has counted since its start; values may be of different moments.
 *
 * @param timeslices handed to the consumer
 * @param incompleteTimeslices of those, the ones without all components
 * @param components received
 * @param bytes of components received
 * @param released timeslices that the consumer has released, as a contiguous prefix
 * @param syncs messages sent
 * @param syncBytes bytes of messages sent
 * @param lastProposed the last interval that was proposed; -1: none
 */
public record ComputeStatistics(
        long timeslices,
        long incompleteTimeslices,
        long components,
        long bytes,
        long released,
        long syncs,
        long syncBytes,
        long lastProposed) {}
