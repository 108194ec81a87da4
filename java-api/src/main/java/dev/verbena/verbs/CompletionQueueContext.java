package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * What a completion queue is made with: {@code struct ibv_cq_init_attr_ex}. Defaults: 64
 * completions, no channel, vector 0, a plain queue. With {@link #details}, {@link #singleThreaded},
 * {@link #ignoreOverrun} or {@link #parentDomain} it is an extended one, which some devices lack.
 */
public final class CompletionQueueContext extends CopiedContext<CompletionQueueContext> {
    private static final int CAPACITY_DEFAULT = 64;

    private int capacity = CAPACITY_DEFAULT;
    CompletionChannel channel;
    private int vector;
    private int details;
    private int flags;
    ProtectionDomain parentDomain;

    /** All defaults. */
    public CompletionQueueContext() {}

    /** Completions at least; the owner sees to it that never more are outstanding. */
    public CompletionQueueContext capacity(int capacity) {
        this.capacity = capacity;
        return this;
    }

    /** Where it announces completions when asked to; null: it is only polled. */
    public CompletionQueueContext channel(CompletionChannel channel) {
        this.channel = channel;
        return this;
    }

    /** Interrupt: below {@link RdmaDevice#completionVectorCount()}. */
    public CompletionQueueContext vector(int vector) {
        this.vector = vector;
        return this;
    }

    /**
     * An extended queue whose completions tell exactly this, of {@link CompletionDetails}. 0: a
     * plain one.
     */
    public CompletionQueueContext details(int details) {
        CompletionDetails.check(details);
        this.details = details;
        return this;
    }

    /**
     * The driver need not lock: queue pairs that complete here are closed and reset by the thread
     * that polls, or after it has handed over; by another one that is an exception.
     */
    public CompletionQueueContext singleThreaded(boolean isSingleThreaded) {
        return flag(VerbsLayout.IBV_CREATE_CQ_ATTR_SINGLE_THREADED, isSingleThreaded);
    }

    /** The device may write over completions that were not polled. */
    public CompletionQueueContext ignoreOverrun(boolean isIgnored) {
        return flag(VerbsLayout.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, isIgnored);
    }

    /** Of {@link ProtectionDomain#allocateParentDomain}: whose thread domain it shares. */
    public CompletionQueueContext parentDomain(ProtectionDomain parentDomain) {
        this.parentDomain = parentDomain;
        return this;
    }

    private CompletionQueueContext flag(int flag, boolean isWanted) {
        flags = isWanted ? flags | flag : flags & ~flag;
        return this;
    }

    boolean isSingleThreaded() {
        return (flags & VerbsLayout.IBV_CREATE_CQ_ATTR_SINGLE_THREADED) != 0;
    }

    /** 0 for a plain queue. */
    int detailsToRead() {
        boolean isExtended = details != 0 || flags != 0 || parentDomain != null;
        return isExtended && details == 0 ? CompletionDetails.STANDARD : details;
    }

    void conclude() {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity " + capacity + "; at least 1 is needed");
        }
    }

    /** Writes {@code struct ibv_cq_init_attr_ex}. */
    void fill(long at, RdmaDevice device) {
        if (parentDomain != null) {
            parentDomain.checkOf(device);
        }
        int mask = flags == 0 ? 0 : VerbsLayout.IBV_CQ_INIT_ATTR_MASK_FLAGS;
        mask |= parentDomain == null ? 0 : VerbsLayout.IBV_CQ_INIT_ATTR_MASK_PD;
        CallMemory.putInt(at + VerbsLayout.CQ_INIT_ATTR_EX_CQE, capacity);
        CallMemory.putLong(
                at + VerbsLayout.CQ_INIT_ATTR_EX_CHANNEL,
                channel == null ? 0 : channel.addressFor(device));
        CallMemory.putInt(at + VerbsLayout.CQ_INIT_ATTR_EX_COMP_VECTOR, vector);
        CallMemory.putLong(at + VerbsLayout.CQ_INIT_ATTR_EX_WC_FLAGS, detailsToRead());
        CallMemory.putInt(at + VerbsLayout.CQ_INIT_ATTR_EX_COMP_MASK, mask);
        CallMemory.putInt(at + VerbsLayout.CQ_INIT_ATTR_EX_FLAGS, flags);
        CallMemory.putLong(
                at + VerbsLayout.CQ_INIT_ATTR_EX_PARENT_DOMAIN,
                parentDomain == null ? 0 : parentDomain.address());
    }

    @Override
    public String toString() {
        return "a completion queue of %s completions, vector %s%s"
                .formatted(
                        capacity,
                        vector,
                        detailsToRead() == 0
                                ? ""
                                : ", extended, details 0x" + Integer.toHexString(detailsToRead()));
    }
}
