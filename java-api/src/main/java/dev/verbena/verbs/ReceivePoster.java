package dev.verbena.verbs;

import dev.verbena.rdma.calls.HotCalls;
import dev.verbena.rdma.calls.verbscalls;
import org.agrona.UnsafeApi;

/** Posting of prepared receives. One thread. */
final class ReceivePoster {
    /** Whose they are. */
    enum Kind {
        QUEUE_PAIR("queue pair"),
        SHARED("shared receive queue"),
        ALONE("receive queue");

        private final String queueName;

        Kind(String queueName) {
            this.queueName = queueName;
        }

        String queueName() {
            return queueName;
        }
    }

    private final Kind kind;
    private final WorkLog log;
    private volatile boolean mayBeLost;
    private int refusal;

    ReceivePoster(WorkLog log, Kind kind) {
        this.log = log;
        this.kind = kind;
    }

    /** Places that are taken may never become free. */
    void placesMayBeLost() {
        mayBeLost = true;
    }

    int refusal() {
        return refusal;
    }

    WorkLog log() {
        return log;
    }

    /** How many were taken, or why not the first. */
    int post(long queue, long bad, ReceiveRequests requests, int from, int count) {
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
        long first = requests.addressOf(from);
        int result = call(queue, first, bad);
        return result == 0 ? ready : refused(requests, from, ready, bad, result);
    }

    private int call(long queue, long first, long bad) {
        if (kind == Kind.QUEUE_PAIR) {
            return HotCalls.postReceive(queue, first, bad);
        }
        return kind == Kind.SHARED
                ? verbscalls.vv_post_srq_recv(queue, first, bad)
                : verbscalls.vv_post_wq_recv(queue, first, bad);
    }

    private int refused(ReceiveRequests requests, int from, int ready, long bad, int result) {
        int at = requests.indexOf(UnsafeApi.getLong(null, bad), from, from + ready);
        UnsafeApi.putLong(null, bad, 0); // a library may refuse the next without saying which
        for (int i = from + ready - 1; i >= at; i--) {
            log.takeBack(requests.idOf(i));
        }
        if (at > from) {
            return at - from;
        }
        refusal = -result;
        return refusal == VerbsErrno.ENOMEM ? Post.BACK_PRESSURED : Post.REFUSED;
    }
}
