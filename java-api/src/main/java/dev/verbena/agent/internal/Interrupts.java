package dev.verbena.agent.internal;

/**
 * Interrupts of the thread that calls, for engines, which touch no thread themselves: whoever waits
 * in them asks here between two sleeps. Looking does not clear the mark. Thread-safe.
 */
public final class Interrupts {
    private Interrupts() {}

    /** Whether the calling thread was interrupted; the mark stays. */
    public static boolean isPending() {
        return Thread.currentThread().isInterrupted();
    }

    /** Sets the mark of the calling thread again after an exception has taken it away. */
    public static void keep() {
        Thread.currentThread().interrupt();
    }
}
