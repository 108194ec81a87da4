package dev.verbena.nsim.network;

/** Learns that a node has read from memory all that it had to send: keeps sources busy. */
@FunctionalInterface
public interface IdleHandler {
    /** The node can take the next message; called once per decision while there is none. */
    void onIdle(long timePs, int node);
}
