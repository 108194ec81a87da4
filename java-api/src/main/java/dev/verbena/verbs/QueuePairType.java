package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** Kinds of queue pairs: {@code enum ibv_qp_type}. */
public enum QueuePairType {
    /** Reliable connection: send, write, read, atomics, in order, each once. */
    RC(VerbsLayout.IBV_QPT_RC),
    /** Unreliable connection: send and write; what is lost is lost whole. */
    UC(VerbsLayout.IBV_QPT_UC),
    /** Unreliable datagrams: send, up to one MTU, to anybody. */
    UD(VerbsLayout.IBV_QPT_UD);

    private final int code;

    QueuePairType(int code) {
        this.code = code;
    }

    int code() {
        return code;
    }
}
