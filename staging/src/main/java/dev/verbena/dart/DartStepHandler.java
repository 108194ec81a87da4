package dev.verbena.dart;

/** Gets every step that a {@link DartReceiver} put together. */
@FunctionalInterface
public interface DartStepHandler {
    /**
     * One step, once for each job, application and step number, on the receiver's thread. While
     * this runs the receiver does nothing else: the servers' windows fill up and the compute
     * processes wait in the end. The step and everything in it are valid until this returns.
     *
     * <p>What an exception leads to is set by {@link DartStepContext#onException}.
     */
    void onStep(DartStep step);
}
