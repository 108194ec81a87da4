package dev.verbena.agent.internal;

import java.util.concurrent.TimeUnit;

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

    /**
     * Waits for the thread to end, up to the time limit. An interrupt does not end this wait, for
     * what the thread uses is about to be closed; the mark is set again.
     */
    public static void join(Thread thread, long limitNs) {
        boolean isInterrupted = false;
        long start = System.nanoTime();
        for (long left = limitNs;
                left > 0 && thread.isAlive();
                left = limitNs - (System.nanoTime() - start)) {
            try {
                TimeUnit.NANOSECONDS.timedJoin(thread, left);
            } catch (InterruptedException e) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            keep();
        }
    }

    /** Sets the mark of the calling thread again after an exception has taken it away. */
    public static void keep() {
        Thread.currentThread().interrupt();
    }
}
