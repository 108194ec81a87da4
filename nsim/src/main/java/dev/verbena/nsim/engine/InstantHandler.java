package dev.verbena.nsim.engine;

/** Decides what depends on all events of one instant. */
@FunctionalInterface
public interface InstantHandler {
    /**
     * All events known so far of this instant have been processed. Events that this call schedules
     * for the same instant are processed next, and the end of the instant may come again.
     */
    void onInstantEnd(long timePs);
}
