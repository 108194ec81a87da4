package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** Kinds of queue pairs: {@code enum ibv_qp_type}. */
public enum QueuePairType {
    /** Reliable connection: send, write, read, atomics, in order, each once. */
    RC(VerbsLayout.IBV_QPT_RC),
    /** Unreliable connection: send and write; what is lost is lost whole. */
    UC(VerbsLayout.IBV_QPT_UC),
    /** Unreliable datagrams: send, up to one MTU, to anybody. */
    UD(VerbsLayout.IBV_QPT_UD),
    /**
     * Whole Ethernet frames, as they go over the wire; needs the capability CAP_NET_RAW and a
     * device that has them.
     */
    RAW_PACKET(VerbsLayout.IBV_QPT_RAW_PACKET),
    /** The sending end of an extended reliable connection; it has no receives. */
    XRC_SEND(VerbsLayout.IBV_QPT_XRC_SEND),
    /**
     * The receiving end of an extended reliable connection: messages go to the shared receive queue
     * that each names. Nothing is posted to it, and nothing completes there.
     */
    XRC_RECEIVE(VerbsLayout.IBV_QPT_XRC_RECV);

    private final int code;

    QueuePairType(int code) {
        this.code = code;
    }

    /** True if it has one peer. */
    boolean isConnected() {
        return this != UD && this != RAW_PACKET;
    }

    /** True if it has sends. */
    boolean canSend() {
        return this != XRC_RECEIVE;
    }

    /** True if it has receives, its own or shared ones of its protection domain. */
    boolean canReceive() {
        return this != XRC_SEND && this != XRC_RECEIVE;
    }

    int code() {
        return code;
    }
}
