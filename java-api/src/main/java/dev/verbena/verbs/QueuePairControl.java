package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import dev.verbena.rdma.calls.verbscalls;
import java.util.List;
import java.util.function.LongToIntFunction;

/**
 * The part of a queue pair that is called now and then: its states, what the device knows of it,
 * and which packets come to it. All under the device's lock, by any thread.
 */
abstract class QueuePairControl extends DomainObject {
    private final QueuePairType type;
    private final int packetNumber;

    QueuePairControl(
            ProtectionDomain domain, long address, QueuePairType type, List<VerbsObject> parents) {
        super(
                "queue pair %s of %s"
                        .formatted(
                                CallMemory.getInt(address + VerbsLayout.QP_QP_NUM),
                                domain.device().info().name()),
                address,
                DestroyCall.QUEUE_PAIR,
                domain,
                parents);
        this.type = type;
        this.packetNumber =
                CallMemory.getInt(address + VerbsLayout.QP_QP_NUM) * 0x9E3779 & 0xffffff;
    }

    /** Whose memory its requests may use. */
    @Override
    public final ProtectionDomain domain() {
        return super.domain();
    }

    /** Kind. */
    public final QueuePairType type() {
        return type;
    }

    /** The number of the first packet that it sends. */
    final int packetNumber() {
        return packetNumber;
    }

    /**
     * To INIT: receives may be posted from now on.
     *
     * @throws VerbsException from another state than RESET
     */
    public final void toInit(PathContext path) {
        modify("to INIT", at -> path.fillInit(at, type));
    }

    /**
     * From INIT to ready to receive from the peer.
     *
     * @param peer null for {@link QueuePairType#UD} and {@link QueuePairType#RAW_PACKET}
     * @throws VerbsException from another state, or for a peer that cannot be reached
     */
    public final void toReadyToReceive(PathContext path, QueuePairAddress peer) {
        if (peer == null && type.isConnected()) {
            throw new IllegalArgumentException(type + " needs the address of its peer");
        }
        modify("to ready to receive", at -> path.fillReadyToReceive(at, type, peer));
    }

    /**
     * From ready to receive to ready to send, too.
     *
     * @throws VerbsException from another state
     */
    public final void toReadyToSend(PathContext path) {
        modify("to ready to send", at -> path.fillReadyToSend(at, type, packetNumber));
    }

    /**
     * From RESET to ready to send in one go. Who must not miss a message posts receives after
     * {@link #toInit} and goes on from there.
     *
     * @param peer null for {@link QueuePairType#UD}
     */
    public final void connect(PathContext path, QueuePairAddress peer) {
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
    public final void drainSends(boolean isEventWanted) {
        modify(
                "to SQD",
                at -> {
                    CallMemory.putByte(
                            at + VerbsLayout.QP_ATTR_EN_SQD_ASYNC_NOTIFY, isEventWanted ? 1 : 0);
                    int event = isEventWanted ? VerbsLayout.IBV_QP_EN_SQD_ASYNC_NOTIFY : 0;
                    return state(at, VerbsLayout.IBV_QPS_SQD) | event;
                });
    }

    /**
     * Ready to send again, after {@link #drainSends}, or after a failed send of a queue pair that
     * is not reliable (SQE). Numbers of packets go on where they were.
     *
     * @throws IllegalStateException in another state
     * @throws VerbsException if the device refuses
     */
    public final void resumeSends() {
        synchronized (lock()) {
            QueuePairState now = state();
            if (now != QueuePairState.SENDS_DRAINED && now != QueuePairState.SEND_ERROR) {
                throw new IllegalStateException(
                        this + " is in state " + now + "; nothing there stopped its sends");
            }
            boolean isDrained = now == QueuePairState.SENDS_DRAINED;
            int code = isDrained ? VerbsLayout.IBV_QPS_SQD : VerbsLayout.IBV_QPS_SQE;
            modify(
                    "back to ready to send",
                    at -> {
                        // A kernel need not know yet that the device has stopped.
                        CallMemory.putInt(at + VerbsLayout.QP_ATTR_CUR_QP_STATE, code);
                        return state(at, VerbsLayout.IBV_QPS_RTS) | VerbsLayout.IBV_QP_CUR_STATE;
                    });
        }
    }

    /**
     * Gives a connection that is ready to send another way to the same peer, for when the first one
     * fails: the device then changes over by itself, once both ends have one, and the event {@code
     * PATH_MIGRATED} says so. May be given again after that.
     *
     * @param path port, address and partition here, what packets say, and the time until a packet
     *     is taken for lost
     * @param gid of the peer's other port; null to use the LID alone
     * @throws VerbsException where the device cannot, as RoCE
     */
    public final void alternatePath(PathContext path, Gid gid, int lid) {
        checkCan(type.isConnected(), "way to a peer");
        modify("to another path", at -> path.fillAlternate(at, gid, lid));
    }

    /**
     * Changes over to the {@linkplain #alternatePath other way} now.
     *
     * @throws VerbsException if none was given, or the device cannot
     */
    public final void migrate() {
        checkCan(type.isConnected(), "way to a peer");
        modify(
                "over to the alternate path",
                at -> {
                    CallMemory.putInt(
                            at + VerbsLayout.QP_ATTR_PATH_MIG_STATE, VerbsLayout.IBV_MIG_MIGRATED);
                    return VerbsLayout.IBV_QP_PATH_MIG_STATE;
                });
    }

    /** To error: everything posted completes, flushed. */
    public final void toError() {
        modify("to ERROR", at -> state(at, VerbsLayout.IBV_QPS_ERR));
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

    /** Writes the state to go to; answers its bit of the mask. */
    static int state(long at, int state) {
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, state);
        return VerbsLayout.IBV_QP_STATE;
    }

    /**
     * Changes attributes.
     *
     * @param filler writes {@code struct ibv_qp_attr} to an address; answers the mask
     */
    final void modify(String to, LongToIntFunction filler) {
        synchronized (lock()) {
            long at = device().memory().argument();
            modify(at, filler.applyAsInt(at), to);
        }
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
    public final QueuePairAttributes attributes() {
        synchronized (lock()) {
            return QueuePairAttributes.at(query(QueuePairAttributes.MASK));
        }
    }

    /** Where the attributes of this mask are now. Under the lock. */
    private long query(int mask) {
        CallMemory memory = device().memory();
        long at = memory.argument();
        int result = verbscalls.vv_query_qp(address(), at, mask, memory.second());
        device().check("ibv_query_qp", result);
        return at;
    }

    /**
     * True if the bytes of an operation arrive in the order of their addresses, so that a reader
     * may watch the last one ({@code ibv_query_qp_data_in_order}).
     *
     * @param operation one of {@link SendOperations}
     * @throws IllegalArgumentException for none or several
     */
    public final boolean isDataInOrder(int operation) {
        int opcode = SendOperations.opcode(operation);
        synchronized (lock()) {
            return verbscalls.vv_query_qp_data_in_order(address(), opcode) == 1;
        }
    }

    /** Asks the device for the state. */
    public final QueuePairState state() {
        synchronized (lock()) {
            long at = query(VerbsLayout.IBV_QP_STATE);
            return QueuePairState.of(CallMemory.getInt(at + VerbsLayout.QP_ATTR_QP_STATE));
        }
    }

    /**
     * Takes part in a multicast group; for datagrams.
     *
     * @throws VerbsException if the device refuses
     */
    public final void joinMulticast(Gid group, int lid) {
        withGroup("ibv_attach_mcast", group, at -> verbscalls.vv_attach_mcast(address(), at, lid));
    }

    /**
     * Leaves a multicast group.
     *
     * @throws VerbsException if it is not a member
     */
    public final void leaveMulticast(Gid group, int lid) {
        withGroup("ibv_detach_mcast", group, at -> verbscalls.vv_detach_mcast(address(), at, lid));
    }

    private void withGroup(String name, Gid group, LongToIntFunction call) {
        synchronized (lock()) {
            long at = device().memory().argument();
            CallMemory.putBytes(at, group.bytes());
            device().check(name, call.applyAsInt(at));
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
    public final FlowRule createFlow(FlowContext flow) {
        checkCan(type == QueuePairType.RAW_PACKET || type == QueuePairType.UD, "flow steering");
        synchronized (lock()) {
            CallMemory memory = device().memory();
            long at = memory.argument();
            flow.fill(at);
            int result = verbscalls.vv_create_flow(address(), at, memory.out());
            String remedy = result == -1 ? "it needs the capability CAP_NET_RAW" : "";
            check("ibv_create_flow", result, remedy);
            return adopt(
                    this,
                    memory.made(),
                    DestroyCall.FLOW_RULE,
                    made -> new FlowRule((QueuePair) this, made));
        }
    }

    /**
     * What this end offers, or what was agreed upon once it is connected ({@code ibv_query_ece}).
     *
     * @throws VerbsException where the driver has none ({@link VerbsException#isUnsupported()})
     */
    public final ExtendedCapabilities extendedCapabilities() {
        synchronized (lock()) {
            long at = device().memory().argument();
            device().check("ibv_query_ece", verbscalls.vv_query_ece(address(), at));
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
    public final void extendedCapabilities(ExtendedCapabilities offered) {
        synchronized (lock()) {
            long at = device().memory().argument();
            CallMemory.putInt(at + VerbsLayout.ECE_VENDOR_ID, offered.vendor());
            CallMemory.putInt(at + VerbsLayout.ECE_OPTIONS, offered.options());
            device().check("ibv_set_ece", verbscalls.vv_set_ece(address(), at));
        }
    }

    final void checkCan(boolean can, String what) {
        if (!can) {
            throw new IllegalStateException(this + ", of type " + type + ", has no " + what);
        }
    }
}
