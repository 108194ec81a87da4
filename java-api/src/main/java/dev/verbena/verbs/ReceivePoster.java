package dev.verbena.verbs;

import dev.verbena.rdma.calls.HotCalls;
import dev.verbena.rdma.calls.verbscalls;

/** Posting of prepared receives. One thread. */
final class ReceivePoster extends Poster {
    /** Whose they are. */
    enum Kind {
        QUEUE_PAIR("queue pair", 1),
        SHARED("shared receive queue", 4),
        ALONE("receive queue", 1);

        private final String queueName;
        private final int places;

        /**
         * @param places of the log, for each place of the NIC: those that stay taken when it drops
         *     completions with a queue pair are more than it has
         */
        Kind(String queueName, int places) {
            this.queueName = queueName;
            this.places = places;
        }

        String queueName() {
            return queueName;
        }

        int places(int capacity) {
            return (int) Math.min(WorkLog.PLACES_MAX, (long) places * capacity);
        }
    }

    private final DomainObject queue;
    private final ProtectionDomain domain;
    private final Kind kind;
    private final int segmentsMax;
    private volatile boolean mayBeLost;

    /**
     * Under the lock.
     *
     * @param capacity of the NIC
     */
    ReceivePoster(DomainObject queue, Kind kind, int capacity, int segmentsMax) {
        super(queue.device().newLog(queue, kind.places(capacity), segmentsMax, false));
        this.queue = queue;
        this.domain = queue.domain();
        this.kind = kind;
        this.segmentsMax = segmentsMax;
    }

    int segmentsMax() {
        return segmentsMax;
    }

    /** Prepared receives for this queue. */
    ReceiveRequests newRequests(int count) {
        queue.address();
        return new ReceiveRequests(domain, count, segmentsMax);
    }

    /** Places that are taken may never become free. */
    void placesMayBeLost() {
        mayBeLost = true;
    }

    /** How many were taken, or why not the first. */
    int post(ReceiveRequests requests, int from, int count) {
        long address = queue.addressOrZero();
        if (address == 0 || requests.isClosed()) {
            return Post.CLOSED;
        }
        requests.check();
        if (requests.domain != domain || requests.segmentsMax > segmentsMax) {
            throw new IllegalArgumentException("these requests were not made by " + queue);
        }
        requests.checkRange(from, count);
        int ready = 0;
        int stop = 0;
        while (ready < count && stop == 0) {
            stop = requests.check(from + ready);
            if (stop == 0 && !log.isNextFree()) {
                stop = mayBeLost ? Post.PLACES_LOST : Post.BACK_PRESSURED;
            }
            if (stop == 0) {
                requests.note(from + ready, log);
                ready++;
            }
        }
        if (ready == 0) {
            return stop;
        }
        requests.chain(from, from + ready);
        int result = call(address, requests.addressOf(from));
        return result == 0 ? ready : refused(requests, from, ready, result);
    }

    private int call(long address, long first) {
        if (kind == Kind.QUEUE_PAIR) {
            return HotCalls.postReceive(address, first, bad);
        }
        return kind == Kind.SHARED
                ? verbscalls.vv_post_srq_recv(address, first, bad)
                : verbscalls.vv_post_wq_recv(address, first, bad);
    }

    private int refused(ReceiveRequests requests, int from, int ready, int result) {
        int at = firstRefused(requests, from, ready);
        for (int i = from + ready - 1; i >= at; i--) {
            log.takeBack(requests.idOf(i));
        }
        return at > from ? at - from : codeOf(result);
    }
}
