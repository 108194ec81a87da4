package dev.verbena.examples.pic;

/** What the processes of a run say to each other: one sum a step. One thread per process. */
public interface PicExchange {
    /** The only process of a run: the sum is what it has. */
    PicExchange ALONE = values -> {};

    /**
     * Replaces every value by its sum over all processes. Blocks until all have called it the same
     * number of times, or throws naming the process that was lost.
     *
     * @param values as many in every process
     */
    void sum(long[] values);
}
