package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import java.util.Arrays;
import java.util.List;

/**
 * A queue of sends and one of receives, joined with a peer's: {@code struct ibv_qp}. Posted to by
 * one thread: the first that does, until it {@linkplain #handOver hands over}. States change under
 * the device's lock, by any thread.
 *
 * <p>Posting is one call into native code however many requests it has, checks every region, and
 * allocates nothing. Requests that were posted keep their regions from being closed until their
 * completions, or that of a later send, are polled, or the queue pair is closed or reset. A send
 * that is never signalled, and has none behind it that is, never gives its place back.
 */
public final class QueuePair extends QueuePairControl implements WorkQueue {
    private final ThreadClaim claim;
    private final boolean canSend;
    private final boolean canReceive;
    private final CompletionQueue sendCompletions;
    private final CompletionQueue receiveCompletions;
    private final SharedReceiveQueue shared;
    private final int number;
    private final int sendSegmentsMax;
    private final int sendCapacity;
    private final int receiveCapacity;
    private final int inlineMax;
    private final SendPoster sends;
    private final ReceivePoster receives;

    QueuePair(ProtectionDomain domain, long address, QueuePairContext context, long attributes) {
        super(
                domain,
                address,
                context.type,
                Arrays.asList(
                        domain,
                        context.canSend() ? context.sends : null,
                        context.canReceive() ? context.receives : null,
                        context.xrcDomain,
                        context.shared,
                        context.table));
        long cap = attributes + VerbsLayout.QP_INIT_ATTR_EX_CAP;
        this.claim = domain.newClaim("a queue pair");
        this.canSend = context.canSend();
        this.canReceive = context.canReceive();
        this.sendCompletions = context.sends;
        this.receiveCompletions = context.receives;
        this.shared = context.shared;
        this.number = CallMemory.getInt(address + VerbsLayout.QP_QP_NUM);
        this.sendCapacity = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_SEND_WR);
        this.sendSegmentsMax = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_SEND_SGE);
        this.receiveCapacity = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_RECV_WR);
        this.inlineMax = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_INLINE_DATA);
        RdmaDevice device = domain.device();
        this.receives =
                new ReceivePoster(
                        this,
                        ReceivePoster.Kind.QUEUE_PAIR,
                        Math.max(1, receiveCapacity),
                        Math.max(1, CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_RECV_SGE)));
        this.sends =
                new SendPoster(
                        device.newLog(this, sendCapacity, sendSegmentsMax, true),
                        context.type,
                        inlineMax,
                        context.operations,
                        address);
        if (canSend) {
            sendCompletions.watch(sends.log);
        }
        if (canReceive && shared == null) {
            receiveCompletions.watch(receives.log);
        }
        if (shared != null) {
            shared.completesAt(receiveCompletions);
        }
        device.remember(address, this);
    }

    /** Number, 24 bits. */
    public int number() {
        return number;
    }

    /** Sends outstanding at most; the device may have given more than was asked for. */
    public int sendCapacity() {
        return sendCapacity;
    }

    /** Receives outstanding at most; 0 with shared receives. */
    public int receiveCapacity() {
        return receiveCapacity;
    }

    /**
     * What a peer must know to reach it.
     *
     * @param gid of the port here; null to use the LID alone
     * @param lid of the port here
     */
    public QueuePairAddress address(Gid gid, int lid) {
        return new QueuePairAddress(number, packetNumber(), lid, gid);
    }

    /**
     * To RESET: everything posted is forgotten, without completions.
     *
     * @throws IllegalStateException if another thread posts here, or polls where it completes and
     *     the driver was told not to lock that
     */
    public void toReset() {
        synchronized (lock()) {
            exclusively(
                    () -> {
                        modify("to RESET", at -> state(at, VerbsLayout.IBV_QPS_RESET));
                        sends.log.clear();
                        receives.log.clear();
                    });
        }
    }

    /** True if its receives come from a shared queue. */
    boolean hasSharedReceives() {
        return shared != null;
    }

    /** Prepared sends for this queue pair. */
    public SendRequests newSends(int count) {
        address();
        checkCan(canSend, "sends");
        return new SendRequests(this, count, sendSegmentsMax, 0);
    }

    /**
     * The other way of posting: a builder of batches.
     *
     * @param count requests that a batch may have
     * @throws IllegalStateException if the queue pair was made without {@link
     *     QueuePairContext#operations}
     */
    public SendBuilder newBuilder(int count) {
        address();
        checkCan(canSend, "sends");
        if (!sends.hasBuilder()) {
            throw new IllegalStateException(
                    this + " was made without QueuePairContext.operations, so it has no builder");
        }
        return new SendBuilder(this, new SendRequests(this, count, sendSegmentsMax, inlineMax));
    }

    /** Prepared receives for this queue pair. */
    public ReceiveRequests newReceives(int count) {
        address();
        checkCan(canReceive, "receives");
        return receives.newRequests(count);
    }

    /** How many sends may be posted now. By the posting thread. */
    public int sendRoom() {
        return sends.log.room();
    }

    /**
     * Posts one prepared send.
     *
     * @return 1, or one of {@link Post}
     * @throws IllegalStateException if another thread posts here
     */
    public int post(SendRequestFlyweight request) {
        boolean isReady = request.isReadyFor(sends);
        claim.check();
        long address = addressOrZero();
        if (isReady && address != 0 && sends.noteAgain(request)) {
            return sends.postNoted(address, request);
        }
        int stop = note(address, request);
        return stop == 0 ? sends.postNoted(address, request) : stop;
    }

    /** 0, or why a request that was not posted here before cannot be. */
    private int note(long address, SendRequestFlyweight request) {
        int stop = stop(address, request.owner());
        return stop == 0 ? sends.note(request) : stop;
    }

    private int stop(long address, SendRequests requests) {
        if (address == 0 || requests.isClosed()) {
            return Post.CLOSED;
        }
        requests.check();
        checkCan(canSend, "sends");
        if (requests.domain != domain() || requests.segmentsMax > sendSegmentsMax) {
            throw new IllegalArgumentException("these requests were not made by " + this);
        }
        return 0;
    }

    /**
     * Posts one prepared send and takes completions, both in one call into native code, which is
     * what most of the price of {@link #post(SendRequestFlyweight)} and {@link
     * CompletionQueue#poll} is. (Extended completion queues take a call of their own.) Completions
     * are taken even if the request was not: {@link CompletionQueue#polled} tells how many.
     *
     * @param completions need not be this queue pair's
     * @param limit 1 to {@link CompletionQueue#POLL_MAX}
     * @return of the post: 1, or one of {@link Post}
     * @throws IllegalArgumentException for another limit; nothing was posted
     * @throws IllegalStateException if another thread posts here, or polls there; nothing was
     *     posted
     */
    public int postAndPoll(SendRequestFlyweight request, CompletionQueue completions, int limit) {
        // Whose it all is comes first, and what other threads may change behind: so the compiler
        // need not read again what setters have read.
        if (request.isReadyFor(sends)
                && claim.isOf(Thread.currentThread())
                && completions.isPolledPlainly(limit)) {
            long address = addressOrZero();
            long from = completions.addressOrZero();
            if (address != 0 && from != 0 && sends.noteAgain(request)) {
                return sends.postNotedAndPoll(address, request, completions, from, limit);
            }
        }
        return checkPostAndPoll(request, completions, limit);
    }

    private int checkPostAndPoll(
            SendRequestFlyweight request, CompletionQueue completions, int limit) {
        long from = completions.checkPoll(limit);
        if (from == 0 || completions.isExtended()) {
            int posted = post(request);
            completions.poll(limit);
            return posted;
        }
        claim.check();
        long address = addressOrZero();
        int stop = note(address, request);
        if (stop == 0) {
            return sends.postNotedAndPoll(address, request, completions, from, limit);
        }
        completions.poll(limit);
        return stop;
    }

    /**
     * Posts prepared sends, in their order.
     *
     * @return how many were taken, from the first on; if none, one of {@link Post}
     * @throws IndexOutOfBoundsException for a range that the requests do not have
     * @throws IllegalStateException if another thread posts here
     */
    public int post(SendRequests requests, int from, int count) {
        claim.check();
        requests.checkRange(from, count);
        long address = addressOrZero();
        int stop = stop(address, requests);
        return stop == 0 ? sends.post(address, requests, from, count) : stop;
    }

    /** Posts all of a batch of the builder, or nothing. */
    int postBuilt(SendRequests requests, int count) {
        claim.check();
        return addressOrZero() == 0 || requests.isClosed()
                ? Post.CLOSED
                : sends.postBuilt(requests, count);
    }

    /**
     * Binds a window of type 1 to a part of a region, with the other sends of this queue pair
     * ({@code ibv_bind_mw}); its key changes. With length 0 it is bound to nothing.
     *
     * @param id what its completion will say, always signalled
     * @param access of {@link Access}: what peers may do
     * @return 1, or one of {@link Post}
     * @throws IllegalArgumentException for a window of type 2, a region that may not have windows,
     *     or access that the region lacks
     * @throws IndexOutOfBoundsException for a range outside the region
     * @throws IllegalStateException if another thread posts here, or something is closed
     */
    public int bind(
            MemoryWindow window, long id, MemoryRegion region, long from, long bytes, int access) {
        claim.check();
        checkCan(canSend, "sends");
        if (window.type() != MemoryWindowType.TYPE_1) {
            throw new IllegalArgumentException(
                    window + " is bound by a send request; only type 1 is bound by bind()");
        }
        window.checkOf(domain());
        window.checkBinding(region, from, bytes, access);
        synchronized (lock()) { // nothing can be closed meanwhile
            long address = addressOrZero();
            return address == 0
                    ? Post.CLOSED
                    : sends.bind(address, window, id, region, from, bytes, access);
        }
    }

    /**
     * Posts prepared receives.
     *
     * @return how many were taken, from the first on; if none, one of {@link Post}
     * @throws IndexOutOfBoundsException for a range that the requests do not have
     * @throws IllegalStateException if another thread posts here, or the receives are shared
     */
    public int post(ReceiveRequests requests, int from, int count) {
        claim.check();
        checkCan(canReceive, "receives");
        if (shared != null) {
            throw new IllegalStateException(this + " has shared receives; post to " + shared);
        }
        return receives.post(requests, from, count);
    }

    /** Errno of the last {@link Post#REFUSED} of a send. */
    public int refusal() {
        return sends.refusal();
    }

    /** Errno of the last {@link Post#REFUSED} of a receive. */
    public int receiveRefusal() {
        return receives.refusal();
    }

    /** Lets another thread post; by the one that posts now. */
    public void handOver() {
        claim.handOver();
    }

    @Override
    public boolean uses(VerbsObject named) {
        return named instanceof MemoryRegion region
                ? sends.log.uses(region) || receives.log.uses(region)
                : sends.log.names(named);
    }

    @Override
    ThreadClaim claim() {
        return claim;
    }

    @Override
    List<ThreadClaim> claimsToClose() {
        return CompletionQueue.claimsBeside(
                claim, Arrays.asList(sendCompletions, receiveCompletions));
    }

    @Override
    void onClosed(long formerAddress) {
        device().forget(formerAddress);
        if (canSend) {
            sendCompletions.unwatch(sends.log);
        }
        if (canReceive) {
            receiveCompletions.unwatch(receives.log);
        }
        if (shared != null) {
            shared.pairClosed();
        }
        sends.close(device());
        receives.close(device());
    }
}
