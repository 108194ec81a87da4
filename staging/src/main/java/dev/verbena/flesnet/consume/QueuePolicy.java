package dev.verbena.flesnet.consume;

/** What happens to timeslices that a consumer is too slow for (section 9). */
public enum QueuePolicy {
    /** They wait, and so does the compute node. */
    ALL,
    /** The newest is kept for it. */
    ONE,
    /** It gets what comes while it is idle. */
    SKIP
}
