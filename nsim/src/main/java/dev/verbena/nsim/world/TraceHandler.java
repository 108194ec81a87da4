package dev.verbena.nsim.world;

/** Receives what happens in a world. */
@FunctionalInterface
public interface TraceHandler {
    /**
     * Something happened.
     *
     * @param timePs when
     * @param what in a word or two
     * @param about a process, host or other; its text is for people
     */
    void onTrace(long timePs, String what, Object about);
}
