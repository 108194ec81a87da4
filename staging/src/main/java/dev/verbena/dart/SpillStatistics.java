package dev.verbena.dart;

/**
 * What a server has put onto its own disk because the receiver did not take it.
 *
 * @param bytes in files now, with what an earlier server left
 * @param fileCount files now
 * @param messageCount messages in files now that the receiver has not confirmed
 * @param writtenBytes bytes of messages written to files since the start
 * @param replayedCount messages confirmed by the receiver that came out of files
 * @param failureCount how often the device was full or failed, the limit was reached, or a file
 *     could not be read
 */
public record SpillStatistics(
        long bytes,
        int fileCount,
        long messageCount,
        long writtenBytes,
        long replayedCount,
        long failureCount) {}
