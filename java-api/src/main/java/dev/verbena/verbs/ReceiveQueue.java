package dev.verbena.verbs;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.List;
import org.agrona.UnsafeApi;

/**
 * A queue of receives that no queue pair has for itself: {@code struct ibv_wq}. Several of them in
 * a {@link ReceiveTable} take what comes to one queue pair, each with a thread of its own. Posted
 * to by one thread: the first that does, until it {@linkplain #handOver hands over}. States change
 * under the device's lock, by any thread.
 */
public final class ReceiveQueue extends VerbsObject implements WorkQueue {
    private final ProtectionDomain domain;
    private final ThreadClaim claim;
    private final CompletionQueue completions;
    private final int number;
    private final int capacity;
    private final int segmentsMax;
    private final ReceivePoster receives;
    private final long bad;

    ReceiveQueue(
            ProtectionDomain domain,
            long address,
            int capacity,
            int segmentsMax,
            CompletionQueue completions) {
        super(
                "receive queue "
                        + CallMemory.getInt(address + VerbsLayout.WQ_WQ_NUM)
                        + " of "
                        + domain.device().info().name(),
                address,
                List.of(domain, completions));
        this.domain = domain;
        this.claim = domain.newClaim("a receive queue");
        this.completions = completions;
        this.number = CallMemory.getInt(address + VerbsLayout.WQ_WQ_NUM);
        this.capacity = capacity;
        this.segmentsMax = segmentsMax;
        WorkLog log = new WorkLog(this, domain.device().nextLog(), capacity, segmentsMax, false);
        this.receives = new ReceivePoster(log, ReceivePoster.Kind.ALONE);
        this.bad = UnsafeApi.allocateMemory(8);
        UnsafeApi.putLong(null, bad, 0);
        completions.watch(log);
        domain.device().remember(address, this);
    }

    /** Number, 24 bits; completions of it have the number of the queue pair that spreads. */
    public int number() {
        return number;
    }

    /** Receives outstanding at most; the device may have given more than was asked for. */
    public int capacity() {
        return capacity;
    }

    /** Pieces of memory in a receive. */
    public int segmentsMax() {
        return segmentsMax;
    }

    /**
     * From RESET to ready: receives may be posted, and messages take them.
     *
     * @throws VerbsException from another state
     */
    public void toReady() {
        synchronized (lock()) {
            modify(VerbsLayout.IBV_WQS_RDY);
        }
    }

    /**
     * To ERROR: receives that are posted complete, flushed.
     *
     * @throws VerbsException if the device refuses
     */
    public void toError() {
        synchronized (lock()) {
            modify(VerbsLayout.IBV_WQS_ERR);
        }
    }

    /**
     * To RESET: everything posted is forgotten, without completions.
     *
     * @throws IllegalStateException if another thread posts here, or polls where it completes and
     *     the driver was told not to lock that
     * @throws VerbsException if the device refuses
     */
    public void toReset() {
        synchronized (lock()) {
            List<ThreadClaim> claims = claimsToClose();
            Thread[] before = ThreadClaim.claimToClose(claims);
            try {
                modify(VerbsLayout.IBV_WQS_RESET);
                receives.log().clear();
            } finally {
                ThreadClaim.giveBack(claims, before);
            }
        }
    }

    private void modify(int state) {
        long at = domain.device().memory().argument();
        CallMemory.putInt(at + VerbsLayout.WQ_ATTR_ATTR_MASK, VerbsLayout.IBV_WQ_ATTR_STATE);
        CallMemory.putInt(at + VerbsLayout.WQ_ATTR_WQ_STATE, state);
        domain.device().check("ibv_modify_wq", verbscalls.vv_modify_wq(address(), at));
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
        if (requests.domain != domain || requests.segmentsMax > segmentsMax) {
            throw new IllegalArgumentException("these requests were not made by " + this);
        }
        return receives.post(address, bad, requests, from, count);
    }

    /** Errno of the last {@link Post#REFUSED}. */
    public int refusal() {
        return receives.refusal();
    }

    /** Lets another thread post; by the one that posts now. */
    public void handOver() {
        claim.handOver();
    }

    @Override
    public boolean uses(MemoryRegion region) {
        return !(PlantedFaults.ENABLED && PlantedFaults.isOn("verbs-spread-unheld"))
                && receives.log().uses(region);
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
        return CompletionQueue.claimsBeside(claim, List.of(completions));
    }

    @Override
    Object lock() {
        return domain.lock();
    }

    @Override
    String destroyCall() {
        return "ibv_destroy_wq";
    }

    @Override
    int destroy(long address) {
        int result = verbscalls.vv_destroy_wq(address);
        if (result == 0) {
            domain.device().forget(address);
        }
        return result;
    }

    @Override
    void onClosed() {
        completions.unwatch(receives.log());
        UnsafeApi.freeMemory(bad);
    }
}
