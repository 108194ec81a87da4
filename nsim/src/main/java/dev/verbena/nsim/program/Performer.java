package dev.verbena.nsim.program;

/**
 * Does the operations of a recorded rank somewhere else than in the simulator: on a real network,
 * for comparison. Waiting operations return when what they wait for is there. A collective's steps
 * come as puts and polls with {@link #COLLECTIVE_TAG}; these puts have no number.
 */
public interface Performer {
    /** Tags of a program are below this; the others are of who performs it. */
    int TAGS = 1 << 29;

    /** Tag of the puts that collectives consist of; no program waits for their completion. */
    int COLLECTIVE_TAG = 1 << 30;

    /** Computes for a while. */
    void compute(long picoseconds);

    /** Starts a put; puts and gets are numbered from 0. */
    void put(int to, long bytes, int tag);

    /** Starts a get. */
    void get(int from, long bytes);

    /** Waits for one more put with a tag. */
    void poll(int tag);

    /** Waits for one more put of a rank with a tag. */
    void poll(int from, int tag);

    /** Waits until a put or get is complete. */
    void complete(int number);

    /** Waits until all are. */
    void completeAll();
}
