package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/**
 * What the completions of an extended queue tell beside id, status, kind and flags: {@code enum
 * ibv_create_cq_wc_flags}, to be combined by or. Each costs a call of the driver per completion.
 */
public final class CompletionDetails {
    /** {@link CompletionFlyweight#length}. */
    public static final int LENGTH = VerbsLayout.IBV_WC_EX_WITH_BYTE_LEN;

    /** {@link CompletionFlyweight#immediate} and {@link CompletionFlyweight#invalidatedKey}. */
    public static final int IMMEDIATE = VerbsLayout.IBV_WC_EX_WITH_IMM;

    /** {@link CompletionFlyweight#queuePairNumber}. */
    public static final int QUEUE_PAIR = VerbsLayout.IBV_WC_EX_WITH_QP_NUM;

    /** {@link CompletionFlyweight#sourceQueuePair}. */
    public static final int SOURCE_QUEUE_PAIR = VerbsLayout.IBV_WC_EX_WITH_SRC_QP;

    /** {@link CompletionFlyweight#sourceLid}. */
    public static final int SOURCE_LID = VerbsLayout.IBV_WC_EX_WITH_SLID;

    /** {@link CompletionFlyweight#serviceLevel}. */
    public static final int SERVICE_LEVEL = VerbsLayout.IBV_WC_EX_WITH_SL;

    /** Which of the LIDs of a port was meant; only for what reads flags. */
    public static final int PATH_BITS = VerbsLayout.IBV_WC_EX_WITH_DLID_PATH_BITS;

    /** {@link CompletionFlyweight#timestamp}. */
    public static final int TIMESTAMP = VerbsLayout.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;

    /** {@link CompletionFlyweight#wallClockNs}. */
    public static final int WALL_CLOCK = VerbsLayout.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;

    /** {@link CompletionFlyweight#vlan}. */
    public static final int VLAN = VerbsLayout.IBV_WC_EX_WITH_CVLAN;

    /** {@link CompletionFlyweight#flowTag}. */
    public static final int FLOW_TAG = VerbsLayout.IBV_WC_EX_WITH_FLOW_TAG;

    /** What every device offers; the same as the completions of a plain queue have. */
    public static final int STANDARD =
            LENGTH
                    | IMMEDIATE
                    | QUEUE_PAIR
                    | SOURCE_QUEUE_PAIR
                    | SOURCE_LID
                    | SERVICE_LEVEL
                    | PATH_BITS;

    private static final int KNOWN = STANDARD | TIMESTAMP | WALL_CLOCK | VLAN | FLOW_TAG;

    private CompletionDetails() {}

    static void check(int details) {
        if ((details & ~KNOWN) != 0) {
            throw new IllegalArgumentException(
                    "details 0x%s have bits that CompletionDetails lacks"
                            .formatted(Integer.toHexString(details)));
        }
    }
}
