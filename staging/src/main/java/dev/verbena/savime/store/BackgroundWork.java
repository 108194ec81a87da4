package dev.verbena.savime.store;

/**
 * Runs what may wait: work on files. Jobs run one after the other; {@link #poll} notifies the owner
 * of each that has ended. Submitted and polled by one thread.
 */
public interface BackgroundWork extends AutoCloseable {
    /** Something that may wait. */
    interface Job {
        /** Where jobs run. */
        void run() throws Exception;

        /**
         * On the owner's thread.
         *
         * @param failure what {@link #run} threw; null: nothing
         */
        void ended(Exception failure);
    }

    /** Called, where jobs run, when {@link #poll} has something to do. */
    void onReady(Runnable wakeup);

    /** Runs it after those before it. */
    void submit(Job job);

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
