package dev.verbena.flesnet.dfs;

/** How long a shortened duration is kept. */
public enum Staging {
    /** The test is made anew for every interval. */
    PER_INTERVAL,
    /** A shortened duration is held for a window of intervals, then judged. */
    WINDOW
}
