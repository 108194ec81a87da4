package dev.verbena.nsim.program;

import java.time.Duration;

/**
 * One rank, as its program sees it: each call is recorded and happens later, in virtual time, in
 * the order of the calls. The names are those of the paper's MGEN interface: {@code MGEN_rdma_put},
 * {@code MGEN_rdma_poll}, {@code MGEN_acp_complete}, {@code MGEN_Comp}.
 *
 * <p>The paper's sample, a ring of puts:
 *
 * <pre>{@code
 * Program sample = rank -> {
 *     long handle = rank.put((rank.rank() + 1) % rank.size(), 4, 0);
 *     rank.poll(0);
 *     rank.complete(handle);
 * };
 * }</pre>
 */
public final class Rank {
    private static final int DEPTH_MAX = 8;
    private static final long PS_PER_NS = 1_000;

    private final Script script;
    private final int size;
    private final boolean isLoopback;
    private final long[] issuedBefore = new long[DEPTH_MAX + 1];
    private int rank;
    private int depth;
    private long issued;
    private long times;

    Rank(Script script, int size, boolean isLoopback) {
        this.script = script;
        this.size = size;
        this.isLoopback = isLoopback;
    }

    void begin(int number) {
        rank = number;
        depth = 0;
        issued = 0;
        times = 1;
    }

    void end() {
        script.code(Operation.END);
    }

    /** This rank's number, from 0. */
    public int rank() {
        return rank;
    }

    /** How many ranks there are. */
    public int size() {
        return size;
    }

    /** Computes for a while. */
    public void compute(Duration duration) {
        computePs(Math.multiplyExact(duration.toNanos(), PS_PER_NS));
    }

    /** Computes for a while, in nanoseconds. */
    public void computeNanos(long nanoseconds) {
        computePs(Math.multiplyExact(nanoseconds, PS_PER_NS));
    }

    /** Computes for a while, in picoseconds. */
    public void computePs(long picoseconds) {
        if (picoseconds < 0) {
            throw new IllegalArgumentException("a computation of " + picoseconds + " ps");
        }
        script.code(Operation.COMPUTE);
        script.number(picoseconds);
    }

    /**
     * Starts writing into another rank's memory; takes no time itself.
     *
     * @param to the rank
     * @param bytes 0 and more
     * @param tag what {@link #poll} at the other end waits for, 0 and more; need not be unique
     * @return for {@link #complete}
     */
    public long put(int to, long bytes, int tag) {
        return issue(Operation.PUT, "put", to, bytes, tag);
    }

    /**
     * Starts reading another rank's memory; takes no time itself. The end is told by {@link
     * #complete} only.
     *
     * @param from the rank
     * @param bytes 0 and more
     * @return for {@link #complete}
     */
    public long get(int from, long bytes) {
        return issue(Operation.GET, "get", from, bytes, 0);
    }

    private long issue(int code, String name, int peer, long bytes, int tag) {
        if (peer < 0 || peer >= size) {
            throw new IllegalArgumentException(
                    name + " of rank " + rank + ": there is no rank " + peer + " among " + size);
        }
        if (peer == rank && !isLoopback) {
            throw new IllegalArgumentException(
                    name + " of rank " + rank + " to itself; set loopback=true if that is meant");
        }
        if (bytes < 0 || tag < 0) {
            throw new IllegalArgumentException(
                    name
                            + " of rank "
                            + rank
                            + ": "
                            + bytes
                            + " bytes, tag "
                            + tag
                            + "; none may be negative");
        }
        script.code(code);
        script.number(peer);
        script.number(bytes);
        script.number(tag);
        script.countPut(times, bytes);
        return issued++;
    }

    /**
     * Waits for a put with this tag, from any rank: the n-th call returns when the n-th one is in
     * this rank's memory. Those that came early count.
     */
    public void poll(int tag) {
        script.polledByTag();
        script.code(Operation.POLL);
        script.number(tag);
    }

    /**
     * As {@link #poll(int)}, counting the puts of one rank; apart from what {@link #poll(int)}
     * counts.
     */
    public void poll(int from, int tag) {
        script.polledBySource();
        script.code(Operation.POLL_FROM);
        script.number(from);
        script.number(tag);
    }

    /**
     * Waits until a put's control packet is back, or a get's data are here.
     *
     * @throws IllegalArgumentException if it was not started, or inside a loop but started before
     *     it
     */
    public void complete(long handle) {
        if (handle < 0 || handle >= issued) {
            throw new IllegalArgumentException(
                    "complete: rank " + rank + " has started nothing with handle " + handle);
        }
        if (handle < issuedBefore[depth] && depth > 0) {
            throw new IllegalArgumentException(
                    "complete: rank "
                            + rank
                            + " started "
                            + handle
                            + " before this loop; complete it before, too");
        }
        script.code(Operation.COMPLETE);
        script.number(issued - handle);
    }

    /** Waits until all that this rank started is complete. */
    public void completeAll() {
        script.code(Operation.COMPLETE_ALL);
    }

    /** Does something a number of times; recorded once. */
    public void loop(long count, Runnable body) {
        if (count <= 0) {
            return;
        }
        if (depth == DEPTH_MAX) {
            throw new IllegalArgumentException("loops within one another: at most " + DEPTH_MAX);
        }
        issuedBefore[++depth] = issued;
        script.depth(depth);
        script.code(Operation.LOOP);
        script.number(count);
        long outside = times;
        times = Math.multiplyExact(times, count);
        body.run();
        times = outside;
        script.code(Operation.LOOP_END);
        depth--;
    }
}
