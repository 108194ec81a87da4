package dev.verbena.flesnet;

/** How a component's descriptor reaches the compute node. */
public enum DescriptorMode {
    /** By a one-sided write of its own, as in the paper. */
    RDMA_WRITE,
    /** Inside the SYNC message that reports the write. */
    IN_SYNC
}
