package dev.verbena.ugni.transport;

import dev.verbena.ugni.bindings.ugni;
import org.bytedeco.javacpp.BytePointer;

/** Values of {@code gni_pub.h} that the transport uses, and how calls that failed are told. */
final class Gni {
    static final int NOT_DONE = 1;
    static final int INVALID_STATE = 8;
    static final int ERROR_RESOURCE = 3;
    static final int TIMEOUT = 4;
    static final int PERMISSION_ERROR = 5;
    static final int DESCRIPTOR_ERROR = 6;
    static final int TRANSACTION_ERROR = 11;

    static final int MEM_READ_ONLY = 1;
    static final int GLOBAL_EVENT = 2;
    static final int REMOTE_EVENT = 4;
    static final int TYPE_SMSG = 1;
    static final int ANY_TAG = 0xFF;

    static final int RDMA_PUT = 1;
    static final int RDMA_GET = 2;
    static final int FMA_PUT = 3;
    static final int FMA_PUT_W_SYNCFLAG = 4;
    static final int FMA_GET = 5;
    static final int AMO = 6;
    static final int FETCH_ADD = 0x008;
    static final int COMPARE_SWAP = 0x00D;

    static final int POST_COMPLETED = 1;
    static final int DATAGRAM_LENGTH = 128;

    static final int PEER_STOPPED = 1;
    static final int PEER_DEAD = 2;

    /** Hardware statuses of an event. */
    static final int STATUS_MDD_INVALID = 7;

    static final int STATUS_PROTECTION = 8;
    static final int STATUS_BOUNDS = 9;
    static final int STATUS_READ_ONLY = 10;
    static final int STATUS_UNREACHABLE = 11;

    /** Another process sits on what it needs. */
    static final int STATUS_BUSY = 13;

    /** How the functions begin that only our own library has. */
    private static final String EXTENSION = "GNI_Ext";

    private static final int TYPE_SHIFT = 54;
    private static final int TYPE_MASK = 3;
    private static final String[] NAMES = {
        "SUCCESS",
        "NOT_DONE",
        "INVALID_PARAM",
        "ERROR_RESOURCE",
        "TIMEOUT",
        "PERMISSION_ERROR",
        "DESCRIPTOR_ERROR",
        "ALIGNMENT_ERROR",
        "INVALID_STATE",
        "NO_MATCH",
        "SIZE_ERROR",
        "TRANSACTION_ERROR",
        "ILLEGAL_OP",
        "ERROR_NOMEM"
    };

    private Gni() {}

    /** The first function of {@code gni_ext.h} that the library in use lacks, or null. */
    static String missingExtension() {
        int count = ugni.vgn_function_count();
        for (int row = 0; row < count; row++) {
            String name = ugni.vgn_function_name(row).getString();
            if (name.startsWith(EXTENSION) && ugni.vgn_function_present(row) == 0) {
                return name;
            }
        }
        return null;
    }

    /** Kind of an event of a source queue. */
    static int type(long entry) {
        return (int) (entry >>> TYPE_SHIFT) & TYPE_MASK;
    }

    /** What a call that failed says: its name, the code's, and the library's reason. */
    static String failure(String call, long result) {
        int code = (int) -result;
        String name = code >= 0 && code < NAMES.length ? NAMES[code] : String.valueOf(code);
        String why = reason(call, code);
        return call + ": GNI_RC_" + name + (why.isEmpty() ? "" : ": " + why);
    }

    private static String reason(String call, int code) {
        BytePointer said = ugni.vgn_error();
        String text = said == null || said.isNull() ? "" : said.getString();
        // What tells of damaged memory names no call. All else may be of an earlier call.
        boolean isOfThis =
                text.startsWith("GNI_")
                        ? call.startsWith(text.split(":", 2)[0])
                        : code == INVALID_STATE;
        return isOfThis ? text : "";
    }

    /**
     * Checks a call that must succeed.
     *
     * @throws GniFailure naming it
     */
    static long must(String call, long result) {
        if (result < 0) {
            throw new GniFailure(failure(call, result), (int) -result);
        }
        return result;
    }
}
