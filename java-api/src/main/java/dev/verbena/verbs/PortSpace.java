package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** What a {@link ConnectionIdentifier} is for: {@code enum rdma_port_space}. */
public enum PortSpace {
    /** Reliable connections; ports as of TCP, but not TCP's own. */
    TCP(VerbsLayout.RDMA_PS_TCP, false),

    /** Datagrams and multicast. */
    UDP(VerbsLayout.RDMA_PS_UDP, true),

    /** Datagrams that understand those of IP over InfiniBand. */
    IPOIB(VerbsLayout.RDMA_PS_IPOIB, true);

    private final int code;
    private final boolean isDatagram;

    PortSpace(int code, boolean isDatagram) {
        this.code = code;
        this.isDatagram = isDatagram;
    }

    int code() {
        return code;
    }

    /** True if queue pairs are {@link QueuePairType#UD}. */
    public boolean isDatagram() {
        return isDatagram;
    }

    /** Bytes of private data that {@code rdma_connect} carries. */
    public int connectDataMax() {
        return isDatagram ? 180 : 56;
    }

    /** Bytes of private data that {@code rdma_accept} carries. */
    public int acceptDataMax() {
        return isDatagram ? 136 : 196;
    }

    /** Bytes of private data that {@code rdma_reject} carries. */
    public int rejectDataMax() {
        return isDatagram ? 136 : 148;
    }
}
