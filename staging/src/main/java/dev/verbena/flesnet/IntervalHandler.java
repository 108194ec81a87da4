package dev.verbena.flesnet;

import dev.verbena.flesnet.dfs.IntervalMetadata;

/** Sees what an input has measured of an interval, before the schedulers are told. */
@FunctionalInterface
public interface IntervalHandler {
    /** Reports what was measured. */
    IntervalHandler NONE = (input, measured, plannedNs) -> measured.durationNs();

    /**
     * An interval is over. On the engine's thread; must not wait.
     *
     * @param measured valid during the call
     * @param plannedNs duration that the interval was to have, nanoseconds; 0: as fast as possible
     * @return the duration that is reported, nanoseconds; another than the measured one is for
     *     experiments
     */
    long onInterval(int input, IntervalMetadata measured, long plannedNs);
}
