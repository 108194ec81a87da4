package dev.verbena.flesnet;

/** What happens to a component that does not fit before the end of a receive ring. */
public enum RingEndPolicy {
    /** The rest of the ring is skipped: a component is always contiguous. */
    SKIP,
    /** The component is written in two parts, the second at the ring's beginning. */
    SPLIT
}
