package dev.verbena.nsim;

/** Learns how far a simulation is. */
@FunctionalInterface
public interface ProgressHandler {
    /**
     * Called now and then, on the simulation's thread.
     *
     * @param putsDone puts and gets whose data are in memory
     * @param putsTotal all that the program has
     * @param events events processed
     * @param timePs the virtual time
     */
    void onProgress(long putsDone, long putsTotal, long events, long timePs);
}
