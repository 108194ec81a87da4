package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.agrona.UnsafeApi;

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
public final class QueuePair extends VerbsObject implements WorkQueue {
    private final ProtectionDomain domain;
    private final ThreadClaim claim = new ThreadClaim("a queue pair");
    private final QueuePairType type;
    private final CompletionQueue sendCompletions;
    private final CompletionQueue receiveCompletions;
    private final SharedReceiveQueue shared;
    private final int number;
    private final int packetNumber;
    private final int sendSegmentsMax;
    private final int receiveSegmentsMax;
    private final int sendCapacity;
    private final int receiveCapacity;
    private final int inlineMax;
    private final WorkLog sends;
    private final ReceivePoster receives;
    private final long bad;
    private int refusal;

    QueuePair(ProtectionDomain domain, long address, QueuePairContext context, long attributes) {
        super(
                "queue pair "
                        + CallMemory.getInt(address + VerbsLayout.QP_QP_NUM)
                        + " of "
                        + domain.device().info().name(),
                address,
                parents(domain, context));
        long cap = attributes + VerbsLayout.QP_INIT_ATTR_EX_CAP;
        this.domain = domain;
        this.type = context.type();
        this.sendCompletions = context.sends();
        this.receiveCompletions = context.receives();
        this.shared = context.shared();
        this.number = CallMemory.getInt(address + VerbsLayout.QP_QP_NUM);
        this.packetNumber = number * 0x9E3779 & 0xffffff;
        this.sendCapacity = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_SEND_WR);
        this.sendSegmentsMax = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_SEND_SGE);
        this.receiveCapacity = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_RECV_WR);
        this.receiveSegmentsMax = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_RECV_SGE);
        this.inlineMax = CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_INLINE_DATA);
        RdmaDevice device = domain.device();
        this.sends = new WorkLog(this, device.nextLog(), sendCapacity, sendSegmentsMax, true);
        if (type == QueuePairType.UD) {
            sends.noteTargets();
        }
        this.receives =
                new ReceivePoster(
                        new WorkLog(
                                this,
                                device.nextLog(),
                                Math.max(1, receiveCapacity),
                                receiveSegmentsMax,
                                false),
                        false);
        this.bad = UnsafeApi.allocateMemory(8);
        sendCompletions.watch(sends);
        if (shared == null) {
            receiveCompletions.watch(receives.log());
        } else {
            shared.completesAt(receiveCompletions);
        }
        device.remember(address, this);
    }

    private static List<VerbsObject> parents(ProtectionDomain domain, QueuePairContext context) {
        List<VerbsObject> parents = new ArrayList<>();
        parents.add(domain);
        parents.add(context.sends());
        if (context.receives() != context.sends()) {
            parents.add(context.receives());
        }
        if (context.shared() != null) {
            parents.add(context.shared());
        }
        return parents;
    }

    /** Number, 24 bits. */
    public int number() {
        return number;
    }

    /** Kind. */
    public QueuePairType type() {
        return type;
    }

    /** Sends outstanding at most; the device may have given more than was asked for. */
    public int sendCapacity() {
        return sendCapacity;
    }

    /** Receives outstanding at most; 0 with shared receives. */
    public int receiveCapacity() {
        return receiveCapacity;
    }

    /** Bytes that a send may have inline. */
    public int inlineMax() {
        return inlineMax;
    }

    /**
     * What a peer must know to reach it.
     *
     * @param gid of the port here; null to use the LID alone
     * @param lid of the port here
     */
    public QueuePairAddress address(Gid gid, int lid) {
        return new QueuePairAddress(number, packetNumber, lid, gid);
    }

    /**
     * To INIT: receives may be posted from now on.
     *
     * @throws VerbsException from another state than RESET
     */
    public void toInit(PathContext path) {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            modify(at, path.fillInit(at, type), "to INIT");
        }
    }

    /**
     * From INIT to ready to receive from the peer.
     *
     * @param peer null for {@link QueuePairType#UD}
     * @throws VerbsException from another state, or for a peer that cannot be reached
     */
    public void toReadyToReceive(PathContext path, QueuePairAddress peer) {
        if (peer == null && type != QueuePairType.UD) {
            throw new IllegalArgumentException(type + " needs the address of its peer");
        }
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            modify(at, path.fillReadyToReceive(at, type, peer), "to ready to receive");
        }
    }

    /**
     * From ready to receive to ready to send, too.
     *
     * @throws VerbsException from another state
     */
    public void toReadyToSend(PathContext path) {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            modify(at, path.fillReadyToSend(at, type, packetNumber), "to ready to send");
        }
    }

    /**
     * From RESET to ready to send in one go. Who must not miss a message posts receives after
     * {@link #toInit} and goes on from there.
     *
     * @param peer null for {@link QueuePairType#UD}
     */
    public void connect(PathContext path, QueuePairAddress peer) {
        toInit(path);
        toReadyToReceive(path, peer);
        toReadyToSend(path);
    }

    /** To error: everything posted completes, flushed. */
    public void toError() {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, VerbsLayout.IBV_QPS_ERR);
            modify(at, VerbsLayout.IBV_QP_STATE, "to ERROR");
        }
    }

    /**
     * To RESET: everything posted is forgotten, without completions.
     *
     * @throws IllegalStateException if another thread posts here
     */
    public void toReset() {
        synchronized (lock()) {
            Thread before = claim.claimToClose();
            try {
                long at = domain.device().memory().argument();
                CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, VerbsLayout.IBV_QPS_RESET);
                modify(at, VerbsLayout.IBV_QP_STATE, "to RESET");
                sends.clear();
                receives.log().clear();
            } finally {
                claim.giveBack(before);
            }
        }
    }

    /** Changes what the mask names, as somebody else has filled it in. */
    void change(long at, int mask, String to) {
        synchronized (lock()) {
            modify(at, mask, to);
        }
    }

    /** As {@link #toError}; a closed one is left alone. */
    void toErrorIfOpen() {
        synchronized (lock()) {
            if (!isClosed()) {
                toError();
            }
        }
    }

    /** True if its receives come from a shared queue. */
    boolean hasSharedReceives() {
        return shared != null;
    }

    private void modify(long at, int mask, String to) {
        int result = verbscalls.vv_modify_qp(address(), at, mask);
        if (result < 0) {
            throw failure("ibv_modify_qp", result, to + " from " + state());
        }
    }

    /** Asks the device for the state. */
    public QueuePairState state() {
        synchronized (lock()) {
            CallMemory memory = domain.device().memory();
            long at = memory.argument();
            int mask = VerbsLayout.IBV_QP_STATE;
            int result = verbscalls.vv_query_qp(address(), at, mask, memory.second());
            domain.device().check("ibv_query_qp", result);
            return QueuePairState.of(CallMemory.getInt(at + VerbsLayout.QP_ATTR_QP_STATE));
        }
    }

    /** Prepared sends for this queue pair. */
    public SendRequests newSends(int count) {
        address();
        return new SendRequests(this, count, sendSegmentsMax);
    }

    /** Prepared receives for this queue pair. */
    public ReceiveRequests newReceives(int count) {
        address();
        return new ReceiveRequests(domain, count, Math.max(1, receiveSegmentsMax));
    }

    /** How many sends may be posted now. By the posting thread. */
    public int sendRoom() {
        return sends.room();
    }

    /**
     * Posts one prepared send.
     *
     * @return 1, or one of {@link Post}
     * @throws IllegalStateException if another thread posts here
     */
    public int post(SendRequestFlyweight request) {
        claim.check();
        long address = addressOrZero();
        SendRequests owner = request.owner();
        owner.check();
        if (address == 0 || owner.isClosed()) {
            return Post.CLOSED;
        }
        checkMine(owner);
        if (sends.room() < 1) {
            return Post.BACK_PRESSURED;
        }
        int stop = noted(request);
        if (stop != 0) {
            return stop;
        }
        int index = request.index();
        owner.chain(index, index + 1);
        int result = verbscalls.vv_post_send(address, request.address(), bad);
        return result == 0 ? 1 : refused(owner, index, 1, result);
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
        requests.check();
        requests.checkRange(from, count);
        long address = addressOrZero();
        if (address == 0 || requests.isClosed()) {
            return Post.CLOSED;
        }
        checkMine(requests);
        int most = Math.min(count, sends.room());
        int ready = 0;
        int stop = most == 0 ? Post.BACK_PRESSURED : 0;
        while (ready < most && stop == 0) {
            stop = noted(requests.unchecked(from + ready));
            if (stop == 0) {
                ready++;
            }
        }
        if (ready == 0) {
            return stop;
        }
        requests.chain(from, from + ready);
        int result = verbscalls.vv_post_send(address, requests.addressOf(from), bad);
        return result == 0 ? ready : refused(requests, from, ready, result);
    }

    /**
     * 0 when the request is in the log, or why it cannot be posted. What the processor itself reads
     * while it posts must not be closed from here on: who closes looks into the log.
     */
    private int noted(SendRequestFlyweight request) {
        int stop = request.check(inlineMax, type == QueuePairType.UD);
        if (stop != 0) {
            return stop;
        }
        request.note(sends);
        if (!request.isReadWhilePosted(type == QueuePairType.UD)) {
            return 0;
        }
        VarHandle.fullFence();
        if (request.isUsable(type == QueuePairType.UD)) {
            return 0;
        }
        sends.takeBack(0);
        return Post.REGION_CLOSED;
    }

    private int refused(SendRequests requests, int from, int ready, int result) {
        int at = requests.indexOf(UnsafeApi.getLong(null, bad), from, from + ready);
        for (int i = from + ready - 1; i >= at; i--) {
            sends.takeBack(0);
        }
        if (at > from) {
            return at - from;
        }
        refusal = -result;
        return refusal == VerbsErrno.ENOMEM ? Post.BACK_PRESSURED : Post.REFUSED;
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
        if (shared != null) {
            throw new IllegalStateException(this + " has shared receives; post to " + shared);
        }
        requests.check();
        long address = addressOrZero();
        if (address == 0 || requests.isClosed()) {
            return Post.CLOSED;
        }
        if (requests.domain != domain || requests.segmentsMax > Math.max(1, receiveSegmentsMax)) {
            throw new IllegalArgumentException("these requests were not made by " + this);
        }
        return receives.post(address, bad, requests, from, count);
    }

    private void checkMine(SendRequests requests) {
        if (requests.domain != domain || requests.segmentsMax > sendSegmentsMax) {
            throw new IllegalArgumentException("these requests were not made by " + this);
        }
    }

    /** Errno of the last {@link Post#REFUSED} of a send. */
    public int refusal() {
        return refusal;
    }

    /** Errno of the last {@link Post#REFUSED} of a receive. */
    public int receiveRefusal() {
        return receives.refusal();
    }

    /**
     * Takes part in a multicast group; for datagrams.
     *
     * @throws VerbsException if the device refuses
     */
    public void joinMulticast(Gid group, int lid) {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            CallMemory.putBytes(at, group.bytes());
            domain.device()
                    .check("ibv_attach_mcast", verbscalls.vv_attach_mcast(address(), at, lid));
        }
    }

    /**
     * Leaves a multicast group.
     *
     * @throws VerbsException if it is not a member
     */
    public void leaveMulticast(Gid group, int lid) {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            CallMemory.putBytes(at, group.bytes());
            domain.device()
                    .check("ibv_detach_mcast", verbscalls.vv_detach_mcast(address(), at, lid));
        }
    }

    /** Lets another thread post; by the one that posts now. */
    public void handOver() {
        claim.handOver();
    }

    @Override
    public boolean uses(MemoryRegion region) {
        return sends.uses(region) || receives.log().uses(region);
    }

    @Override
    public boolean uses(AddressHandle target) {
        return sends.uses(target);
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
    Object lock() {
        return domain.lock();
    }

    @Override
    String destroyCall() {
        return "ibv_destroy_qp";
    }

    @Override
    int destroy(long address) {
        int result = verbscalls.vv_destroy_qp(address);
        if (result == 0) {
            domain.device().forget(address);
        }
        return result;
    }

    @Override
    void onClosed() {
        sendCompletions.unwatch(sends);
        receiveCompletions.unwatch(receives.log());
        UnsafeApi.freeMemory(bad);
    }
}
