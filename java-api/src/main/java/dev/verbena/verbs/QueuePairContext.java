package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * What a queue pair is made with: {@code struct ibv_qp_init_attr}. Defaults: RC, 64 sends and 64
 * receives of one segment each, nothing inline, each send signalled only if it says so.
 */
public final class QueuePairContext extends CopiedContext<QueuePairContext> {
    private static final int CAPACITY_DEFAULT = 64;

    QueuePairType type = QueuePairType.RC;
    CompletionQueue sends;
    CompletionQueue receives;
    SharedReceiveQueue shared;
    private int sendCapacity = CAPACITY_DEFAULT;
    private int receiveCapacity = CAPACITY_DEFAULT;
    private int sendSegmentsMax = 1;
    private int receiveSegmentsMax = 1;
    private int inlineMax;
    private boolean isEachSignalled;
    int operations;
    XrcDomain xrcDomain;
    ReceiveTable table;
    private ReceiveHash hash;

    /** All defaults; a completion queue is still needed. */
    public QueuePairContext() {}

    /** Kind of queue pair. */
    public QueuePairContext type(QueuePairType type) {
        this.type = type;
        return this;
    }

    /** Where sends and receives complete. */
    public QueuePairContext completions(CompletionQueue both) {
        return completions(both, both);
    }

    /** Where sends complete, and where receives do. */
    public QueuePairContext completions(CompletionQueue sends, CompletionQueue receives) {
        this.sends = sends;
        this.receives = receives;
        return this;
    }

    /** Where its receives come from, instead of a queue of its own. */
    public QueuePairContext sharedReceives(SharedReceiveQueue shared) {
        this.shared = shared;
        return this;
    }

    /** Sends outstanding at most, from 1. */
    public QueuePairContext sendCapacity(int capacity) {
        this.sendCapacity = capacity;
        return this;
    }

    /** Receives outstanding at most, from 1. */
    public QueuePairContext receiveCapacity(int capacity) {
        this.receiveCapacity = capacity;
        return this;
    }

    /** Pieces of memory in a send, and in a receive. */
    public QueuePairContext segmentsMax(int ofSend, int ofReceive) {
        this.sendSegmentsMax = ofSend;
        this.receiveSegmentsMax = ofReceive;
        return this;
    }

    /** Bytes of a send that may be copied when it is posted; the device may give more. */
    public QueuePairContext inlineMax(int bytes) {
        this.inlineMax = bytes;
        return this;
    }

    /** Every send completes, whether it says so or not. */
    public QueuePairContext eachSignalled(boolean isEachSignalled) {
        this.isEachSignalled = isEachSignalled;
        return this;
    }

    /**
     * What {@link QueuePair#newBuilder} may build, of {@link SendOperations}. 0, the default: the
     * queue pair has no builder.
     */
    public QueuePairContext operations(int operations) {
        SendOperations.check(operations);
        this.operations = operations;
        return this;
    }

    /** Of {@link QueuePairType#XRC_RECEIVE}: whose shared receive queues it reaches. */
    public QueuePairContext xrcDomain(XrcDomain xrcDomain) {
        this.xrcDomain = xrcDomain;
        return this;
    }

    /**
     * Spreads what it receives over the queues of a table (receive-side scaling). It has no queues
     * of its own then: no completion queues are given, nothing is posted to it, and {@link
     * QueuePair#createFlow} says which packets come. For {@link QueuePairType#RAW_PACKET} and
     * {@link QueuePairType#UD}.
     *
     * @param hash which place of the table takes a packet
     */
    public QueuePairContext spread(ReceiveTable table, ReceiveHash hash) {
        this.table = table;
        this.hash = hash;
        return this;
    }

    /** True if it has sends. */
    boolean canSend() {
        return table == null && type.canSend();
    }

    /** True if it has receives, its own or shared ones of its protection domain. */
    boolean canReceive() {
        return table == null && type.canReceive();
    }

    void conclude() {
        if ((table == null) != (hash == null)) {
            throw new IllegalArgumentException("a table and a hash go together");
        }
        if (table != null) {
            concludeSpread();
        }
        if (canSend() && sends == null || canReceive() && receives == null) {
            throw new IllegalArgumentException("a queue pair needs completion queues");
        }
        if (type == QueuePairType.XRC_RECEIVE != (xrcDomain != null)) {
            throw new IllegalArgumentException("XRC_RECEIVE, and nothing else, has an XRC domain");
        }
        if (shared != null && (!type.canReceive() || shared.xrcDomain() != null)) {
            throw new IllegalArgumentException(
                    type + " with shared receives: XRC names them in each message");
        }
        if (sendCapacity < 1 || receiveCapacity < 1) {
            throw new IllegalArgumentException(
                    "capacities " + sendCapacity + " and " + receiveCapacity + "; at least 1 each");
        }
        if (sendSegmentsMax < 1 || receiveSegmentsMax < 1 || inlineMax < 0) {
            throw new IllegalArgumentException(
                    "segments %s and %s, inline %s; at least 1, 1 and 0"
                            .formatted(sendSegmentsMax, receiveSegmentsMax, inlineMax));
        }
    }

    private void concludeSpread() {
        if (type != QueuePairType.RAW_PACKET && type != QueuePairType.UD) {
            throw new IllegalArgumentException(type + " spreads nothing; RAW_PACKET and UD may");
        }
        if (sends != null || receives != null || shared != null || operations != 0) {
            throw new IllegalArgumentException(
                    "a queue pair that spreads over a table has no queues of its own");
        }
    }

    /** Writes {@code struct ibv_qp_init_attr_ex} for a queue pair that spreads. */
    private void fillSpread(long at, long keyAt, long domain, RdmaDevice device) {
        table.checkOf(device);
        CallMemory.putInt(at + VerbsLayout.QP_INIT_ATTR_EX_QP_TYPE, type.code());
        CallMemory.putInt(
                at + VerbsLayout.QP_INIT_ATTR_EX_COMP_MASK,
                VerbsLayout.IBV_QP_INIT_ATTR_PD
                        | VerbsLayout.IBV_QP_INIT_ATTR_IND_TABLE
                        | VerbsLayout.IBV_QP_INIT_ATTR_RX_HASH);
        CallMemory.putLong(at + VerbsLayout.QP_INIT_ATTR_EX_PD, domain);
        CallMemory.putLong(at + VerbsLayout.QP_INIT_ATTR_EX_RWQ_IND_TBL, table.address());
        hash.fill(at, keyAt);
    }

    /**
     * Writes {@code struct ibv_qp_init_attr_ex}.
     *
     * @param second room for what it points to
     */
    void fill(long at, long second, long domain, RdmaDevice device) {
        if (table != null) {
            fillSpread(at, second, domain, device);
            return;
        }
        if (type.canSend() && sends.device() != device
                || type.canReceive() && receives.device() != device
                || xrcDomain != null && xrcDomain.device() != device) {
            throw new IllegalArgumentException(
                    "a completion queue or XRC domain is of another device");
        }
        if (shared != null && shared.domain().device() != device) {
            throw new IllegalArgumentException("the shared receives are of another device");
        }
        if (shared != null) {
            receives.checkTakes(shared.claim());
        }
        long cap = at + VerbsLayout.QP_INIT_ATTR_EX_CAP;
        CallMemory.putLong(
                at + VerbsLayout.QP_INIT_ATTR_EX_SEND_CQ, type.canSend() ? sends.address() : 0);
        CallMemory.putLong(
                at + VerbsLayout.QP_INIT_ATTR_EX_RECV_CQ,
                type.canReceive() ? receives.address() : 0);
        CallMemory.putLong(
                at + VerbsLayout.QP_INIT_ATTR_EX_SRQ, shared == null ? 0 : shared.address());
        boolean hasReceives = type.canReceive() && shared == null;
        if (type.canSend()) {
            CallMemory.putInt(cap + VerbsLayout.QP_CAP_MAX_SEND_WR, sendCapacity);
            CallMemory.putInt(cap + VerbsLayout.QP_CAP_MAX_SEND_SGE, sendSegmentsMax);
            CallMemory.putInt(cap + VerbsLayout.QP_CAP_MAX_INLINE_DATA, inlineMax);
        }
        CallMemory.putInt(cap + VerbsLayout.QP_CAP_MAX_RECV_WR, hasReceives ? receiveCapacity : 0);
        CallMemory.putInt(
                cap + VerbsLayout.QP_CAP_MAX_RECV_SGE, hasReceives ? receiveSegmentsMax : 0);
        CallMemory.putInt(at + VerbsLayout.QP_INIT_ATTR_EX_QP_TYPE, type.code());
        CallMemory.putInt(at + VerbsLayout.QP_INIT_ATTR_EX_SQ_SIG_ALL, isEachSignalled ? 1 : 0);
        int mask = VerbsLayout.IBV_QP_INIT_ATTR_PD;
        if (xrcDomain != null) {
            mask = VerbsLayout.IBV_QP_INIT_ATTR_XRCD;
            CallMemory.putLong(at + VerbsLayout.QP_INIT_ATTR_EX_XRCD, xrcDomain.address());
        }
        mask |= operations == 0 ? 0 : VerbsLayout.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        CallMemory.putInt(at + VerbsLayout.QP_INIT_ATTR_EX_COMP_MASK, mask);
        CallMemory.putLong(at + VerbsLayout.QP_INIT_ATTR_EX_SEND_OPS_FLAGS, operations);
        CallMemory.putLong(at + VerbsLayout.QP_INIT_ATTR_EX_PD, xrcDomain == null ? domain : 0);
    }

    @Override
    public String toString() {
        if (table != null) {
            return type + " queue pair that spreads over a " + table;
        }
        return "%s queue pair with %s sends of %s segments (%s bytes inline) and %s"
                .formatted(
                        type,
                        sendCapacity,
                        sendSegmentsMax,
                        inlineMax,
                        shared == null
                                ? "%s receives of %s segments"
                                        .formatted(receiveCapacity, receiveSegmentsMax)
                                : "shared receives");
    }
}
