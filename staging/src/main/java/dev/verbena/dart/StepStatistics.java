package dev.verbena.dart;

/**
 * What a receiver that puts steps together has done since its start.
 *
 * @param completeCount steps handed over with nothing missing
 * @param incompleteCount steps handed over although something was missing
 * @param droppedCount steps of which something was missing and that were dropped
 * @param lateCount messages that came after their step had ended
 * @param surplusCount messages beyond what their rank or step announced, or of an impossible rank
 * @param handlerErrorCount exceptions of the handler
 * @param waitCount times that a message had to wait in its connection for room
 * @param openCount steps open now
 * @param openBytes memory that they take, as far as it is known
 * @param held which message has waited for room for a second or more: step, rank, the option that
 *     limits, and what the oldest step waits for; empty if none has
 */
public record StepStatistics(
        long completeCount,
        long incompleteCount,
        long droppedCount,
        long lateCount,
        long surplusCount,
        long handlerErrorCount,
        long waitCount,
        int openCount,
        long openBytes,
        String held) {}
