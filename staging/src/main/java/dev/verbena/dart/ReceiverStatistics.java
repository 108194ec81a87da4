package dev.verbena.dart;

/**
 * What a receiver has done since its start.
 *
 * @param messageCount messages delivered
 * @param payloadBytes their payload bytes
 * @param corruptCount messages whose checksum differs from the sender's
 * @param abandonedCount messages that a server gave up half-way, and were dropped
 * @param duplicateFrameCount frames received again, and ignored
 * @param corruptFrameCount frames whose checksum was wrong, and were asked for again
 * @param protocolErrorCount connections ended because of what they sent
 * @param handlerErrorCount exceptions of the handler
 * @param connectionCount connections accepted
 * @param openCount connections open now
 * @param finishedCount servers that finished in order
 * @param droppedStrangerCount connections ended because they did not say in time who they are, or
 *     because too many others did not
 */
public record ReceiverStatistics(
        long messageCount,
        long payloadBytes,
        long corruptCount,
        long abandonedCount,
        long duplicateFrameCount,
        long corruptFrameCount,
        long protocolErrorCount,
        long handlerErrorCount,
        long connectionCount,
        int openCount,
        long finishedCount,
        long droppedStrangerCount) {}
