package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.agrona.UnsafeApi;

/**
 * Receives for many queue pairs: {@code struct ibv_srq}. Posted to by one thread: the first that
 * does, until it {@linkplain #handOver hands over}.
 *
 * <p>Closing a queue pair, some NICs drop its completions that were not polled. Receives that they
 * were of are not known to be done, then: they keep their regions until this queue is closed. The
 * queue itself goes on with the NIC's places, until three times as many as it has were dropped;
 * posting answers {@link Post#PLACES_LOST} from then on.
 */
public final class SharedReceiveQueue extends VerbsObject implements WorkQueue {
    private final ProtectionDomain domain;
    private final ThreadClaim claim;
    private final int capacity;
    private final int segmentsMax;
    private final ReceivePoster receives;
    private final long bad;
    private final XrcDomain xrcDomain;
    private final Set<CompletionQueue> completions = new LinkedHashSet<>();

    /** Of the log, for each place of the NIC: what that drops with a queue pair stays taken. */
    private static final int PLACES = 4;

    SharedReceiveQueue(
            ProtectionDomain domain,
            long address,
            int capacity,
            int segmentsMax,
            SharedReceiveContext context) {
        super(
                "shared receive queue of " + domain.device().info().name(),
                address,
                context.isXrc()
                        ? List.of(domain, context.xrcDomain(), context.completions())
                        : List.of(domain));
        this.domain = domain;
        this.claim = domain.newClaim("a shared receive queue");
        this.capacity = capacity;
        this.segmentsMax = segmentsMax;
        int places = (int) Math.min(WorkLog.PLACES_MAX, (long) PLACES * capacity);
        WorkLog log = new WorkLog(this, domain.device().nextLog(), places, segmentsMax, false);
        this.receives = new ReceivePoster(log, ReceivePoster.Kind.SHARED);
        this.bad = UnsafeApi.allocateMemory(8);
        UnsafeApi.putLong(null, bad, 0);
        this.xrcDomain = context.xrcDomain();
        if (context.isXrc()) {
            completesAt(context.completions());
        }
        domain.device().remember(address, this);
    }

    /**
     * Number that senders of extended reliable connections name it by.
     *
     * @throws VerbsException for a queue without an XRC domain
     */
    public int number() {
        synchronized (lock()) {
            long out = domain.device().memory().argument();
            domain.device().check("ibv_get_srq_num", verbscalls.vv_srq_number(address(), out));
            return CallMemory.getInt(out);
        }
    }

    /** Null unless for extended reliable connections. */
    XrcDomain xrcDomain() {
        return xrcDomain;
    }

    /** Receives that it takes. */
    public int capacity() {
        return capacity;
    }

    /** Pieces of memory in a receive. */
    public int segmentsMax() {
        return segmentsMax;
    }

    /** Prepared receives for this queue. */
    public ReceiveRequests newReceives(int count) {
        address();
        return new ReceiveRequests(domain, count, segmentsMax);
    }

    /**
     * Posts prepared receives.
     *
     * @return how many were taken, from the first on; if none, one of {@link Post}
     * @throws IndexOutOfBoundsException for a range that the requests do not have
     * @throws IllegalStateException if another thread posts here
     */
    public int post(ReceiveRequests requests, int from, int count) {
        claim.check();
        long address = addressOrZero();
        if (address == 0 || requests.isClosed()) {
            return Post.CLOSED;
        }
        requests.check();
        checkMine(requests);
        return receives.post(address, bad, requests, from, count);
    }

    private void checkMine(ReceiveRequests requests) {
        if (requests.domain != domain || requests.segmentsMax > segmentsMax) {
            throw new IllegalArgumentException("these requests were not made by this queue");
        }
    }

    /** Errno of the last {@link Post#REFUSED}. */
    public int refusal() {
        return receives.refusal();
    }

    /**
     * Asks for one event {@link AsyncEvent#SHARED_RECEIVE_QUEUE_LIMIT} when fewer receives are
     * left.
     *
     * @throws VerbsException if the device cannot
     */
    public void limit(int receives) {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.SRQ_ATTR_SRQ_LIMIT, receives);
            domain.device()
                    .check(
                            "ibv_modify_srq",
                            verbscalls.vv_modify_srq(address(), at, VerbsLayout.IBV_SRQ_LIMIT));
        }
    }

    /** The limit that is set; 0 for none. */
    public int limit() {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            domain.device().check("ibv_query_srq", verbscalls.vv_query_srq(address(), at));
            return CallMemory.getInt(at + VerbsLayout.SRQ_ATTR_SRQ_LIMIT);
        }
    }

    /** Lets another thread post; by the one that posts now. */
    public void handOver() {
        claim.handOver();
    }

    /** Receives complete there, for a queue pair that is made with this queue. Under the lock. */
    void completesAt(CompletionQueue queue) {
        if (completions.add(queue)) {
            queue.watch(receives.log());
        }
    }

    /** The NIC may have dropped completions of its receives. Under the lock. */
    void pairClosed() {
        receives.placesMayBeLost();
    }

    @Override
    public boolean uses(MemoryRegion region) {
        return receives.log().uses(region);
    }

    @Override
    public boolean uses(AddressHandle target) {
        return false;
    }

    @Override
    public boolean uses(MemoryWindow window) {
        return false;
    }

    @Override
    public ProtectionDomain domain() {
        return domain;
    }

    @Override
    ThreadClaim claim() {
        return claim;
    }

    @Override
    List<ThreadClaim> claimsToClose() {
        return CompletionQueue.claimsBeside(claim, completions);
    }

    @Override
    Object lock() {
        return domain.lock();
    }

    @Override
    String destroyCall() {
        return "ibv_destroy_srq";
    }

    @Override
    int destroy(long address) {
        int result = verbscalls.vv_destroy_srq(address);
        if (result == 0) {
            domain.device().forget(address);
        }
        return result;
    }

    @Override
    void onClosed() {
        completions.forEach(queue -> queue.unwatch(receives.log()));
        UnsafeApi.freeMemory(bad);
    }
}
