package dev.verbena.verbs;

import dev.verbena.rdma.calls.VerbsLayout;

/** How a work request ended: {@code enum ibv_wc_status}, its names and what they mean. */
public final class CompletionStatus {
    /** Done. */
    public static final int SUCCESS = VerbsLayout.IBV_WC_SUCCESS;

    /** A local segment, or the receive that took a message, is too short. */
    public static final int LOCAL_LENGTH = VerbsLayout.IBV_WC_LOC_LEN_ERR;

    /** The queue pair found itself inconsistent. */
    public static final int LOCAL_OPERATION = VerbsLayout.IBV_WC_LOC_QP_OP_ERR;

    /** A local segment is not (any more) registered memory of this domain. */
    public static final int LOCAL_PROTECTION = VerbsLayout.IBV_WC_LOC_PROT_ERR;

    /** The queue pair went to error before the request was carried out. */
    public static final int FLUSHED = VerbsLayout.IBV_WC_WR_FLUSH_ERR;

    /** A memory window was not bound. */
    public static final int WINDOW_BIND = VerbsLayout.IBV_WC_MW_BIND_ERR;

    /** The peer refused the request as invalid: too long for its receive, wrong operation. */
    public static final int REMOTE_INVALID = VerbsLayout.IBV_WC_REM_INV_REQ_ERR;

    /** Wrong remote key, range or right. */
    public static final int REMOTE_ACCESS = VerbsLayout.IBV_WC_REM_ACCESS_ERR;

    /** The peer could not carry it out. */
    public static final int REMOTE_OPERATION = VerbsLayout.IBV_WC_REM_OP_ERR;

    /** The peer did not answer within all retries: dead, unreachable or wrongly addressed. */
    public static final int RETRIES_EXCEEDED = VerbsLayout.IBV_WC_RETRY_EXC_ERR;

    /** The peer had no receive posted within all retries. */
    public static final int NO_RECEIVE = VerbsLayout.IBV_WC_RNR_RETRY_EXC_ERR;

    private CompletionStatus() {}

    /** Name and meaning, for people. */
    public static String text(int status) {
        return switch (status) {
            case SUCCESS -> "success";
            case LOCAL_LENGTH -> "LOC_LEN_ERR: a local segment or the receive is too short";
            case LOCAL_OPERATION -> "LOC_QP_OP_ERR: the queue pair is inconsistent";
            case VerbsLayout.IBV_WC_LOC_EEC_OP_ERR -> "LOC_EEC_OP_ERR";
            case LOCAL_PROTECTION ->
                    "LOC_PROT_ERR: a segment is not registered memory of this domain";
            case FLUSHED -> "WR_FLUSH_ERR: the queue pair went to error before";
            case WINDOW_BIND -> "MW_BIND_ERR: the memory window was not bound";
            case VerbsLayout.IBV_WC_BAD_RESP_ERR -> "BAD_RESP_ERR: the peer answered nonsense";
            case VerbsLayout.IBV_WC_LOC_ACCESS_ERR -> "LOC_ACCESS_ERR: no right to write here";
            case REMOTE_INVALID ->
                    "REM_INV_REQ_ERR: the peer refused it (its receive too short, operation not"
                            + " allowed)";
            case REMOTE_ACCESS -> "REM_ACCESS_ERR: wrong remote key, range or right";
            case REMOTE_OPERATION -> "REM_OP_ERR: the peer could not carry it out";
            case RETRIES_EXCEEDED -> "RETRY_EXC_ERR: the peer does not answer";
            case NO_RECEIVE -> "RNR_RETRY_EXC_ERR: the peer posts no receive";
            case VerbsLayout.IBV_WC_LOC_RDD_VIOL_ERR -> "LOC_RDD_VIOL_ERR";
            case VerbsLayout.IBV_WC_REM_INV_RD_REQ_ERR -> "REM_INV_RD_REQ_ERR";
            case VerbsLayout.IBV_WC_REM_ABORT_ERR -> "REM_ABORT_ERR: the peer gave up";
            case VerbsLayout.IBV_WC_INV_EECN_ERR -> "INV_EECN_ERR";
            case VerbsLayout.IBV_WC_INV_EEC_STATE_ERR -> "INV_EEC_STATE_ERR";
            case VerbsLayout.IBV_WC_FATAL_ERR -> "FATAL_ERR: the device failed";
            case VerbsLayout.IBV_WC_RESP_TIMEOUT_ERR -> "RESP_TIMEOUT_ERR";
            case VerbsLayout.IBV_WC_GENERAL_ERR -> "GENERAL_ERR";
            case VerbsLayout.IBV_WC_TM_ERR -> "TM_ERR";
            case VerbsLayout.IBV_WC_TM_RNDV_INCOMPLETE -> "TM_RNDV_INCOMPLETE";
            default -> "status " + status;
        };
    }
}
