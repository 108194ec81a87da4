package dev.verbena.nessie.service;

import dev.verbena.agent.ProtocolAgent;
import dev.verbena.nessie.rpc.RpcEndpoint;
import dev.verbena.nessie.service.wire.ArrayConstants;
import dev.verbena.nessie.service.wire.ArrayRequest;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.NanoClock;

/** Takes requests, and begins them when they can be. Never waits. One thread. */
final class ArrayEngine {
    /** Requests that wait; more than so many are refused, so that pieces can still come. */
    static final int WAITING_MAX = 512;

    /**
     * How long requests may still wait when the server is ending, nanoseconds: a quarter minute.
     */
    static final long LAST_WAIT_NS = TcpConnection.STALL_NS / 2;

    private static final ArrayException ENDING =
            new ArrayException(ArrayStatus.FAILED, "the server is ending");

    private final ArrayStore store;
    private final Slots slots;
    private final ArrayServerOptions options;
    private final NanoClock clock;
    private final List<Job> waiting = new ArrayList<>();
    private long earliestNs;
    private int memoryWaitingCount;

    /** Since when it refuses requests; null: it takes them. */
    private Long endingNs;

    /** When it refuses those that wait for other clients, too. */
    private long refusalNs = ProtocolAgent.NO_DEADLINE;

    ArrayEngine(ArrayStore store, Slots slots, ArrayServerOptions options, NanoClock clock) {
        this.store = store;
        this.slots = slots;
        this.options = options;
        this.clock = clock;
    }

    /** A request; it is the caller's until it is answered. */
    void onRequest(int operation, ArrayRequest request, Caller caller) {
        try {
            if (endingNs != null) {
                throw ENDING;
            }
            Requests.requirePlace(options, request.place(), request.places());
            long now = clock.nanoTime();
            take(job(operation, request, caller, now), now);
        } catch (ArrayException e) {
            Job.fail(caller, e);
        }
    }

    /**
     * Refuses new requests from now on, and later those that still wait for other clients, which
     * may never come. What waits for the disk is answered.
     *
     * @return nanoseconds since this was asked first
     */
    long end() {
        long nowNs = clock.nanoTime();
        if (endingNs == null) {
            endingNs = nowNs;
            refusalNs = nowNs + LAST_WAIT_NS + 1;
        }
        if (refusalNs != ProtocolAgent.NO_DEADLINE && refusalNs - nowNs <= 0) {
            refusalNs = ProtocolAgent.NO_DEADLINE;
            waiting.stream().filter(Job::waitsForOthers).forEach(job -> refuse(job, ENDING));
            waiting.removeIf(Job::waitsForOthers);
        }
        return nowNs - endingNs;
    }

    private static void refuse(Job job, ArrayException why) {
        job.giveUp();
        job.fail(why);
    }

    private Job job(int operation, ArrayRequest request, Caller caller, long nowNs) {
        return switch (operation) {
            case ArrayConstants.PUT ->
                    new PutJob(store, request, caller, nowNs, options.pieceMax());
            case ArrayConstants.GET -> new GetJob(store, slots, request, caller, nowNs);
            default -> new Question(operation, store, request, caller, nowNs);
        };
    }

    /** True: it has begun, or was answered; false: it waits. */
    private boolean take(Job job, long nowNs) {
        if (attempt(job)) {
            return true;
        }
        if (job.deadlineNs - nowNs <= 0) {
            job.timeOut();
        } else if (waiting.size() == WAITING_MAX) {
            refuse(
                    job,
                    new ArrayException(ArrayStatus.BUSY, WAITING_MAX + " requests wait already"));
        } else {
            earliestNs = RpcEndpoint.earlier(nextDeadlineNs(), job.deadlineNs);
            waiting.add(job);
            memoryWaitingCount += job instanceof PutJob ? 1 : 0;
            return false;
        }
        return true;
    }

    /** True: it has begun, or was answered. Memory for pieces goes to who waits for it first. */
    private boolean attempt(Job job) {
        try {
            if (job.caller.isGone()) {
                throw new ArrayException(ArrayStatus.FAILED, "the client is gone");
            }
            if (job instanceof PutJob && memoryWaitingCount > 0) {
                return job.mustWait(ArrayStatus.BUSY, "other pieces wait for memory before it");
            }
            return job.attempt();
        } catch (ArrayException e) {
            refuse(job, e);
            return true;
        }
    }

    /** Does what can be done now; work done. */
    int doWork() {
        int work = slots.doWork() + store.doWork();
        if (waiting.isEmpty()) {
            return work;
        }
        boolean isDue = earliestNs - clock.nanoTime() <= 0;
        for (int i = 0; i < waiting.size(); i++) {
            isDue |= waiting.get(i).caller.isGone();
        }
        return store.takeChanged() || isDue ? work + attemptAll() : work;
    }

    private int attemptAll() {
        List<Job> all = new ArrayList<>(waiting);
        waiting.clear();
        memoryWaitingCount = 0;
        long now = clock.nanoTime();
        int work = 0;
        for (Job job : all) {
            work += take(job, now) ? 1 : 0;
        }
        return work;
    }

    /** When something is due although nothing comes. */
    long nextDeadlineNs() {
        return waiting.isEmpty()
                ? ProtocolAgent.NO_DEADLINE
                : RpcEndpoint.earlier(earliestNs, refusalNs);
    }
}
