package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** What happened to a {@link ConnectionIdentifier}: {@code enum rdma_cm_event_type}. */
public enum ConnectionEventType {
    /** The peer's address is known, and the device to it: resolve the route. */
    ADDRESS_RESOLVED(VerbsLayout.RDMA_CM_EVENT_ADDR_RESOLVED, false),

    /** No device leads to the address, or nobody there answers. */
    ADDRESS_ERROR(VerbsLayout.RDMA_CM_EVENT_ADDR_ERROR, true),

    /** The way is known: connect, or join a group. */
    ROUTE_RESOLVED(VerbsLayout.RDMA_CM_EVENT_ROUTE_RESOLVED, false),

    /** No way was found. */
    ROUTE_ERROR(VerbsLayout.RDMA_CM_EVENT_ROUTE_ERROR, true),

    /** Somebody connects to a listener: accept or reject by the event's new identifier. */
    CONNECT_REQUEST(VerbsLayout.RDMA_CM_EVENT_CONNECT_REQUEST, false),

    /** Never seen by callers: the connection is completed and reported as established. */
    CONNECT_RESPONSE(VerbsLayout.RDMA_CM_EVENT_CONNECT_RESPONSE, false),

    /** The connection could not be made. */
    CONNECT_ERROR(VerbsLayout.RDMA_CM_EVENT_CONNECT_ERROR, true),

    /** Nobody answers. */
    UNREACHABLE(VerbsLayout.RDMA_CM_EVENT_UNREACHABLE, true),

    /** The peer refuses, or nobody listens there; the status says which. */
    REJECTED(VerbsLayout.RDMA_CM_EVENT_REJECTED, true),

    /** Connected. For datagrams: the event has the peer's queue pair and the way to it. */
    ESTABLISHED(VerbsLayout.RDMA_CM_EVENT_ESTABLISHED, false),

    /** The connection has ended: what was posted is flushed, and the peer has an answer. */
    DISCONNECTED(VerbsLayout.RDMA_CM_EVENT_DISCONNECTED, false),

    /** The device is taken away: close everything of it. */
    DEVICE_REMOVAL(VerbsLayout.RDMA_CM_EVENT_DEVICE_REMOVAL, true),

    /** Member of a group; the event has the way to it. */
    MULTICAST_JOIN(VerbsLayout.RDMA_CM_EVENT_MULTICAST_JOIN, false),

    /** No member of a group, or no more. */
    MULTICAST_ERROR(VerbsLayout.RDMA_CM_EVENT_MULTICAST_ERROR, true),

    /** The NIC behind the identifier is another now, for example of a bond: connect anew. */
    ADDRESS_CHANGE(VerbsLayout.RDMA_CM_EVENT_ADDR_CHANGE, false),

    /** The queue pair of a connection that ended may be used again. */
    TIMEWAIT_EXIT(VerbsLayout.RDMA_CM_EVENT_TIMEWAIT_EXIT, false),

    /** A kind that these bindings do not know. */
    OTHER(-1, false);

    private final int code;
    private final boolean isError;

    ConnectionEventType(int code, boolean isError) {
        this.code = code;
        this.isError = isError;
    }

    static ConnectionEventType of(int code) {
        for (ConnectionEventType type : values()) {
            if (type.code == code) {
                return type;
            }
        }
        return OTHER;
    }

    int code() {
        return code;
    }

    /** True if what was asked for has failed. */
    public boolean isError() {
        return isError;
    }
}
