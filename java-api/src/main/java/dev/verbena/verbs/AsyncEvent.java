package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * Something that happened to a device without being asked for: {@code struct ibv_async_event}, and
 * acknowledged already.
 *
 * @param type {@code enum ibv_event_type}
 * @param object the queue that it is about; null for events of a port or the device, and of an
 *     object that was closed meanwhile
 * @param port the port that it is about, or 0
 */
public record AsyncEvent(int type, VerbsObject object, int port) {
    /** The device is lost; close everything. */
    public static final int DEVICE_FATAL = VerbsLayout.IBV_EVENT_DEVICE_FATAL;

    /** A port came up. */
    public static final int PORT_ACTIVE = VerbsLayout.IBV_EVENT_PORT_ACTIVE;

    /** A port went down. */
    public static final int PORT_ERROR = VerbsLayout.IBV_EVENT_PORT_ERR;

    /** A completion queue overran. */
    public static final int COMPLETION_QUEUE_ERROR = VerbsLayout.IBV_EVENT_CQ_ERR;

    /** A shared receive queue has fewer receives than its limit; the limit is off now. */
    public static final int SHARED_RECEIVE_QUEUE_LIMIT = VerbsLayout.IBV_EVENT_SRQ_LIMIT_REACHED;

    /** A queue pair in error has taken its last receive from a shared queue. */
    public static final int LAST_RECEIVE_REACHED = VerbsLayout.IBV_EVENT_QP_LAST_WQE_REACHED;

    /** A shared receive queue can take nothing any more. */
    public static final int SHARED_RECEIVE_QUEUE_ERROR = VerbsLayout.IBV_EVENT_SRQ_ERR;

    /** A queue pair failed in a way that no completion tells. */
    public static final int QUEUE_PAIR_FATAL = VerbsLayout.IBV_EVENT_QP_FATAL;

    /** A request of the peer made no sense to a queue pair, which is in ERROR now. */
    public static final int QUEUE_PAIR_REQUEST_ERROR = VerbsLayout.IBV_EVENT_QP_REQ_ERR;

    /** A request of the peer asked for memory that it may not touch; the pair is in ERROR now. */
    public static final int QUEUE_PAIR_ACCESS_ERROR = VerbsLayout.IBV_EVENT_QP_ACCESS_ERR;

    /** The peer's first message came before the word that it is connected. */
    public static final int COMMUNICATION_ESTABLISHED = VerbsLayout.IBV_EVENT_COMM_EST;

    /** After {@link QueuePair#drainSends}, the last send that was begun has ended. */
    public static final int SEND_QUEUE_DRAINED = VerbsLayout.IBV_EVENT_SQ_DRAINED;

    /** The addresses of a port are not what they were. */
    public static final int GID_CHANGE = VerbsLayout.IBV_EVENT_GID_CHANGE;

    /** The local number of a port, on InfiniBand, is not what it was. */
    public static final int LID_CHANGE = VerbsLayout.IBV_EVENT_LID_CHANGE;

    /** Otherwise about an object, or the whole device. */
    static boolean isAboutAPort(int type) {
        return switch (type) {
            case VerbsLayout.IBV_EVENT_PORT_ACTIVE,
                    VerbsLayout.IBV_EVENT_PORT_ERR,
                    VerbsLayout.IBV_EVENT_LID_CHANGE,
                    VerbsLayout.IBV_EVENT_PKEY_CHANGE,
                    VerbsLayout.IBV_EVENT_SM_CHANGE,
                    VerbsLayout.IBV_EVENT_CLIENT_REREGISTER,
                    VerbsLayout.IBV_EVENT_GID_CHANGE ->
                    true;
            default -> false;
        };
    }

    /** Name of the type in C, without {@code IBV_EVENT_}. */
    public String typeName() {
        return switch (type) {
            case VerbsLayout.IBV_EVENT_CQ_ERR -> "CQ_ERR";
            case VerbsLayout.IBV_EVENT_QP_FATAL -> "QP_FATAL";
            case VerbsLayout.IBV_EVENT_QP_REQ_ERR -> "QP_REQ_ERR";
            case VerbsLayout.IBV_EVENT_QP_ACCESS_ERR -> "QP_ACCESS_ERR";
            case VerbsLayout.IBV_EVENT_COMM_EST -> "COMM_EST";
            case VerbsLayout.IBV_EVENT_SQ_DRAINED -> "SQ_DRAINED";
            case VerbsLayout.IBV_EVENT_PATH_MIG -> "PATH_MIG";
            case VerbsLayout.IBV_EVENT_PATH_MIG_ERR -> "PATH_MIG_ERR";
            case VerbsLayout.IBV_EVENT_DEVICE_FATAL -> "DEVICE_FATAL";
            case VerbsLayout.IBV_EVENT_PORT_ACTIVE -> "PORT_ACTIVE";
            case VerbsLayout.IBV_EVENT_PORT_ERR -> "PORT_ERR";
            case VerbsLayout.IBV_EVENT_LID_CHANGE -> "LID_CHANGE";
            case VerbsLayout.IBV_EVENT_PKEY_CHANGE -> "PKEY_CHANGE";
            case VerbsLayout.IBV_EVENT_SM_CHANGE -> "SM_CHANGE";
            case VerbsLayout.IBV_EVENT_SRQ_ERR -> "SRQ_ERR";
            case VerbsLayout.IBV_EVENT_SRQ_LIMIT_REACHED -> "SRQ_LIMIT_REACHED";
            case VerbsLayout.IBV_EVENT_QP_LAST_WQE_REACHED -> "QP_LAST_WQE_REACHED";
            case VerbsLayout.IBV_EVENT_CLIENT_REREGISTER -> "CLIENT_REREGISTER";
            case VerbsLayout.IBV_EVENT_GID_CHANGE -> "GID_CHANGE";
            case VerbsLayout.IBV_EVENT_WQ_FATAL -> "WQ_FATAL";
            default -> "event " + type;
        };
    }
}
