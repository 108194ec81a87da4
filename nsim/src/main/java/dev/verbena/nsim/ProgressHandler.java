package dev.verbena.nsim;

/** Receives the progress of a simulation. */
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
