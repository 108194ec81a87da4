package dev.verbena.dart;

/**
 * What a server has done since its start, and where its buffers are now.
 *
 * @param headerCount headers accepted
 * @param duplicateHeaderCount headers ignored because they were known
 * @param malformedCount records that could not be decoded, and were dropped
 * @param transferredCount messages pulled completely
 * @param failedCount messages whose pull failed, or whose process died first
 * @param streamedCount messages confirmed by the receiver
 * @param pulledBytes bytes read from processes
 * @param streamedBytes payload bytes written to the receiver, again included
 * @param reconnectCount connections to the receiver after the first
 * @param parkedHeaderCount headers that wait for a buffer now
 * @param lostClientCount processes that died or froze
 * @param emptyCount buffers in ebq
 * @param pendingCount buffers in pbq
 * @param fullCount buffers in fbq
 * @param streamingCount buffers that t3 holds: being written, or not yet acknowledged
 */
public record ServerStatistics(
        long headerCount,
        long duplicateHeaderCount,
        long malformedCount,
        long transferredCount,
        long failedCount,
        long streamedCount,
        long pulledBytes,
        long streamedBytes,
        long reconnectCount,
        int parkedHeaderCount,
        long lostClientCount,
        int emptyCount,
        int pendingCount,
        int fullCount,
        int streamingCount) {}
