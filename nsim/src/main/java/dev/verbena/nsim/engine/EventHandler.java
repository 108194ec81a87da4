package dev.verbena.nsim.engine;

/** Processes the events of one kind. */
@FunctionalInterface
public interface EventHandler {
    /**
     * An event is due.
     *
     * @param timePs the virtual time, in picoseconds
     * @param target the entity that it is for
     * @param argument what was given to {@link Engine#schedule}
     */
    void onEvent(long timePs, int target, long argument);
}
