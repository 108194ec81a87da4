package dev.verbena.flesnet;

/** Consumes timeslices of a compute node. */
@FunctionalInterface
public interface TimesliceHandler {
    /**
     * A timeslice, on the engine's thread; it must not wait. Its memory stays until {@link
     * Timeslice#release()}, which may come later, in any order and from any thread.
     */
    void onTimeslice(Timeslice timeslice);
}
