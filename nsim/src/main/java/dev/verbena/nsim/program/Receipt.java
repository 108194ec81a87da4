package dev.verbena.nsim.program;

/**
 * What a receive got; {@code MPI_Status}. Filled in while the simulation runs: to be read in {@link
 * Rank#calculate} after the receive is done, or after the run.
 */
public final class Receipt {
    private int source = Rank.ANY;
    private int tag = Rank.ANY;
    private long bytes = -1;

    /** Nothing received yet. */
    public Receipt() {}

    void fill(int from, int tagOfMessage, long length) {
        source = from;
        tag = tagOfMessage;
        bytes = length;
    }

    /** The rank that sent it; -1 before. */
    public int source() {
        return source;
    }

    /** Its tag; -1 before. */
    public int tag() {
        return tag;
    }

    /** Its length, which may be less than was asked for; -1 before. */
    public long bytes() {
        return bytes;
    }
}
