package dev.verbena.flesnet.dfs;

/** When the network counts as relaxed, so that the next interval may be shorter (section 5.4). */
public enum SpeedUpTest {
    /** Mean of the absolute differences of measured and proposed durations. */
    MEAN_ABS,
    /** Mean of the signed differences, not below 0; also while history is short. */
    SIGNED_MEAN,
    /** Standard deviation of the absolute differences, as the paper's equation reads. */
    STDDEV
}
