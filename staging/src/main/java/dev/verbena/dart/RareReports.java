package dev.verbena.dart;

import org.agrona.ErrorHandler;

/**
 * Reports of what strangers and broken peers can cause as often as they like: one in a second, with
 * the number of those in between, so that they cannot fill an error log. One thread.
 */
final class RareReports {
    private static final long EVERY_NS = 1_000_000_000L;

    private final ErrorHandler errorHandler;
    private long reportedNs;
    private boolean hasReported;
    private long untold;

    RareReports(ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
    }

    /** Reports it, or counts it for the next report. */
    void report(long now, DartException.Code code, String what) {
        if (hasReported && now - reportedNs - EVERY_NS < 0) {
            untold++;
            return;
        }
        hasReported = true;
        reportedNs = now;
        String others = untold == 0 ? "" : " (and " + untold + " more that were not reported)";
        untold = 0;
        errorHandler.onError(new DartException(code, what + others));
    }
}
