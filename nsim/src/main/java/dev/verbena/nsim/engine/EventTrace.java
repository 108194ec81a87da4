package dev.verbena.nsim.engine;

/** Receives each event before it is processed, in the order of a simulation. */
@FunctionalInterface
public interface EventTrace {
    /**
     * An event is about to be processed, on the simulation's thread. What is thrown ends the run.
     *
     * @param timePs the virtual time
     * @param target the entity that it is for
     * @param source the entity that made it
     * @param kind its kind
     * @param argument what its handler gets
     */
    void onEvent(long timePs, int target, int source, int kind, long argument);
}
