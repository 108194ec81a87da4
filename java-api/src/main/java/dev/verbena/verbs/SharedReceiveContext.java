package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * What a shared receive queue is made with: {@code struct ibv_srq_init_attr_ex}. Defaults: 64
 * receives of one segment each, no limit, for queue pairs of the same protection domain.
 */
public final class SharedReceiveContext extends CopiedContext<SharedReceiveContext> {
    private static final int CAPACITY_DEFAULT = 64;

    private int capacity = CAPACITY_DEFAULT;
    private int segmentsMax = 1;
    XrcDomain xrcDomain;
    CompletionQueue completions;

    /** All defaults. */
    public SharedReceiveContext() {}

    /** Receives, from 1. */
    public SharedReceiveContext capacity(int capacity) {
        this.capacity = capacity;
        return this;
    }

    /** Pieces of memory in each, from 1. */
    public SharedReceiveContext segmentsMax(int segmentsMax) {
        this.segmentsMax = segmentsMax;
        return this;
    }

    /**
     * For extended reliable connections: peers name the queue by its {@linkplain
     * SharedReceiveQueue#number number}, and it has a completion queue of its own.
     */
    public SharedReceiveContext xrc(XrcDomain domain, CompletionQueue completions) {
        this.xrcDomain = domain;
        this.completions = completions;
        return this;
    }

    boolean isXrc() {
        return xrcDomain != null;
    }

    void conclude(RdmaDevice device) {
        if (capacity < 1 || segmentsMax < 1) {
            throw new IllegalArgumentException(
                    "capacity " + capacity + ", segments " + segmentsMax + "; at least 1 each");
        }
        if (xrcDomain == null != (completions == null)) {
            throw new IllegalArgumentException("XRC needs its domain and a completion queue");
        }
        if (isXrc() && (xrcDomain.device() != device || completions.device() != device)) {
            throw new IllegalArgumentException(
                    "the XRC domain or the completion queue is of another device");
        }
    }

    /** Writes {@code struct ibv_srq_init_attr_ex}. */
    void fill(long at, long domain) {
        CallMemory.putInt(at + VerbsLayout.SRQ_INIT_ATTR_EX_ATTR_MAX_WR, capacity);
        CallMemory.putInt(at + VerbsLayout.SRQ_INIT_ATTR_EX_ATTR_MAX_SGE, segmentsMax);
        CallMemory.putLong(at + VerbsLayout.SRQ_INIT_ATTR_EX_PD, domain);
        int mask = VerbsLayout.IBV_SRQ_INIT_ATTR_PD;
        if (isXrc()) {
            mask |=
                    VerbsLayout.IBV_SRQ_INIT_ATTR_TYPE
                            | VerbsLayout.IBV_SRQ_INIT_ATTR_XRCD
                            | VerbsLayout.IBV_SRQ_INIT_ATTR_CQ;
            CallMemory.putInt(at + VerbsLayout.SRQ_INIT_ATTR_EX_SRQ_TYPE, VerbsLayout.IBV_SRQT_XRC);
            CallMemory.putLong(at + VerbsLayout.SRQ_INIT_ATTR_EX_XRCD, xrcDomain.address());
            CallMemory.putLong(at + VerbsLayout.SRQ_INIT_ATTR_EX_CQ, completions.address());
        }
        CallMemory.putInt(at + VerbsLayout.SRQ_INIT_ATTR_EX_COMP_MASK, mask);
    }
}
