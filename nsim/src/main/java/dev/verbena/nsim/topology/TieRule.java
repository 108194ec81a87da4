package dev.verbena.nsim.topology;

/** Which way round a ring when both are equally long. */
public enum TieRule {
    /** Always towards higher coordinates. */
    POSITIVE,
    /** By the parity of the sum of the source's coordinates. */
    BALANCED
}
