package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * Something that happened to an identifier: {@code struct rdma_cm_event}, copied, and acknowledged
 * already, so that it never keeps an identifier from being closed. Immutable.
 */
public final class ConnectionEvent {
    private static final int ADDRESS_ATTRIBUTES = VerbsLayout.AH_ATTR_SIZEOF;

    /** {@code IB_CM_REJ_INVALID_SERVICE_ID}: nobody listens. */
    private static final int NOBODY_LISTENS = 8;

    /** {@code IB_CM_REJ_CONSUMER_DEFINED}: the program there refused. */
    private static final int PROGRAM_REFUSED = 28;

    private final ConnectionEventType type;
    private final int code;
    private final int status;
    private final ConnectionIdentifier identifier;
    private final ConnectionIdentifier listener;
    private final Parameters parameters;

    /**
     * What came with it.
     *
     * @param addressAttributes null unless the event has an address
     */
    private record Parameters(
            byte[] privateData,
            int responderResources,
            int initiatorDepth,
            int queuePairNumber,
            int queueKey,
            byte[] addressAttributes) {
        /** Copies {@code struct rdma_ud_param}. */
        static Parameters ofDatagrams(long at, boolean hasAddress) {
            return new Parameters(
                    bytes(
                            at + VerbsLayout.RDMA_UD_PARAM_PRIVATE_DATA,
                            at + VerbsLayout.RDMA_UD_PARAM_PRIVATE_DATA_LEN),
                    0,
                    0,
                    CallMemory.getInt(at + VerbsLayout.RDMA_UD_PARAM_QP_NUM),
                    CallMemory.getInt(at + VerbsLayout.RDMA_UD_PARAM_QKEY),
                    hasAddress
                            ? CallMemory.getBytes(
                                    at + VerbsLayout.RDMA_UD_PARAM_AH_ATTR, ADDRESS_ATTRIBUTES)
                            : null);
        }

        /** Copies {@code struct rdma_conn_param}. */
        static Parameters ofConnection(long at) {
            return new Parameters(
                    bytes(
                            at + VerbsLayout.RDMA_CONN_PARAM_PRIVATE_DATA,
                            at + VerbsLayout.RDMA_CONN_PARAM_PRIVATE_DATA_LEN),
                    CallMemory.getByte(at + VerbsLayout.RDMA_CONN_PARAM_RESPONDER_RESOURCES),
                    CallMemory.getByte(at + VerbsLayout.RDMA_CONN_PARAM_INITIATOR_DEPTH),
                    CallMemory.getInt(at + VerbsLayout.RDMA_CONN_PARAM_QP_NUM),
                    0,
                    null);
        }
    }

    private ConnectionEvent(
            ConnectionEventType type, int status, ConnectionEvent of, ConnectionIdentifier about) {
        this.type = type;
        this.code = type == of.type ? of.code : type.code();
        this.status = status;
        this.identifier = about;
        this.listener = of.listener;
        this.parameters = of.parameters;
    }

    /** Copies {@code struct rdma_cm_event}. */
    ConnectionEvent(
            long at,
            ConnectionIdentifier identifier,
            ConnectionIdentifier listener,
            boolean isDatagram) {
        this.code = CallMemory.getInt(at + VerbsLayout.RDMA_CM_EVENT_EVENT);
        this.type = ConnectionEventType.of(code);
        this.status = CallMemory.getInt(at + VerbsLayout.RDMA_CM_EVENT_STATUS);
        this.identifier = identifier;
        this.listener = listener;
        boolean hasAddress =
                type == ConnectionEventType.ESTABLISHED
                        || type == ConnectionEventType.MULTICAST_JOIN;
        this.parameters =
                isDatagram
                        ? Parameters.ofDatagrams(
                                at + VerbsLayout.RDMA_CM_EVENT_PARAM_UD, hasAddress)
                        : Parameters.ofConnection(at + VerbsLayout.RDMA_CM_EVENT_PARAM_CONN);
    }

    private static byte[] bytes(long pointer, long length) {
        long from = CallMemory.getLong(pointer);
        return from == 0 ? new byte[0] : CallMemory.getBytes(from, CallMemory.getByte(length));
    }

    /** The same with another outcome: what the toolkit itself did about it. */
    ConnectionEvent become(ConnectionEventType outcome, int outcomeStatus) {
        return new ConnectionEvent(outcome, outcomeStatus, this, identifier);
    }

    /** The same of an identifier that has taken the other one's place. */
    ConnectionEvent about(ConnectionIdentifier successor) {
        return new ConnectionEvent(type, status, this, successor);
    }

    /** What happened. */
    public ConnectionEventType type() {
        return type;
    }

    /**
     * 0, or why it failed: {@code -errno}; of {@link ConnectionEventType#REJECTED} the reason as
     * InfiniBand numbers it, 8 if nobody listens, 28 if the program there refused.
     */
    public int status() {
        return status;
    }

    /** Which identifier; of a request a new one, which the receiver of the event closes. */
    public ConnectionIdentifier identifier() {
        return identifier;
    }

    /** Of a request, where it was heard; else null. */
    public ConnectionIdentifier listener() {
        return listener;
    }

    /**
     * What the peer sent along, a copy. May be longer than what he gave: the wire has a fixed room,
     * the rest is zeros.
     */
    public byte[] privateData() {
        return parameters.privateData.clone();
    }

    /** Of a request: reads that the peer wants to have outstanding. */
    public int responderResources() {
        return parameters.responderResources;
    }

    /** Of a request: reads that the peer answers at once. */
    public int initiatorDepth() {
        return parameters.initiatorDepth;
    }

    /** The peer's queue pair; of a group all its members'. */
    public int queuePairNumber() {
        return parameters.queuePairNumber;
    }

    /** Of datagrams: the secret that they must carry. */
    public int queueKey() {
        return parameters.queueKey;
    }

    /**
     * True if it knows the way to a peer or group of datagrams: of {@code ESTABLISHED} and {@code
     * MULTICAST_JOIN}.
     */
    public boolean hasAddress() {
        return parameters.addressAttributes != null;
    }

    /** The group's address, for {@link QueuePair#joinMulticast}; of {@code MULTICAST_JOIN}. */
    public Gid group() {
        checkAddress();
        byte[] gid = new byte[Gid.LENGTH];
        System.arraycopy(
                parameters.addressAttributes, VerbsLayout.AH_ATTR_GRH_DGID, gid, 0, gid.length);
        return new Gid(gid);
    }

    /**
     * Makes the address of the peer or group, for datagrams.
     *
     * @throws IllegalStateException if the event has none
     * @throws VerbsException if the device refuses
     */
    public AddressHandle createAddressHandle(ProtectionDomain domain) {
        checkAddress();
        return domain.createAddressHandle(parameters.addressAttributes, toString());
    }

    private void checkAddress() {
        if (parameters.addressAttributes == null) {
            throw new IllegalStateException(
                    this + " has no address; ESTABLISHED and MULTICAST_JOIN of datagrams have one");
        }
    }

    /** In words: why it failed and what may be done. */
    String remedy() {
        return switch (type) {
            case ADDRESS_ERROR, ROUTE_ERROR ->
                    "does an RDMA device lead there? verbena devices shows their addresses";
            case UNREACHABLE -> "nobody answers there; is the machine up, and the link?";
            case REJECTED ->
                    switch (status) {
                        case NOBODY_LISTENS -> "nobody listens at that port";
                        case PROGRAM_REFUSED ->
                                "the program there refused; its reason may be in"
                                        + " the private data";
                        default -> "reason " + status + " of InfiniBand's list";
                    };
            case DEVICE_REMOVAL -> "the device is gone: close what is of it";
            default -> "";
        };
    }

    @Override
    public String toString() {
        return (type == ConnectionEventType.OTHER ? "event " + code : type.name())
                + (status == 0 ? "" : " (status " + status + ")")
                + " of "
                + identifier;
    }
}
