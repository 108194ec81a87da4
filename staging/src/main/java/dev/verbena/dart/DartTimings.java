package dev.verbena.dart;

/**
 * Averages of the times that compute processes reported with {@link DartClient#reportTimings}.
 *
 * @param reportCount reports so far
 * @param means mean of each of the {@link #LENGTH} places over the reports that had it, in the unit
 *     in which it was reported; 0 where there was none
 */
public record DartTimings(long reportCount, double[] means) {
    /** Places of a report. */
    public static final int LENGTH = 20;
}
