package dev.verbena.savime;

/**
 * What a staging server has done since its start, and has now.
 *
 * @param datasetsIn datasets that arrived complete
 * @param datasetsOut datasets that the sink has
 * @param queued datasets and commands in the queue
 * @param forwarding tries that are under way
 * @param retries tries that did not reach the sink
 * @param refused datasets that the sink refused
 * @param aborted datasets that were given up before they were complete
 * @param reused datasets that got the pages of an earlier one
 * @param pinnedBytes registered now
 * @param memoryReserved bytes, those kept to be used again included
 * @param diskReserved bytes
 * @param isSinkAway the last try has not reached the sink
 * @param sinkLosses times that the sink went away
 * @param sinkWedges times that it took nothing of an upload for a while
 * @param sinkRestarts times that it was found started again
 */
public record StagingStatistics(
        long datasetsIn,
        long bytesIn,
        long datasetsOut,
        long bytesOut,
        long queued,
        long forwarding,
        long retries,
        long refused,
        long aborted,
        long reused,
        long pinnedBytes,
        long memoryReserved,
        long diskReserved,
        boolean isSinkAway,
        long sinkLosses,
        long sinkWedges,
        long sinkRestarts) {}
