package dev.verbena.flesnet;

/**
 * Counts of an input node since its start. Times in nanoseconds. Any thread; values may be of
 * different moments.
 */
public interface InputStatistics {
    /** Timeslices that compute nodes have built and released, in order from 0. */
    long timeslices();

    /** Components written. */
    long components();

    /** Bytes of components written. */
    long payloadBytes();

    /** Writes of payload. */
    long payloadWrites();

    /** Messages sent. */
    long syncs();

    /** Bytes of messages sent. */
    long syncBytes();

    /** Microslices dropped because the input ring was full. */
    long droppedMicroslices();

    /** Time that connections waited for data, in sum. */
    long inputBlockedNs();

    /** Time that connections waited for the transport, in sum. */
    long writeBlockedNs();

    /** Time that connections waited for tickets, in sum. */
    long creditBlockedNs();

    /** Interval that the scheduler has open; -1: none. */
    long openInterval();
}
