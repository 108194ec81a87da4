package dev.verbena.dart;

/**
 * What a receiver has sent back to compute processes since its start.
 *
 * @param messageCount messages accepted, once for each process
 * @param takenCount messages that their process has taken out of its inbox
 * @param pieceCount pieces written to servers
 * @param repeatedCount of them, pieces written again
 * @param processCount processes that can be sent to now
 * @param pendingBytes bytes of messages that their process has not taken
 */
public record ReverseStatistics(
        long messageCount,
        long takenCount,
        long pieceCount,
        long repeatedCount,
        int processCount,
        long pendingBytes) {}
