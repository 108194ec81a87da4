package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** States of a queue pair: {@code enum ibv_qp_state}. */
public enum QueuePairState {
    /** New; nothing can be posted. */
    RESET,
    /** Receives can be posted. */
    INIT,
    /** Ready to receive. */
    READY_TO_RECEIVE,
    /** Ready to send, too. */
    READY_TO_SEND,
    /** Sends are drained. */
    SENDS_DRAINED,
    /** An unreliable queue pair failed to send. */
    SEND_ERROR,
    /** Everything posted is flushed. */
    ERROR,
    /** The device does not tell. */
    UNKNOWN;

    static QueuePairState of(int code) {
        return switch (code) {
            case VerbsLayout.IBV_QPS_RESET -> RESET;
            case VerbsLayout.IBV_QPS_INIT -> INIT;
            case VerbsLayout.IBV_QPS_RTR -> READY_TO_RECEIVE;
            case VerbsLayout.IBV_QPS_RTS -> READY_TO_SEND;
            case VerbsLayout.IBV_QPS_SQD -> SENDS_DRAINED;
            case VerbsLayout.IBV_QPS_SQE -> SEND_ERROR;
            case VerbsLayout.IBV_QPS_ERR -> ERROR;
            default -> UNKNOWN;
        };
    }
}
