package dev.verbena.verbs;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.agrona.UnsafeApi;

/** A queue that receives are posted to and nothing else. */
abstract class ReceiveOnlyQueue extends DomainObject implements WorkQueue {
    private final ThreadClaim claim;
    private final int capacity;
    private final int segmentsMax;
    private final ReceivePoster receives;
    private final long bad;
    private final Set<CompletionQueue> completions = new LinkedHashSet<>();

    /**
     * @param places of the log, at least as many as the capacity
     */
    ReceiveOnlyQueue(
            String what,
            long address,
            DestroyCall destroyCall,
            List<VerbsObject> parents,
            ReceivePoster.Kind kind,
            int places,
            int capacity,
            int segmentsMax) {
        super(what, address, destroyCall, (ProtectionDomain) parents.get(0), parents);
        this.claim = domain().newClaim("a " + kind.queueName());
        this.capacity = capacity;
        this.segmentsMax = segmentsMax;
        WorkLog log = device().newLog(this, places, segmentsMax, false);
        this.receives = new ReceivePoster(log, kind);
        this.bad = UnsafeApi.allocateMemory(8);
        UnsafeApi.putLong(null, bad, 0);
        device().remember(address, this);
    }

    /** Receives that it takes; the device may have given more than was asked for. */
    public final int capacity() {
        return capacity;
    }

    /** Pieces of memory in a receive. */
    public final int segmentsMax() {
        return segmentsMax;
    }

    /** Prepared receives for this queue. */
    public final ReceiveRequests newReceives(int count) {
        address();
        return new ReceiveRequests(domain(), count, segmentsMax);
    }

    /**
     * Posts prepared receives.
     *
     * @return how many were taken, from the first on; if none, one of {@link Post}
     * @throws IndexOutOfBoundsException for a range that the requests do not have
     * @throws IllegalStateException if another thread posts here
     */
    public final int post(ReceiveRequests requests, int from, int count) {
        claim.check();
        long address = addressOrZero();
        if (address == 0 || requests.isClosed()) {
            return Post.CLOSED;
        }
        requests.check();
        if (requests.domain != domain() || requests.segmentsMax > segmentsMax) {
            throw new IllegalArgumentException("these requests were not made by " + this);
        }
        return receives.post(address, bad, requests, from, count);
    }

    /** Errno of the last {@link Post#REFUSED}. */
    public final int refusal() {
        return receives.refusal();
    }

    /** Lets another thread post; by the one that posts now. */
    public final void handOver() {
        claim.handOver();
    }

    /** Its receives complete there from now on. Under the lock. */
    final void completesAt(CompletionQueue queue) {
        if (completions.add(queue)) {
            queue.watch(receives.log());
        }
    }

    final ReceivePoster receives() {
        return receives;
    }

    @Override
    public boolean uses(VerbsObject named) {
        return named instanceof MemoryRegion region && receives.log().uses(region);
    }

    @Override
    public final ProtectionDomain domain() {
        return super.domain();
    }

    @Override
    final ThreadClaim claim() {
        return claim;
    }

    @Override
    final List<ThreadClaim> claimsToClose() {
        return CompletionQueue.claimsBeside(claim, completions);
    }

    @Override
    final void onClosed(long address) {
        device().forget(address);
        completions.forEach(queue -> queue.unwatch(receives.log()));
        device().giveBack(receives.log());
        UnsafeApi.freeMemory(bad);
    }
}
