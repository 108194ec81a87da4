package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * What a device knows of a queue pair: {@code struct ibv_qp_attr}, a copy. What its kind or state
 * has no use for is whatever the device answers. Immutable.
 *
 * @param state state
 * @param sendCapacity sends outstanding at most
 * @param receiveCapacity receives outstanding at most
 * @param sendSegmentsMax pieces of memory in a send
 * @param receiveSegmentsMax pieces of memory in a receive
 * @param inlineMax bytes of a send that may be inline
 * @param access what the peer may do, of {@link Access}
 * @param port port here
 * @param pkeyIndex partition, by its index
 * @param queueKey secret that datagrams must carry
 * @param mtu bytes of a packet; 0 where unknown
 * @param peerNumber number of the peer's queue pair
 * @param sendPacketNumber next packet number of sends
 * @param receivePacketNumber next packet number of receives
 * @param readsMax reads and atomics outstanding at most, from here
 * @param peerReadsMax reads and atomics outstanding at most, from the peer
 * @param timeoutCode as in {@link PathContext#timeoutCode}
 * @param retries as in {@link PathContext#retries}
 * @param notReadyRetries as in {@link PathContext#notReadyRetries}
 * @param notReadyTimerCode as in {@link PathContext#notReadyTimerCode}
 */
public record QueuePairAttributes(
        QueuePairState state,
        int sendCapacity,
        int receiveCapacity,
        int sendSegmentsMax,
        int receiveSegmentsMax,
        int inlineMax,
        int access,
        int port,
        int pkeyIndex,
        int queueKey,
        int mtu,
        int peerNumber,
        int sendPacketNumber,
        int receivePacketNumber,
        int readsMax,
        int peerReadsMax,
        int timeoutCode,
        int retries,
        int notReadyRetries,
        int notReadyTimerCode) {
    /** Everything but what some devices refuse to tell: the alternate path and the rate limit. */
    static final int MASK =
            VerbsLayout.IBV_QP_STATE
                    | VerbsLayout.IBV_QP_CAP
                    | VerbsLayout.IBV_QP_ACCESS_FLAGS
                    | VerbsLayout.IBV_QP_PORT
                    | VerbsLayout.IBV_QP_PKEY_INDEX
                    | VerbsLayout.IBV_QP_QKEY
                    | VerbsLayout.IBV_QP_AV
                    | VerbsLayout.IBV_QP_PATH_MTU
                    | VerbsLayout.IBV_QP_DEST_QPN
                    | VerbsLayout.IBV_QP_SQ_PSN
                    | VerbsLayout.IBV_QP_RQ_PSN
                    | VerbsLayout.IBV_QP_MAX_QP_RD_ATOMIC
                    | VerbsLayout.IBV_QP_MAX_DEST_RD_ATOMIC
                    | VerbsLayout.IBV_QP_TIMEOUT
                    | VerbsLayout.IBV_QP_RETRY_CNT
                    | VerbsLayout.IBV_QP_RNR_RETRY
                    | VerbsLayout.IBV_QP_MIN_RNR_TIMER;

    static QueuePairAttributes at(long at) {
        long cap = at + VerbsLayout.QP_ATTR_CAP;
        return new QueuePairAttributes(
                QueuePairState.of(CallMemory.getInt(at + VerbsLayout.QP_ATTR_QP_STATE)),
                CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_SEND_WR),
                CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_RECV_WR),
                CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_SEND_SGE),
                CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_RECV_SGE),
                CallMemory.getInt(cap + VerbsLayout.QP_CAP_MAX_INLINE_DATA),
                CallMemory.getInt(at + VerbsLayout.QP_ATTR_QP_ACCESS_FLAGS),
                CallMemory.getByte(at + VerbsLayout.QP_ATTR_PORT_NUM),
                CallMemory.getShort(at + VerbsLayout.QP_ATTR_PKEY_INDEX),
                CallMemory.getInt(at + VerbsLayout.QP_ATTR_QKEY),
                PortAttributes.bytes(CallMemory.getInt(at + VerbsLayout.QP_ATTR_PATH_MTU)),
                CallMemory.getInt(at + VerbsLayout.QP_ATTR_DEST_QP_NUM),
                CallMemory.getInt(at + VerbsLayout.QP_ATTR_SQ_PSN),
                CallMemory.getInt(at + VerbsLayout.QP_ATTR_RQ_PSN),
                CallMemory.getByte(at + VerbsLayout.QP_ATTR_MAX_RD_ATOMIC),
                CallMemory.getByte(at + VerbsLayout.QP_ATTR_MAX_DEST_RD_ATOMIC),
                CallMemory.getByte(at + VerbsLayout.QP_ATTR_TIMEOUT),
                CallMemory.getByte(at + VerbsLayout.QP_ATTR_RETRY_CNT),
                CallMemory.getByte(at + VerbsLayout.QP_ATTR_RNR_RETRY),
                CallMemory.getByte(at + VerbsLayout.QP_ATTR_MIN_RNR_TIMER));
    }
}
