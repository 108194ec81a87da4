package dev.verbena.verbs.internal;

/**
 * Lets the transport's closer take queues from the thread that uses them. For callers who know that
 * the other thread is outside: they keep it out by a guard of their own.
 */
public final class OwnershipTransfer {
    /** Made by the package of the queues. */
    public interface Way {
        /** The calling thread has the queue, or the list of requests, from now on. */
        void takeOver(Object queue);
    }

    private static volatile Way way;

    private OwnershipTransfer() {}

    /** By the queues' package, when its first class is loaded. */
    public static void install(Way way) {
        OwnershipTransfer.way = way;
    }

    /** The calling thread has the queue, or the list of requests, from now on. */
    public static void takeOver(Object queue) {
        way.takeOver(queue);
    }
}
