package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * Prepared requests for a send queue: {@code struct ibv_send_wr}. {@link #at} gives the views to
 * fill them.
 */
public final class SendRequests extends Requests {
    private final SendRequestFlyweight[] requests;

    SendRequests(QueuePair queue, int capacity, int segmentsMax, int inlineRoom) {
        super(
                queue.domain(),
                capacity,
                segmentsMax,
                VerbsLayout.SEND_WR_SIZEOF,
                VerbsLayout.SEND_WR_NEXT,
                inlineRoom);
        requests = new SendRequestFlyweight[capacity];
        for (int i = 0; i < capacity; i++) {
            requests[i] = new SendRequestFlyweight(this, i);
        }
    }

    /**
     * The view of one request; always the same object.
     *
     * @throws IndexOutOfBoundsException for an index outside
     * @throws IllegalStateException after close
     */
    public SendRequestFlyweight at(int index) {
        checkIndex(index);
        return requests[index];
    }

    SendRequestFlyweight unchecked(int index) {
        return requests[index];
    }
}
