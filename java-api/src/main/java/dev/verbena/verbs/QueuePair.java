package dev.verbena.verbs;

import dev.verbena.agent.internal.PlantedFaults;
import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.ArrayList;
import java.util.Arrays;
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
    private final ThreadClaim claim;
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
    private final SendPoster sends;
    private final ReceivePoster receives;
    private final long bad;

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
        this.claim = domain.newClaim("a queue pair");
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
        this.sends =
                new SendPoster(
                        new WorkLog(this, device.nextLog(), sendCapacity, sendSegmentsMax, true),
                        type,
                        inlineMax,
                        context.operations(),
                        address);
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
        UnsafeApi.putLong(null, bad, 0);
        if (type.canSend()) {
            sendCompletions.watch(sends.log());
        }
        if (type.canReceive() && shared == null) {
            receiveCompletions.watch(receives.log());
        }
        if (shared != null) {
            shared.completesAt(receiveCompletions);
        }
        device.remember(address, this);
    }

    private static List<VerbsObject> parents(ProtectionDomain domain, QueuePairContext context) {
        List<VerbsObject> parents = new ArrayList<>();
        QueuePairType type = context.type();
        parents.add(domain);
        if (type.canSend()) {
            parents.add(context.sends());
        }
        if (type.canReceive() && context.receives() != context.sends()) {
            parents.add(context.receives());
        }
        if (context.xrcDomain() != null) {
            parents.add(context.xrcDomain());
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
     * @param peer null for {@link QueuePairType#UD} and {@link QueuePairType#RAW_PACKET}
     * @throws VerbsException from another state, or for a peer that cannot be reached
     */
    public void toReadyToReceive(PathContext path, QueuePairAddress peer) {
        if (peer == null && type.isConnected()) {
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

    /**
     * From ready to send to SQD: sends that were begun end, and no other begins until {@link
     * #resumeSends}; they may be posted, and receives go on.
     *
     * @param isEventWanted true: the event {@code SQ_DRAINED} says when the last one has ended
     *     ({@link RdmaDevice#awaitEvent})
     * @throws VerbsException from another state, or where the device cannot
     */
    public void drainSends(boolean isEventWanted) {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, VerbsLayout.IBV_QPS_SQD);
            CallMemory.putByte(at + VerbsLayout.QP_ATTR_EN_SQD_ASYNC_NOTIFY, isEventWanted ? 1 : 0);
            int event = isEventWanted ? VerbsLayout.IBV_QP_EN_SQD_ASYNC_NOTIFY : 0;
            modify(at, VerbsLayout.IBV_QP_STATE | event, "to SQD");
        }
    }

    /**
     * Ready to send again, after {@link #drainSends}, or after a failed send of a queue pair that
     * is not reliable (SQE). Numbers of packets go on where they were.
     *
     * @throws IllegalStateException in another state
     * @throws VerbsException if the device refuses
     */
    public void resumeSends() {
        synchronized (lock()) {
            QueuePairState now = state();
            if (now != QueuePairState.SENDS_DRAINED && now != QueuePairState.SEND_ERROR) {
                throw new IllegalStateException(
                        this + " is in state " + now + "; nothing there stopped its sends");
            }
            boolean isDrained = now == QueuePairState.SENDS_DRAINED;
            int code = isDrained ? VerbsLayout.IBV_QPS_SQD : VerbsLayout.IBV_QPS_SQE;
            long at = domain.device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, VerbsLayout.IBV_QPS_RTS);
            // A kernel need not know yet that the device has stopped.
            CallMemory.putInt(at + VerbsLayout.QP_ATTR_CUR_QP_STATE, code);
            modify(
                    at,
                    VerbsLayout.IBV_QP_STATE | VerbsLayout.IBV_QP_CUR_STATE,
                    "back to ready to send");
        }
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
     * @throws IllegalStateException if another thread posts here, or polls where it completes and
     *     the driver was told not to lock that
     */
    public void toReset() {
        synchronized (lock()) {
            List<ThreadClaim> claims = claimsToClose();
            Thread[] before = ThreadClaim.claimToClose(claims);
            try {
                long at = domain.device().memory().argument();
                CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, VerbsLayout.IBV_QPS_RESET);
                modify(at, VerbsLayout.IBV_QP_STATE, "to RESET");
                sends.log().clear();
                receives.log().clear();
            } finally {
                ThreadClaim.giveBack(claims, before);
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

    /**
     * Asks the device for everything that it knows of the queue pair.
     *
     * @throws VerbsException if it does not answer
     */
    public QueuePairAttributes attributes() {
        synchronized (lock()) {
            CallMemory memory = domain.device().memory();
            long at = memory.argument();
            int result =
                    verbscalls.vv_query_qp(
                            address(), at, QueuePairAttributes.MASK, memory.second());
            domain.device().check("ibv_query_qp", result);
            return QueuePairAttributes.at(at);
        }
    }

    /**
     * True if the bytes of an operation arrive in the order of their addresses, so that a reader
     * may watch the last one ({@code ibv_query_qp_data_in_order}).
     *
     * @param operation one of {@link SendOperations}
     * @throws IllegalArgumentException for none or several
     */
    public boolean isDataInOrder(int operation) {
        int opcode = SendOperations.opcode(operation);
        synchronized (lock()) {
            return verbscalls.vv_query_qp_data_in_order(address(), opcode) == 1;
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
        checkCan(type.canSend(), "sends");
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
        checkCan(type.canSend(), "sends");
        if (!sends.hasBuilder()) {
            throw new IllegalStateException(
                    this + " was made without QueuePairContext.operations, so it has no builder");
        }
        return new SendBuilder(this, new SendRequests(this, count, sendSegmentsMax, inlineMax));
    }

    /** Prepared receives for this queue pair. */
    public ReceiveRequests newReceives(int count) {
        address();
        checkCan(type.canReceive(), "receives");
        return new ReceiveRequests(domain, count, Math.max(1, receiveSegmentsMax));
    }

    private void checkCan(boolean can, String what) {
        if (!can) {
            throw new IllegalStateException(this + ", of type " + type + ", has no " + what);
        }
    }

    /** How many sends may be posted now. By the posting thread. */
    public int sendRoom() {
        return sends.log().room();
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
            return sends.postNoted(address, bad, request);
        }
        int stop = stop(address, request);
        if (stop == 0) {
            stop = sends.note(request);
        }
        return stop == 0 ? sends.postNoted(address, bad, request) : stop;
    }

    /** 0, or why a request that was not posted here before cannot be. */
    private int stop(long address, SendRequestFlyweight request) {
        SendRequests owner = request.owner();
        if (address == 0 || owner.isClosed()) {
            return Post.CLOSED;
        }
        owner.check();
        checkMine(owner);
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
                return sends.postNotedAndPoll(address, bad, request, completions, from, limit);
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
        int stop = stop(address, request);
        if (stop == 0) {
            stop = sends.note(request);
        }
        if (stop == 0) {
            return sends.postNotedAndPoll(address, bad, request, completions, from, limit);
        }
        if (!(PlantedFaults.ENABLED && PlantedFaults.isOn("verbs-full-queue-unpolled"))) {
            completions.poll(limit);
        }
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
        if (address == 0 || requests.isClosed()) {
            return Post.CLOSED;
        }
        requests.check();
        checkMine(requests);
        return sends.post(address, bad, requests, from, count);
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
        checkCan(type.canSend(), "sends");
        if (window.type() != MemoryWindowType.TYPE_1) {
            throw new IllegalArgumentException(
                    window + " is bound by a send request; only type 1 is bound by bind()");
        }
        if (!window.domain().isSameProtection(domain)) {
            throw new IllegalArgumentException(window + " is not of " + domain);
        }
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
        checkCan(type.canReceive(), "receives");
        if (shared != null) {
            throw new IllegalStateException(this + " has shared receives; post to " + shared);
        }
        long address = addressOrZero();
        if (address == 0 || requests.isClosed()) {
            return Post.CLOSED;
        }
        requests.check();
        if (requests.domain != domain || requests.segmentsMax > Math.max(1, receiveSegmentsMax)) {
            throw new IllegalArgumentException("these requests were not made by " + this);
        }
        return receives.post(address, bad, requests, from, count);
    }

    private void checkMine(SendRequests requests) {
        checkCan(type.canSend(), "sends");
        if (requests.domain != domain || requests.segmentsMax > sendSegmentsMax) {
            throw new IllegalArgumentException("these requests were not made by " + this);
        }
    }

    /** Errno of the last {@link Post#REFUSED} of a send. */
    public int refusal() {
        return sends.refusal();
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

    /**
     * Steers packets here ({@code ibv_create_flow}), from now until the rule is closed.
     *
     * @throws IllegalArgumentException for a description that contradicts itself
     * @throws IllegalStateException unless of type {@link QueuePairType#RAW_PACKET} or {@link
     *     QueuePairType#UD}
     * @throws VerbsException if the device refuses; {@link VerbsException#isUnsupported()} where it
     *     steers nothing
     */
    public FlowRule createFlow(FlowContext flow) {
        checkCan(type == QueuePairType.RAW_PACKET || type == QueuePairType.UD, "flow steering");
        synchronized (lock()) {
            CallMemory memory = domain.device().memory();
            long at = memory.argument();
            flow.fill(at);
            int result = verbscalls.vv_create_flow(address(), at, memory.out());
            if (result < 0) {
                String remedy = result == -1 ? "it needs the capability CAP_NET_RAW" : "";
                throw failure("ibv_create_flow", result, remedy);
            }
            return adopt(
                    this,
                    memory.made(),
                    made -> new FlowRule(this, made),
                    verbscalls::vv_destroy_flow);
        }
    }

    /**
     * What this end offers, or what was agreed upon once it is connected ({@code ibv_query_ece}).
     *
     * @throws VerbsException where the driver has none ({@link VerbsException#isUnsupported()})
     */
    public ExtendedCapabilities extendedCapabilities() {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            domain.device().check("ibv_query_ece", verbscalls.vv_query_ece(address(), at));
            return new ExtendedCapabilities(
                    CallMemory.getInt(at + VerbsLayout.ECE_VENDOR_ID),
                    CallMemory.getInt(at + VerbsLayout.ECE_OPTIONS));
        }
    }

    /**
     * Takes what the other end offered, before {@link #toReadyToReceive} ({@code ibv_set_ece}).
     *
     * @throws VerbsException if the driver refuses, or has none
     */
    public void extendedCapabilities(ExtendedCapabilities offered) {
        synchronized (lock()) {
            long at = domain.device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.ECE_VENDOR_ID, offered.vendor());
            CallMemory.putInt(at + VerbsLayout.ECE_OPTIONS, offered.options());
            domain.device().check("ibv_set_ece", verbscalls.vv_set_ece(address(), at));
        }
    }

    /** Lets another thread post; by the one that posts now. */
    public void handOver() {
        claim.handOver();
    }

    @Override
    public boolean uses(MemoryRegion region) {
        return sends.log().uses(region) || receives.log().uses(region);
    }

    @Override
    public boolean uses(AddressHandle target) {
        return sends.log().names(target);
    }

    @Override
    public boolean uses(MemoryWindow window) {
        return sends.log().names(window);
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
        return CompletionQueue.claimsBeside(
                claim, Arrays.asList(sendCompletions, receiveCompletions));
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
        if (type.canSend()) {
            sendCompletions.unwatch(sends.log());
        }
        if (type.canReceive()) {
            receiveCompletions.unwatch(receives.log());
        }
        if (shared != null) {
            shared.pairClosed();
        }
        UnsafeApi.freeMemory(bad);
    }
}
