package dev.verbena.flesnet.dfs;

import dev.verbena.staging.Arguments;

/**
 * Parameters of the Data-Flow Scheduler, the same in every process.
 *
 * @param timeslicesPerInterval most timeslices of an interval; whole rounds are taken of it
 * @param history intervals that medians are taken of, 1 to 1,000
 * @param speedUpThresholdPercent deviation below which the network counts as relaxed
 * @param speedUpPercent by which a duration is then shortened; 0: never
 * @param test how the deviation is measured
 * @param staging how long a shortened duration is kept
 * @param window intervals of {@link Staging#WINDOW}
 * @param thetaPercent acknowledged share of an interval that opens the next
 */
public record DfsParameters(
        int timeslicesPerInterval,
        int history,
        int speedUpThresholdPercent,
        int speedUpPercent,
        SpeedUpTest test,
        Staging staging,
        int window,
        int thetaPercent) {
    /** The paper's, and 95 % for the share that it does not name. */
    public static final DfsParameters PAPER =
            new DfsParameters(
                    10_000, 10, 10, 5, SpeedUpTest.MEAN_ABS, Staging.PER_INTERVAL, 10, 95);

    /**
     * Checks all values.
     *
     * @throws IllegalArgumentException naming the value and its range
     */
    public DfsParameters {
        Arguments.range("timeslicesPerInterval", timeslicesPerInterval, 1, 1 << 30);
        Arguments.range("history", history, 1, 1000);
        Arguments.range("speedUpThresholdPercent", speedUpThresholdPercent, 0, 1000);
        Arguments.range("speedUpPercent", speedUpPercent, 0, 99);
        Arguments.range("window", window, 1, 1000);
        Arguments.range("thetaPercent", thetaPercent, 0, 100);
        Arguments.notNull("test", test);
        Arguments.notNull("staging", staging);
    }

    /** As these, with other lengths of interval and history. */
    public DfsParameters intervals(int timeslices, int intervals) {
        return new DfsParameters(
                timeslices,
                intervals,
                speedUpThresholdPercent,
                speedUpPercent,
                test,
                staging,
                window,
                thetaPercent);
    }

    /** As these, with another speed-up. */
    public DfsParameters speedUp(int thresholdPercent, int percent, SpeedUpTest by) {
        return new DfsParameters(
                timeslicesPerInterval,
                history,
                thresholdPercent,
                percent,
                by,
                staging,
                window,
                thetaPercent);
    }

    /** As these, with another staging. */
    public DfsParameters staging(Staging how, int intervals) {
        return new DfsParameters(
                timeslicesPerInterval,
                history,
                speedUpThresholdPercent,
                speedUpPercent,
                test,
                how,
                intervals,
                thetaPercent);
    }

    /** As these, with another share that opens the next interval. */
    public DfsParameters theta(int percent) {
        return new DfsParameters(
                timeslicesPerInterval,
                history,
                speedUpThresholdPercent,
                speedUpPercent,
                test,
                staging,
                window,
                percent);
    }
}
