package dev.verbena.flesnet;

/**
 * Counts of a compute node since its start. Times in nanoseconds. Any thread; values may be of
 * different moments.
 */
public interface ComputeStatistics {
    /** Timeslices handed to the consumer. */
    long timeslices();

    /** Of those, the ones without all components. */
    long incompleteTimeslices();

    /** Components received. */
    long components();

    /** Bytes of components received. */
    long bytes();

    /** Timeslices that the consumer has released, as a contiguous prefix. */
    long released();

    /** Messages sent. */
    long syncs();

    /** Bytes of messages sent. */
    long syncBytes();

    /** Proposals that were shortened (the standing over-ask of erratum E14). */
    long speedUps();

    /** The last interval that was proposed; -1: none. */
    long lastProposed();
}
