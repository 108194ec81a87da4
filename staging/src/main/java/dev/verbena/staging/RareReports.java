package dev.verbena.staging;

import java.util.function.Function;
import org.agrona.ErrorHandler;

/**
 * Reports of what strangers and broken peers can cause as often as they like: one in a second, with
 * the number of those in between, so that they cannot fill an error log. One thread.
 */
public final class RareReports {
    private static final long EVERY_NS = 1_000_000_000L;

    private final ErrorHandler errorHandler;
    private long reportedNs;
    private boolean hasReported;
    private long untold;

    public RareReports(ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
    }

    /**
     * Reports it, or counts it for the next report.
     *
     * @param failure makes the error that is reported out of its text
     */
    public void report(long now, String what, Function<String, Throwable> failure) {
        if (hasReported && now - reportedNs - EVERY_NS < 0) {
            untold++;
            return;
        }
        hasReported = true;
        reportedNs = now;
        String others = untold == 0 ? "" : " (and " + untold + " more that were not reported)";
        untold = 0;
        errorHandler.onError(failure.apply(what + others));
    }
}
