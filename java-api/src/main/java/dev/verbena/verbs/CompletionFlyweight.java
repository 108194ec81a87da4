package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * View of one {@code struct ibv_wc}, in native byte order, at the offsets of the C compiler. Valid
 * until its queue is polled again. Of a completion with an error only {@link #id}, {@link #status},
 * {@link #vendorError} and {@link #queuePairNumber} mean anything.
 */
public final class CompletionFlyweight {
    /** Bytes of a completion. */
    public static final int LENGTH = VerbsLayout.WC_SIZEOF;

    /** Kinds of request, as {@link #opcode} tells them. */
    public static final int SEND = VerbsLayout.IBV_WC_SEND;

    /** An RDMA write. */
    public static final int WRITE = VerbsLayout.IBV_WC_RDMA_WRITE;

    /** An RDMA read. */
    public static final int READ = VerbsLayout.IBV_WC_RDMA_READ;

    /** A compare-and-swap. */
    public static final int COMPARE_SWAP = VerbsLayout.IBV_WC_COMP_SWAP;

    /** A fetch-and-add. */
    public static final int FETCH_ADD = VerbsLayout.IBV_WC_FETCH_ADD;

    /** A bound window. */
    public static final int BIND_WINDOW = VerbsLayout.IBV_WC_BIND_MW;

    /** An invalidated key. */
    public static final int LOCAL_INVALIDATE = VerbsLayout.IBV_WC_LOCAL_INV;

    /** A message was received. */
    public static final int RECEIVE = VerbsLayout.IBV_WC_RECV;

    /** A peer's write with immediate data took a receive. */
    public static final int RECEIVE_WRITE_IMMEDIATE = VerbsLayout.IBV_WC_RECV_RDMA_WITH_IMM;

    /** Bytes of a completion of an extended queue: {@code struct vv_completion}. */
    static final int EXTENDED_LENGTH = LENGTH + 24;

    private static final int TIMESTAMP = LENGTH;
    private static final int WALL_CLOCK = LENGTH + 8;
    private static final int FLOW_TAG = LENGTH + 16;
    private static final int VLAN = LENGTH + 20;

    private static final DirectBuffer NOTHING = new UnsafeBuffer(new byte[0]);

    private final int details;
    private DirectBuffer buffer;
    private int offset;

    /**
     * @param details of {@link CompletionDetails}; 0: of a plain queue
     */
    CompletionFlyweight(int details, DirectBuffer buffer) {
        this.details = details;
        this.buffer = buffer;
    }

    /**
     * Its queue is closed. A thread that reads it at this moment reads what was there, or nothing.
     */
    void end() {
        buffer = NOTHING;
    }

    CompletionFlyweight moveTo(int offset) {
        this.offset = offset;
        return this;
    }

    /** What the request was posted with. */
    public long id() {
        return buffer.getLong(offset + VerbsLayout.WC_WR_ID);
    }

    /** One of {@link CompletionStatus}. */
    public int status() {
        return buffer.getInt(offset + VerbsLayout.WC_STATUS);
    }

    /** True for {@link CompletionStatus#SUCCESS}. */
    public boolean isSuccess() {
        return status() == CompletionStatus.SUCCESS;
    }

    /** One of the kinds above. */
    public int opcode() {
        return buffer.getInt(offset + VerbsLayout.WC_OPCODE);
    }

    /** The maker's own error code. */
    public int vendorError() {
        return buffer.getInt(offset + VerbsLayout.WC_VENDOR_ERR);
    }

    /** Bytes received, or read; undefined for sends and writes. */
    public int length() {
        return buffer.getInt(offset + VerbsLayout.WC_BYTE_LEN);
    }

    /** True if {@link #immediate} is there. */
    public boolean hasImmediate() {
        return (flags() & VerbsLayout.IBV_WC_WITH_IMM) != 0;
    }

    /** The peer's 32 bits, as it posted them. */
    public int immediate() {
        return Integer.reverseBytes(buffer.getInt(offset + VerbsLayout.WC_IMM_DATA));
    }

    /** True if a key was invalidated here by the peer's send. */
    public boolean hasInvalidatedKey() {
        return (flags() & VerbsLayout.IBV_WC_WITH_INV) != 0;
    }

    /** The key that the peer's send invalidated. */
    public int invalidatedKey() {
        return buffer.getInt(offset + VerbsLayout.WC_INVALIDATED_RKEY);
    }

    /** Number of the queue pair here. */
    public int queuePairNumber() {
        return buffer.getInt(offset + VerbsLayout.WC_QP_NUM);
    }

    /** Number of the peer's queue pair; of datagrams. */
    public int sourceQueuePair() {
        return buffer.getInt(offset + VerbsLayout.WC_SRC_QP);
    }

    /** True if a global route header stands in the first 40 bytes; of datagrams. */
    public boolean hasRouteHeader() {
        return (flags() & VerbsLayout.IBV_WC_GRH) != 0;
    }

    /** {@code enum ibv_wc_flags}. */
    public int flags() {
        return buffer.getInt(offset + VerbsLayout.WC_WC_FLAGS);
    }

    /** Service level; of datagrams. */
    public int serviceLevel() {
        return buffer.getByte(offset + VerbsLayout.WC_SL) & 0xff;
    }

    /** The structure as C reads it. */
    byte[] structure() {
        byte[] bytes = new byte[LENGTH];
        buffer.getBytes(offset, bytes);
        return bytes;
    }

    /** LID of the peer; of datagrams. */
    public int sourceLid() {
        return buffer.getShort(offset + VerbsLayout.WC_SLID) & 0xffff;
    }

    /**
     * When it completed, by the device's clock, in its ticks; {@code hca_core_clock} of {@link
     * DeviceAttributes} says how many kHz.
     *
     * @throws IllegalStateException on a queue made without {@link CompletionDetails#TIMESTAMP}
     */
    public long timestamp() {
        check(CompletionDetails.TIMESTAMP, "TIMESTAMP");
        return buffer.getLong(offset + TIMESTAMP);
    }

    /**
     * When it completed, in nanoseconds since 1970.
     *
     * @throws IllegalStateException on a queue made without {@link CompletionDetails#WALL_CLOCK}
     */
    public long wallClockNs() {
        check(CompletionDetails.WALL_CLOCK, "WALL_CLOCK");
        return buffer.getLong(offset + WALL_CLOCK);
    }

    /**
     * Tag of the flow that a packet was steered by.
     *
     * @throws IllegalStateException on a queue made without {@link CompletionDetails#FLOW_TAG}
     */
    public int flowTag() {
        check(CompletionDetails.FLOW_TAG, "FLOW_TAG");
        return buffer.getInt(offset + FLOW_TAG);
    }

    /**
     * VLAN that the device took off a packet.
     *
     * @throws IllegalStateException on a queue made without {@link CompletionDetails#VLAN}
     */
    public int vlan() {
        check(CompletionDetails.VLAN, "VLAN");
        return buffer.getInt(offset + VLAN);
    }

    private void check(int detail, String name) {
        if ((details & detail) == 0) {
            throw new IllegalStateException("the queue was made without CompletionDetails." + name);
        }
    }

    @Override
    public String toString() {
        return "completion of %s on queue pair %s: %s"
                .formatted(id(), queuePairNumber(), CompletionStatus.text(status()));
    }
}
