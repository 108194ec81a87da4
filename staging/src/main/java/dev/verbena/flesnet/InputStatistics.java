package dev.verbena.flesnet;

/**
 * What an input node has counted since its start; values may be of different moments.
 *
 * @param timeslices that compute nodes have built and released, in order from 0
 * @param components written
 * @param payloadBytes bytes of components written
 * @param payloadWrites writes of payload
 * @param syncs messages sent
 * @param syncBytes bytes of messages sent
 * @param droppedMicroslices dropped because the input ring was full
 * @param inputBlockedNs nanoseconds that connections waited for data, in sum
 * @param writeBlockedNs nanoseconds that connections waited for the transport, in sum
 * @param creditBlockedNs nanoseconds that connections waited for tickets, in sum
 * @param openInterval interval that the scheduler has open; -1: none
 */
public record InputStatistics(
        long timeslices,
        long components,
        long payloadBytes,
        long payloadWrites,
        long syncs,
        long syncBytes,
        long droppedMicroslices,
        long inputBlockedNs,
        long writeBlockedNs,
        long creditBlockedNs,
        long openInterval) {}
