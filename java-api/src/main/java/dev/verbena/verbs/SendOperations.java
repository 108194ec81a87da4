package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * What a {@link SendBuilder} may build: {@code enum ibv_qp_create_send_ops_flags}, to be combined
 * by or. A device refuses to make a queue pair for what its kind cannot do.
 */
public final class SendOperations {
    /** {@link SendRequestFlyweight#send}. */
    public static final int SEND = VerbsLayout.IBV_QP_EX_WITH_SEND;

    /** {@link SendRequestFlyweight#sendImmediate}. */
    public static final int SEND_IMMEDIATE = VerbsLayout.IBV_QP_EX_WITH_SEND_WITH_IMM;

    /** {@link SendRequestFlyweight#sendInvalidate}. */
    public static final int SEND_INVALIDATE = VerbsLayout.IBV_QP_EX_WITH_SEND_WITH_INV;

    /** {@link SendRequestFlyweight#write}. */
    public static final int WRITE = VerbsLayout.IBV_QP_EX_WITH_RDMA_WRITE;

    /** {@link SendRequestFlyweight#writeImmediate}. */
    public static final int WRITE_IMMEDIATE = VerbsLayout.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;

    /** {@link SendRequestFlyweight#read}. */
    public static final int READ = VerbsLayout.IBV_QP_EX_WITH_RDMA_READ;

    /** {@link SendRequestFlyweight#compareSwap}. */
    public static final int COMPARE_SWAP = VerbsLayout.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP;

    /** {@link SendRequestFlyweight#fetchAdd}. */
    public static final int FETCH_ADD = VerbsLayout.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

    /** {@link SendRequestFlyweight#localInvalidate}. */
    public static final int LOCAL_INVALIDATE = VerbsLayout.IBV_QP_EX_WITH_LOCAL_INV;

    /** {@link SendRequestFlyweight#bindWindow}. */
    public static final int BIND_WINDOW = VerbsLayout.IBV_QP_EX_WITH_BIND_MW;

    /** What every device can do with datagrams. */
    public static final int DATAGRAM = SEND | SEND_IMMEDIATE;

    /** What every device can do with unreliable connections. */
    public static final int UNRELIABLE = DATAGRAM | WRITE | WRITE_IMMEDIATE;

    /** What nearly every device can do with reliable connections. */
    public static final int RELIABLE = UNRELIABLE | READ | COMPARE_SWAP | FETCH_ADD;

    private static final int KNOWN = RELIABLE | SEND_INVALIDATE | LOCAL_INVALIDATE | BIND_WINDOW;

    private SendOperations() {}

    /** {@code enum ibv_wr_opcode} of one operation. */
    static int opcode(int operation) {
        return switch (operation) {
            case SEND -> VerbsLayout.IBV_WR_SEND;
            case SEND_IMMEDIATE -> VerbsLayout.IBV_WR_SEND_WITH_IMM;
            case SEND_INVALIDATE -> VerbsLayout.IBV_WR_SEND_WITH_INV;
            case WRITE -> VerbsLayout.IBV_WR_RDMA_WRITE;
            case WRITE_IMMEDIATE -> VerbsLayout.IBV_WR_RDMA_WRITE_WITH_IMM;
            case READ -> VerbsLayout.IBV_WR_RDMA_READ;
            case COMPARE_SWAP -> VerbsLayout.IBV_WR_ATOMIC_CMP_AND_SWP;
            case FETCH_ADD -> VerbsLayout.IBV_WR_ATOMIC_FETCH_AND_ADD;
            case LOCAL_INVALIDATE -> VerbsLayout.IBV_WR_LOCAL_INV;
            case BIND_WINDOW -> VerbsLayout.IBV_WR_BIND_MW;
            default ->
                    throw new IllegalArgumentException(
                            "0x" + Integer.toHexString(operation) + " is not one operation");
        };
    }

    static void check(int operations) {
        if ((operations & ~KNOWN) != 0) {
            throw new IllegalArgumentException(
                    "operations 0x%s have bits that SendOperations lacks"
                            .formatted(Integer.toHexString(operations)));
        }
    }
}
