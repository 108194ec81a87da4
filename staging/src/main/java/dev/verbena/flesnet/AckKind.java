package dev.verbena.flesnet;

/** Which acknowledgement ends a contribution's time in the scheduler's measurements. */
public enum AckKind {
    /** The compute node has seen the contribution: the paper's words. */
    RECEIVED,
    /** The timeslice is complete at the compute node: the default. */
    COMPLETED,
    /** The consumer has released the timeslice. */
    RELEASED
}
