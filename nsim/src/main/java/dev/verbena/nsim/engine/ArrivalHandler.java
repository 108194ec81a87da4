package dev.verbena.nsim.engine;

/** Handles what an event from another partition carries. */
@FunctionalInterface
public interface ArrivalHandler {
    /**
     * An event comes from another partition; called before it is due, allocates nothing.
     *
     * @param argument what was given to {@link Engine#schedule}
     * @param first what was given to {@link Engine#attach}, as the others; without meaning if
     *     nothing was
     * @return the argument of the event here
     */
    long onArrival(int kind, long argument, long first, long second, long third, long fourth);
}
