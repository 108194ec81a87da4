package dev.verbena.nsim.dart;

/**
 * Where the time of a simulated staging run went. Times in nanoseconds of virtual time.
 *
 * @param messages delivered
 * @param bytes delivered
 * @param bootNs until all servers were ready
 * @param registerNs from then until the last process was connected
 * @param totalNs from the first process that was connected to the last message confirmed
 * @param computeNs computing of each process
 * @param blockedMeanNs what sends of a process waited for earlier messages, on average, without
 *     those of the warm-up
 * @param blockedMaxNs the same of the process that waited longest
 * @param pullNs a piece's pull out of the process' memory, on average
 * @param queueNs from there to the first byte on its stream
 * @param streamNs from there to the receiver's acknowledgement
 * @param serverCableShare of the total, how long the cables into the servers were busy, on average
 * @param serverLineShare bytes delivered of what the servers' lines could have carried
 * @param receiverShare bytes delivered of what the receivers' lines could have carried
 * @param steps of agents
 * @param events that were simulated
 * @param traceHash runs with one number were the same
 */
public record DartReport(
        int nodes,
        int servers,
        int receivers,
        long messages,
        long bytes,
        long bootNs,
        long registerNs,
        long totalNs,
        long computeNs,
        long blockedMeanNs,
        long blockedMaxNs,
        long pullNs,
        long queueNs,
        long streamNs,
        double serverCableShare,
        double serverLineShare,
        double receiverShare,
        long steps,
        long events,
        long traceHash) {}
