package dev.verbena.verbs;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A queue that receives are posted to and nothing else. */
abstract class ReceiveOnlyQueue extends DomainObject implements WorkQueue {
    private final ThreadClaim claim;
    private final int capacity;
    private final ReceivePoster receives;
    private final Set<CompletionQueue> completions = new LinkedHashSet<>();

    ReceiveOnlyQueue(
            String what,
            long address,
            DestroyCall destroyCall,
            List<VerbsObject> parents,
            ReceivePoster.Kind kind,
            int capacity,
            int segmentsMax) {
        super(what, address, destroyCall, (ProtectionDomain) parents.get(0), parents);
        this.claim = domain().newClaim("a " + kind.queueName());
        this.capacity = capacity;
        this.receives = new ReceivePoster(this, kind, capacity, segmentsMax);
        device().remember(address, this);
    }

    /** Receives that it takes; the device may have given more than was asked for. */
    public final int capacity() {
        return capacity;
    }

    /** Pieces of memory in a receive. */
    public final int segmentsMax() {
        return receives.segmentsMax();
    }

    /** Prepared receives for this queue. */
    public final ReceiveRequests newReceives(int count) {
        return receives.newRequests(count);
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
        return receives.post(requests, from, count);
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
            queue.watch(receives.log);
        }
    }

    final ReceivePoster receives() {
        return receives;
    }

    @Override
    public boolean uses(VerbsObject named) {
        return named instanceof MemoryRegion region && receives.log.uses(region);
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
        completions.forEach(queue -> queue.unwatch(receives.log));
        receives.close(device());
    }
}
