package dev.verbena.nsim.program;

import java.time.Duration;
import java.util.function.LongBinaryOperator;

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
 *
 * <p>Sends, receives and collectives mean what MPI's mean, and take the time of the puts and gets
 * that they consist of (nsim-ace.md, sections 3.1 and 9, assertion 56). Each has two forms: with a
 * length, of which only the time is of interest, and with an array of {@code long}, whose values
 * really travel. Arrays belong to the program: what happens to them happens in virtual time, so
 * {@link #calculate} is the place to read and write them.
 */
public final class Rank {
    /** Any sender, or any tag, of a receive. */
    public static final int ANY = -1;

    private static final int DEPTH_MAX = 8;
    private static final long PS_PER_NS = 1_000;
    private static final int LONG = 8;

    private final Script script;
    private final int size;
    private final boolean isLoopback;
    private final long shortMax;
    private final Collectives collectives = new Collectives(this);
    private final long[] issuedBefore = new long[DEPTH_MAX + 1];
    private final long[] requestedBefore = new long[DEPTH_MAX + 1];
    private int rank;
    private int depth;
    private long issued;
    private long requested;
    private long times;

    Rank(Script script, int size, boolean isLoopback, long shortMax) {
        this.script = script;
        this.size = size;
        this.isLoopback = isLoopback;
        this.shortMax = shortMax;
    }

    void begin(int number) {
        rank = number;
        depth = 0;
        issued = 0;
        requested = 0;
        times = 1;
    }

    void end() {
        script.operation(Operation.END);
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
        script.operation(Operation.COMPUTE, picoseconds);
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
     * Starts reading another rank's memory; takes no time itself. Only {@link #complete} waits for
     * its end.
     *
     * @param from the rank
     * @param bytes 0 and more
     * @return for {@link #complete}
     */
    public long get(int from, long bytes) {
        return issue(Operation.GET, "get", from, bytes, 0);
    }

    private void check(String name, int peer, long bytes, int tag) {
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
                    "%s of rank %s: %s bytes, tag %s; none may be negative"
                            .formatted(name, rank, bytes, tag));
        }
    }

    private long issue(int code, String name, int peer, long bytes, int tag) {
        check(name, peer, bytes, tag);
        script.operation(code, peer, bytes, tag);
        script.tag(tag);
        script.countPut(times, bytes);
        return issued++;
    }

    /**
     * Waits for a put with this tag, from any rank: the n-th call returns when the n-th one is in
     * this rank's memory. Those that came early count.
     */
    public void poll(int tag) {
        script.tag(tag);
        script.operation(Operation.POLL, tag);
    }

    /**
     * As {@link #poll(int)}, counting the puts of one rank; apart from what {@link #poll(int)}
     * counts.
     */
    public void poll(int from, int tag) {
        script.tag(tag);
        script.operation(Operation.POLL_FROM, from, tag);
    }

    /**
     * Waits until a put's control packet is back, or a get's data are here.
     *
     * @throws IllegalArgumentException if it was not started, or inside a loop but started before
     *     it
     */
    public void complete(long handle) {
        checkStarted("complete", handle, issued, issuedBefore[depth]);
        script.operation(Operation.COMPLETE, issued - handle);
    }

    private void checkStarted(String call, long handle, long end, long before) {
        if (handle < 0 || handle >= end) {
            throw new IllegalArgumentException(
                    call + ": rank " + rank + " has started nothing with handle " + handle);
        }
        if (handle < before && depth > 0) {
            throw new IllegalArgumentException(
                    "%s: rank %s started %s before this loop; wait for it before the loop, too"
                            .formatted(call, rank, handle));
        }
    }

    /** Waits until all puts and gets that this rank started are complete. */
    public void completeAll() {
        script.operation(Operation.COMPLETE_ALL);
    }

    /**
     * Starts sending; {@code MPI_Isend}. A message of at most {@code message.short} bytes is one
     * put and its send is done at once; a longer one is asked for and fetched when its receive is
     * there.
     *
     * @param to the rank
     * @param bytes 0 and more
     * @param tag 0 and more
     * @return for {@link #await}
     */
    public long isend(int to, long bytes, int tag) {
        return isend(to, bytes, tag, null);
    }

    /**
     * As the other, with values; they must not change before the send is done.
     *
     * @param data borrowed until the send is done
     */
    public long isend(int to, long[] data, int tag) {
        return isend(to, (long) data.length * LONG, tag, data);
    }

    private long isend(int to, long bytes, int tag, long[] data) {
        check("send", to, bytes, tag);
        return recordSend(to, bytes, tag, bytes > shortMax ? Operation.ASKS_FIRST : 0, data);
    }

    private long recordSend(int to, long bytes, int tag, int flags, long[] data) {
        noteMessage(flags);
        script.operation(Operation.SEND, to, bytes, tag, flags);
        script.object(data);
        script.countPut(times, bytes);
        if ((flags & Operation.ASKS_FIRST) != 0) {
            script.countPut(2 * times, 0);
        }
        return requested++;
    }

    private void noteMessage(int flags) {
        if ((flags & Operation.COLLECTIVE) == 0) {
            script.hasMessages();
        }
    }

    /** Sends and waits until the send is done; {@code MPI_Send}. */
    public void send(int to, long bytes, int tag) {
        await(isend(to, bytes, tag));
    }

    /** As {@link #send(int, long, int)}, with values. */
    public void send(int to, long[] data, int tag) {
        await(isend(to, data, tag));
    }

    /**
     * Starts receiving; {@code MPI_Irecv}. Of the messages that fit, the first; messages of one
     * sender count in the order of its sends.
     *
     * @param from the rank, or {@link #ANY}
     * @param bytes the longest that may come
     * @param tag the tag, or {@link #ANY}
     * @return for {@link #await}
     */
    public long irecv(int from, long bytes, int tag) {
        return irecv(from, bytes, tag, null, null);
    }

    /** As the other, with values: they are in the array when the receive is done. */
    public long irecv(int from, long[] into, int tag) {
        return irecv(from, (long) into.length * LONG, tag, into, null);
    }

    /**
     * As {@link #irecv(int, long[], int)}.
     *
     * @param receipt gets the sender, tag and length
     */
    public long irecv(int from, long[] into, int tag, Receipt receipt) {
        return irecv(from, (long) into.length * LONG, tag, into, receipt);
    }

    private long irecv(int from, long bytes, int tag, long[] into, Receipt receipt) {
        check("receive", from == ANY ? (rank + 1) % size : from, bytes, Math.max(tag, 0));
        if (tag < ANY) {
            throw new IllegalArgumentException(
                    "receive of rank " + rank + ": tag " + tag + " is neither 0 or more nor ANY");
        }
        return recordReceive(from, bytes, tag, 0, into, receipt);
    }

    private long recordReceive(
            int from, long bytes, int tag, int flags, long[] into, Receipt receipt) {
        noteMessage(flags);
        script.operation(Operation.RECEIVE, from - (long) ANY, bytes, tag - (long) ANY, flags);
        script.object(into);
        script.object(receipt);
        return requested++;
    }

    /** Receives and waits until the message is there; {@code MPI_Recv}. */
    public void recv(int from, long bytes, int tag) {
        await(irecv(from, bytes, tag));
    }

    /** As {@link #recv(int, long, int)}, with values. */
    public void recv(int from, long[] into, int tag) {
        await(irecv(from, into, tag));
    }

    /** As {@link #recv(int, long[], int)}, with a receipt. */
    public void recv(int from, long[] into, int tag, Receipt receipt) {
        await(irecv(from, into, tag, receipt));
    }

    /**
     * Waits until a send or receive is done; {@code MPI_Wait}.
     *
     * @throws IllegalArgumentException if it was not started, or inside a loop but started before
     *     it
     */
    public void await(long request) {
        checkStarted("await", request, requested, requestedBefore[depth]);
        script.operation(Operation.AWAIT, requested - request);
    }

    /** Waits until all sends and receives that this rank started are done; {@code MPI_Waitall}. */
    public void awaitAll() {
        script.operation(Operation.AWAIT_ALL);
    }

    void sendCollective(int to, long bytes, long[] data) {
        recordSend(to, bytes, 0, Operation.COLLECTIVE, data);
    }

    void receiveCollective(int from, long bytes, long[] into) {
        await(recordReceive(from, bytes, 0, Operation.COLLECTIVE, into, null));
    }

    /**
     * Does something to the program's arrays when virtual time has come here; takes no virtual
     * time.
     *
     * @param work must depend on nothing but what ranks received, and change nothing but this
     *     rank's
     */
    public void calculate(Runnable work) {
        script.operation(Operation.CALCULATE);
        script.object(work);
    }

    /** Waits until all ranks have come here; {@code MPI_Barrier}. */
    public void barrier() {
        collectives.barrier();
    }

    /** Gives the root's message to all; {@code MPI_Bcast}. */
    public void bcast(int root, long bytes) {
        check("broadcast", bytes, root);
        collectives.broadcast(root, bytes, null);
    }

    /** As the other, with values: read at the root, written elsewhere. */
    public void bcast(int root, long[] data) {
        check("broadcast", data.length, root);
        collectives.broadcast(root, (long) data.length * LONG, data);
    }

    /** Combines messages of all at the root; {@code MPI_Reduce}. Combining takes no time. */
    public void reduce(int root, long bytes) {
        check("reduce", bytes, root);
        collectives.reduce(root, bytes, null, null, null);
    }

    /**
     * As the other, with values, element by element.
     *
     * @param into as long as from; written at the root only
     * @param operator associative and commutative
     */
    public void reduce(int root, long[] from, long[] into, LongBinaryOperator operator) {
        check("reduce", from.length, root);
        checkLengths("reduce", from.length, into.length);
        collectives.reduce(root, (long) from.length * LONG, from, into, operator);
    }

    /** Combines messages of all, for all; {@code MPI_Allreduce}. Combining takes no time. */
    public void allreduce(long bytes) {
        check("allreduce", bytes, 0);
        collectives.allreduce(bytes, null, null, null);
    }

    /** As the other, with values; see {@link #reduce(int, long[], long[], LongBinaryOperator)}. */
    public void allreduce(long[] from, long[] into, LongBinaryOperator operator) {
        checkLengths("allreduce", from.length, into.length);
        collectives.allreduce((long) from.length * LONG, from, into, operator);
    }

    /** Each rank sends each rank a message of this length; {@code MPI_Alltoall}. */
    public void alltoall(long bytesEach) {
        check("alltoall", bytesEach, 0);
        collectives.alltoall(bytesEach, null, null);
    }

    /**
     * As the other, with values.
     *
     * @param from a part for each rank, in the order of ranks
     * @param into a part of each rank
     */
    public void alltoall(long[] from, long[] into) {
        checkLengths("alltoall", from.length, into.length);
        checkLengths("alltoall of " + size + " ranks", from.length / size * size, from.length);
        collectives.alltoall((long) (from.length / size) * LONG, from, into);
    }

    private void check(String name, long bytes, int root) {
        if (bytes < 0 || root < 0 || root >= size) {
            throw new IllegalArgumentException(
                    "%s of rank %s: %s bytes, root %s among %s ranks"
                            .formatted(name, rank, bytes, root, size));
        }
    }

    private void checkLengths(String name, int expected, int length) {
        if (length != expected) {
            throw new IllegalArgumentException(
                    name + ": an array of " + length + " values, where " + expected + " belong");
        }
    }

    /**
     * Does something a number of times; recorded once. Behind the loop, a handle from inside it
     * stands for the first time round.
     */
    public void loop(long count, Runnable body) {
        if (count <= 0) {
            return;
        }
        if (depth == DEPTH_MAX) {
            throw new IllegalArgumentException("loops within one another: at most " + DEPTH_MAX);
        }
        issuedBefore[++depth] = issued;
        requestedBefore[depth] = requested;
        script.depth(depth);
        int before = script.length();
        script.operation(Operation.LOOP, count);
        int inside = script.length();
        long outside = times;
        times = Math.multiplyExact(times, count);
        body.run();
        times = outside;
        if (script.length() == inside) {
            // Nothing happens, however often.
            script.cut(before);
        } else {
            script.operation(Operation.LOOP_END);
        }
        issued += (issued - issuedBefore[depth]) * (count - 1);
        requested += (requested - requestedBefore[depth]) * (count - 1);
        depth--;
    }
}
