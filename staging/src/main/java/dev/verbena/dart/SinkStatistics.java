package dev.verbena.dart;

/**
 * What a {@link DartReceiver} has handed to its sink since its start.
 *
 * @param deliveredCount messages that the sink has
 * @param refusedCount messages that it refused, which are files of the directory now
 * @param waitingCount messages that are complete and that the sink does not have yet
 * @param retryCount tries that did not reach the sink
 */
public record SinkStatistics(
        long deliveredCount, long refusedCount, long waitingCount, long retryCount) {}
