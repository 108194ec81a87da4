package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * How a queue pair reaches its peer, and how long it tries. Defaults: port 1, GID index 0 (see
 * {@link RdmaDevice#chooseGid}), MTU 1024, everything allowed to the peer, one read or atomic
 * outstanding, 6 retries after 67 ms each, 6 after "not ready" of 0.64 ms each: a dead peer is an
 * error within some seconds, and a slow one is never waited for without end.
 */
public final class PathContext {
    private int port = 1;
    int gidIndex;
    private int mtu = 1024;
    private int access = Access.REMOTE_ALL;
    private int pkeyIndex;
    int queueKey = 0x11111111;
    private int readsMax = 1;
    private int readsServedMax = 1;
    private int timeoutCode = 14;
    private int retries = 6;
    private int notReadyRetries = 6;
    private int notReadyTimerCode = 12;
    private int serviceLevel;
    private int trafficClass;
    private int flowLabel;
    private int hopLimit = 64;

    /** All defaults. */
    public PathContext() {}

    /** Port here, from 1. */
    public PathContext port(int port) {
        this.port = checked("port", port, 1, 255);
        return this;
    }

    /** Address of the port here, by its index. */
    public PathContext gidIndex(int gidIndex) {
        this.gidIndex = checked("GID index", gidIndex, 0, 255);
        return this;
    }

    /** Bytes of a packet: 256, 512, 1024, 2048 or 4096. The same at both ends. */
    public PathContext mtu(int bytes) {
        PortAttributes.mtuCode(bytes);
        this.mtu = bytes;
        return this;
    }

    /** What the peer may do, of {@link Access}. */
    public PathContext access(int access) {
        Access.check(access);
        this.access = access;
        return this;
    }

    /** Partition, by its index. */
    public PathContext pkeyIndex(int pkeyIndex) {
        this.pkeyIndex = checked("P_Key index", pkeyIndex, 0, 0xffff);
        return this;
    }

    /** Secret that datagrams must carry. */
    public PathContext queueKey(int queueKey) {
        this.queueKey = queueKey;
        return this;
    }

    /** Reads and atomics outstanding at most, each way: 0 to 255. */
    public PathContext readsMax(int readsMax) {
        return readsMax(readsMax, readsMax);
    }

    /** Reads and atomics outstanding at most: from here, and from the peer; 0 to 255 each. */
    public PathContext readsMax(int fromHere, int fromPeer) {
        this.readsMax = checked("reads", fromHere, 0, 255);
        this.readsServedMax = checked("reads of the peer", fromPeer, 0, 255);
        return this;
    }

    /** A lost packet is noticed after 4.096 us times 2 to the code: 1 to 31; 0: never. */
    public PathContext timeoutCode(int code) {
        this.timeoutCode = checked("timeout code", code, 0, 31);
        return this;
    }

    /** Tries after a lost packet: 0 to 7. Soft-RoCE takes 7 for "without end". */
    public PathContext retries(int retries) {
        this.retries = checked("retries", retries, 0, 7);
        return this;
    }

    /** Tries after "no receive posted": 0 to 6; 7 without end. */
    public PathContext notReadyRetries(int retries) {
        this.notReadyRetries = checked("not-ready retries", retries, 0, 7);
        return this;
    }

    /** How long the peer is told to wait when no receive is posted here: code 0 to 31. */
    public PathContext notReadyTimerCode(int code) {
        this.notReadyTimerCode = checked("not-ready timer code", code, 0, 31);
        return this;
    }

    /** Service level: 0 to 15. */
    public PathContext serviceLevel(int level) {
        this.serviceLevel = checked("service level", level, 0, 15);
        return this;
    }

    /** Traffic class, on RoCE v2 the IP header's type of service: 0 to 255. */
    public PathContext trafficClass(int trafficClass) {
        this.trafficClass = checked("traffic class", trafficClass, 0, 255);
        return this;
    }

    /** Flow label: 20 bits. */
    public PathContext flowLabel(int flowLabel) {
        this.flowLabel = checked("flow label", flowLabel, 0, 0xfffff);
        return this;
    }

    /** Routers that a packet may pass: 1 to 255. */
    public PathContext hopLimit(int hopLimit) {
        this.hopLimit = checked("hop limit", hopLimit, 1, 255);
        return this;
    }

    static int checked(String what, int value, int from, int to) {
        if (value < from || value > to) {
            throw new IllegalArgumentException(what + " " + value + "; " + from + " to " + to);
        }
        return value;
    }

    /** Writes {@code struct ibv_ah_attr} for a peer; on InfiniBand by its LID. */
    void fillAddress(long at, Gid gid, int lid) {
        boolean isGlobal = gid != null;
        if (isGlobal) {
            CallMemory.putBytes(at + VerbsLayout.AH_ATTR_GRH_DGID, gid.bytes());
            CallMemory.putInt(at + VerbsLayout.AH_ATTR_GRH_FLOW_LABEL, flowLabel);
            CallMemory.putByte(at + VerbsLayout.AH_ATTR_GRH_SGID_INDEX, gidIndex);
            CallMemory.putByte(at + VerbsLayout.AH_ATTR_GRH_HOP_LIMIT, hopLimit);
            CallMemory.putByte(at + VerbsLayout.AH_ATTR_GRH_TRAFFIC_CLASS, trafficClass);
        }
        CallMemory.putShort(at + VerbsLayout.AH_ATTR_DLID, lid);
        CallMemory.putByte(at + VerbsLayout.AH_ATTR_SL, serviceLevel);
        CallMemory.putByte(at + VerbsLayout.AH_ATTR_IS_GLOBAL, isGlobal ? 1 : 0);
        CallMemory.putByte(at + VerbsLayout.AH_ATTR_PORT_NUM, port);
    }

    /** Writes another way to the same peer; answers the mask. */
    int fillAlternate(long at, Gid gid, int lid) {
        fillAddress(at + VerbsLayout.QP_ATTR_ALT_AH_ATTR, gid, lid);
        CallMemory.putShort(at + VerbsLayout.QP_ATTR_ALT_PKEY_INDEX, pkeyIndex);
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_ALT_PORT_NUM, port);
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_ALT_TIMEOUT, timeoutCode);
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_PATH_MIG_STATE, VerbsLayout.IBV_MIG_REARM);
        return VerbsLayout.IBV_QP_ALT_PATH | VerbsLayout.IBV_QP_PATH_MIG_STATE;
    }

    /** Writes {@code struct ibv_qp_attr} for INIT; answers the mask. */
    int fillInit(long at, QueuePairType type) {
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, VerbsLayout.IBV_QPS_INIT);
        CallMemory.putShort(at + VerbsLayout.QP_ATTR_PKEY_INDEX, pkeyIndex);
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_PORT_NUM, port);
        int mask =
                VerbsLayout.IBV_QP_STATE | VerbsLayout.IBV_QP_PKEY_INDEX | VerbsLayout.IBV_QP_PORT;
        if (type == QueuePairType.RAW_PACKET) {
            return VerbsLayout.IBV_QP_STATE | VerbsLayout.IBV_QP_PORT;
        }
        if (type == QueuePairType.UD) {
            CallMemory.putInt(at + VerbsLayout.QP_ATTR_QKEY, queueKey);
            return mask | VerbsLayout.IBV_QP_QKEY;
        }
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_ACCESS_FLAGS, access);
        return mask | VerbsLayout.IBV_QP_ACCESS_FLAGS;
    }

    /**
     * Writes {@code struct ibv_qp_attr} for RTR; answers the mask. The peer is null if unconnected.
     */
    int fillReadyToReceive(long at, QueuePairType type, QueuePairAddress peer) {
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, VerbsLayout.IBV_QPS_RTR);
        int mask = VerbsLayout.IBV_QP_STATE;
        if (!type.isConnected()) {
            return mask;
        }
        fillAddress(at + VerbsLayout.QP_ATTR_AH_ATTR, peer.gid(), peer.lid());
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_PATH_MTU, PortAttributes.mtuCode(mtu));
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_DEST_QP_NUM, peer.number());
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_RQ_PSN, peer.packetNumber());
        mask |=
                VerbsLayout.IBV_QP_AV
                        | VerbsLayout.IBV_QP_PATH_MTU
                        | VerbsLayout.IBV_QP_DEST_QPN
                        | VerbsLayout.IBV_QP_RQ_PSN;
        if (type == QueuePairType.UC || type == QueuePairType.XRC_SEND) {
            return mask;
        }
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_MAX_DEST_RD_ATOMIC, readsServedMax);
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_MIN_RNR_TIMER, notReadyTimerCode);
        return mask | VerbsLayout.IBV_QP_MAX_DEST_RD_ATOMIC | VerbsLayout.IBV_QP_MIN_RNR_TIMER;
    }

    /** Writes {@code struct ibv_qp_attr} for RTS; answers the mask. */
    int fillReadyToSend(long at, QueuePairType type, int packetNumber) {
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_QP_STATE, VerbsLayout.IBV_QPS_RTS);
        if (type == QueuePairType.RAW_PACKET) {
            return VerbsLayout.IBV_QP_STATE;
        }
        CallMemory.putInt(at + VerbsLayout.QP_ATTR_SQ_PSN, packetNumber);
        int mask = VerbsLayout.IBV_QP_STATE | VerbsLayout.IBV_QP_SQ_PSN;
        if (type == QueuePairType.UC || !type.isConnected()) {
            return mask;
        }
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_TIMEOUT, timeoutCode);
        if (type == QueuePairType.XRC_RECEIVE) {
            return mask | VerbsLayout.IBV_QP_TIMEOUT;
        }
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_RETRY_CNT, retries);
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_RNR_RETRY, notReadyRetries);
        CallMemory.putByte(at + VerbsLayout.QP_ATTR_MAX_RD_ATOMIC, readsMax);
        return mask
                | VerbsLayout.IBV_QP_TIMEOUT
                | VerbsLayout.IBV_QP_RETRY_CNT
                | VerbsLayout.IBV_QP_RNR_RETRY
                | VerbsLayout.IBV_QP_MAX_QP_RD_ATOMIC;
    }
}
