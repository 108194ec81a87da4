package dev.verbena.verbs;

import org.agrona.DirectBuffer;

/**
 * Sends that are built and posted together, all or none: the {@code ibv_wr_*} interface of {@code
 * struct ibv_qp_ex}. Which operations it can build was said when the queue pair was made ({@link
 * QueuePairContext#operations}).
 *
 * <p>{@link #start}, {@link #request} for each, {@link #complete} or {@link #abort}. What is set is
 * checked at once; the library is called in {@link #complete} only, in one call that goes from
 * {@code ibv_wr_start} to {@code ibv_wr_complete}, because the driver holds a lock between. Used by
 * the thread that posts to the queue pair. Nothing is allocated after it is made. Closing frees its
 * memory.
 */
public final class SendBuilder implements AutoCloseable {
    private final QueuePair queue;
    private final SendRequests requests;
    private int count;
    private boolean isStarted;

    SendBuilder(QueuePair queue, SendRequests requests) {
        this.queue = queue;
        this.requests = requests;
    }

    /** Requests of the batch so far. */
    public int size() {
        return count;
    }

    /**
     * Begins a batch.
     *
     * @throws IllegalStateException if one is begun, after close, or for another thread
     */
    public SendBuilder start() {
        requests.checkIndex(0);
        if (isStarted) {
            throw new IllegalStateException("a batch is begun; complete() or abort() it first");
        }
        isStarted = true;
        count = 0;
        return this;
    }

    /**
     * The next request of the batch, an unsignalled send of no bytes until something else is said.
     *
     * @throws IllegalStateException if no batch is begun, or it is full
     */
    public SendRequestFlyweight request() {
        checkStarted();
        if (count == requests.capacity()) {
            throw new IllegalStateException("a batch has at most " + count + " requests");
        }
        SendRequestFlyweight next = requests.at(count);
        count++;
        return next.reset();
    }

    /**
     * Gives the latest request bytes that need not be registered. They are copied now, and sent
     * inline instead of segments ({@code ibv_wr_set_inline_data}).
     *
     * @throws IndexOutOfBoundsException for a range that the source lacks, or more bytes than
     *     {@link QueuePair#inlineMax}
     * @throws IllegalStateException without a request
     */
    public SendBuilder inlineBytes(DirectBuffer source, int from, int bytes) {
        checkStarted();
        if (count == 0) {
            throw new IllegalStateException("the batch has no request yet");
        }
        requests.at(count - 1).ownBytes(source, from, bytes);
        return this;
    }

    /**
     * Posts the batch, whole or not at all. When it was not taken it stays begun, to be completed
     * again or aborted.
     *
     * @return how many requests were posted, or one of {@link Post}; {@link Post#REFUSED} with
     *     EOPNOTSUPP as {@link QueuePair#refusal} for an operation that the queue pair was not made
     *     for
     * @throws IllegalStateException if no batch is begun, or another thread posts
     */
    public int complete() {
        checkStarted();
        int result = count == 0 ? 0 : queue.postBuilt(requests, count);
        isStarted = result < 0;
        return result;
    }

    /**
     * Forgets the batch; the library has not seen it.
     *
     * @throws IllegalStateException if no batch is begun
     */
    public void abort() {
        checkStarted();
        isStarted = false;
        count = 0;
    }

    private void checkStarted() {
        requests.checkIndex(0);
        if (!isStarted) {
            throw new IllegalStateException("no batch is begun; start() one first");
        }
    }

    /** Lets another thread build; by the one that builds now. */
    public void handOver() {
        requests.handOver();
    }

    /** True after {@link #close()}. */
    public boolean isClosed() {
        return requests.isClosed();
    }

    /**
     * Frees its memory. Idempotent.
     *
     * @throws IllegalStateException while another living thread uses it
     */
    @Override
    public void close() {
        requests.close();
    }
}
