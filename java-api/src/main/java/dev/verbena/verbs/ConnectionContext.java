package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * What a connection is made with: {@code struct rdma_conn_param}, and what its queue pair waits
 * for. Defaults: no private data, one read or atomic outstanding each way, everything allowed to
 * the peer, 6 retries after 67 ms each, 6 after "not ready" of 0.64 ms each, as {@link
 * PathContext}.
 */
public final class ConnectionContext extends CopiedContext<ConnectionContext> {
    private byte[] privateData = new byte[0];
    private int responderResources = 1;
    private int initiatorDepth = 1;
    int retries = 6;
    private int notReadyRetries = 6;
    int timeoutCode = 14;
    int notReadyTimerCode = 12;
    int access = Access.REMOTE_ALL;

    /** All defaults. */
    public ConnectionContext() {}

    /** Bytes that the peer's event has, copied; at most what the {@link PortSpace} carries. */
    public ConnectionContext privateData(byte[] bytes) {
        this.privateData = bytes.clone();
        return this;
    }

    /** Reads and atomics of the peer that are answered here at once: 0 to 255. */
    public ConnectionContext responderResources(int count) {
        this.responderResources = PathContext.checked("responder resources", count, 0, 255);
        return this;
    }

    /** Reads and atomics outstanding from here: 0 to 255. */
    public ConnectionContext initiatorDepth(int count) {
        this.initiatorDepth = PathContext.checked("initiator depth", count, 0, 255);
        return this;
    }

    /**
     * Tries after a lost packet: 0 to 7. Soft-RoCE takes 7 for "without end". Each side has its
     * own, whatever the peer asked for.
     */
    public ConnectionContext retries(int retries) {
        this.retries = PathContext.checked("retries", retries, 0, 7);
        return this;
    }

    /** Tries of the peer after "no receive posted": 0 to 6; 7 without end. */
    public ConnectionContext notReadyRetries(int retries) {
        this.notReadyRetries = PathContext.checked("not-ready retries", retries, 0, 7);
        return this;
    }

    /** A lost packet is noticed here after 4.096 us times 2 to the code: 1 to 31; 0: never. */
    public ConnectionContext timeoutCode(int code) {
        this.timeoutCode = PathContext.checked("timeout code", code, 0, 31);
        return this;
    }

    /** How long the peer is told to wait when no receive is posted here: code 0 to 31. */
    public ConnectionContext notReadyTimerCode(int code) {
        this.notReadyTimerCode = PathContext.checked("not-ready timer code", code, 0, 31);
        return this;
    }

    /** What the peer may do, of {@link Access}. */
    public ConnectionContext access(int access) {
        Access.check(access);
        this.access = access;
        return this;
    }

    /** Throws if there is more private data than travels with a call. */
    void checkPrivateData(int dataMax) {
        if (privateData.length > dataMax) {
            throw new IllegalArgumentException(
                    "%s bytes of private data; at most %s travel with this call"
                            .formatted(privateData.length, dataMax));
        }
    }

    /**
     * Writes {@code struct rdma_conn_param} for this queue pair.
     *
     * @param data where the private data goes, which was checked
     * @param request what the peer asked for, or null; nobody is given more than he asked for
     */
    void fill(long at, long data, QueuePair queue, ConnectionEvent request) {
        CallMemory.putBytes(data, privateData);
        CallMemory.putLong(at + VerbsLayout.RDMA_CONN_PARAM_PRIVATE_DATA, data);
        CallMemory.putByte(at + VerbsLayout.RDMA_CONN_PARAM_PRIVATE_DATA_LEN, privateData.length);
        CallMemory.putByte(at + VerbsLayout.RDMA_CONN_PARAM_RESPONDER_RESOURCES, granted(request));
        CallMemory.putByte(at + VerbsLayout.RDMA_CONN_PARAM_INITIATOR_DEPTH, depth(request));
        CallMemory.putByte(at + VerbsLayout.RDMA_CONN_PARAM_FLOW_CONTROL, 1);
        CallMemory.putByte(at + VerbsLayout.RDMA_CONN_PARAM_RETRY_COUNT, retries);
        CallMemory.putByte(at + VerbsLayout.RDMA_CONN_PARAM_RNR_RETRY_COUNT, notReadyRetries);
        CallMemory.putByte(at + VerbsLayout.RDMA_CONN_PARAM_SRQ, queue.hasSharedReceives() ? 1 : 0);
        CallMemory.putInt(at + VerbsLayout.RDMA_CONN_PARAM_QP_NUM, queue.number());
    }

    /** Responder resources for a peer that asked for so many, or for any. */
    int granted(ConnectionEvent request) {
        return request == null
                ? responderResources
                : Math.min(responderResources, request.responderResources());
    }

    /** Reads outstanding from here to a peer that answers so many, or any. */
    int depth(ConnectionEvent request) {
        return request == null
                ? initiatorDepth
                : Math.min(initiatorDepth, request.initiatorDepth());
    }
}
