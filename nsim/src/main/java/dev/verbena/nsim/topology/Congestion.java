package dev.verbena.nsim.topology;

/** What a source's router knows of its ports. */
@FunctionalInterface
public interface Congestion {
    /** Nothing is known. */
    Congestion UNKNOWN = (router, port) -> 0;

    /** Packets that wait for a port of a router, or hold room behind it. */
    int waiting(int router, int port);
}
