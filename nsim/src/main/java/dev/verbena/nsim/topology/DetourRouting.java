package dev.verbena.nsim.topology;

/** How packets are routed: by the shortest way or by a detour. */
public enum DetourRouting {
    /** The shortest way. */
    MINIMAL,
    /** By way of a random router (Valiant), then the shortest way. */
    VALIANT,
    /**
     * Whichever of the two has less before it: the packets waiting at the first port, times the
     * cables to pass (UGAL, by what the source's router knows).
     */
    UGAL
}
