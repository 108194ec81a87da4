package dev.verbena.savime.store;

import java.util.function.Consumer;

/**
 * Runs what may wait: work on files. Jobs run one after the other; {@link #poll} notifies the owner
 * of each that has ended. Submitted and polled by one thread.
 */
public interface BackgroundWork extends AutoCloseable {
    /** What may wait. */
    interface Step {
        /** Where jobs run. */
        void run() throws Exception;

        /** Runs it: what it threw; null: nothing. */
        default Exception failure() {
            try {
                run();
                return null;
            } catch (Exception e) {
                return e;
            } catch (OutOfMemoryError e) {
                return new IllegalStateException(e);
            }
        }
    }

    /** Called, where jobs run, when {@link #poll} has something to do. */
    void onReady(Runnable wakeup);

    /**
     * Runs a step after those before it.
     *
     * @param onEnd gets, on the owner's thread, what the step threw; null: nothing
     */
    void submit(Step step, Consumer<Exception> onEnd);

    /** Notifies the owners of what has ended; how many there were. */
    int poll();

    /** Nothing runs or waits to be told. */
    boolean isQuiet();

    /**
     * Whether the owner may do a short job itself, now: no job of its own order is before it, and
     * two threads need not wake each other for it.
     */
    default boolean mayBeBypassed() {
        return isQuiet();
    }

    /** Runs what was submitted, then takes no more; what ended last can still be polled. */
    @Override
    void close();
}
