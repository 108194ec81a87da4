package dev.verbena.nessie.xfer;

/**
 * What a run has measured, over all trials (specification, section 3.3).
 *
 * @param clients number of clients
 * @param operations of all clients
 * @param count structures of an operation
 * @param bytes payload: 16 for each structure
 * @param wireBytes of messages and bulk data, without what the transport adds
 * @param seconds of all trials
 */
public record XferReport(
        int clients, long operations, int count, long bytes, long wireBytes, double seconds) {}
