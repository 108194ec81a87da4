package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;
import org.bytedeco.javacpp.BytePointer;

/**
 * Return codes of uGNI calls, {@code GNI_RC_...} in C. Calls that move data answer them negated.
 */
public final class UgniCode {
    public static final int SUCCESS = ugni.GNI_RC_SUCCESS;

    /** Nothing there yet, or no credit: try again. */
    public static final int NOT_DONE = ugni.GNI_RC_NOT_DONE;

    public static final int INVALID_PARAM = ugni.GNI_RC_INVALID_PARAM;

    /** No free request, record or registration; a full or overrun queue. */
    public static final int ERROR_RESOURCE = ugni.GNI_RC_ERROR_RESOURCE;

    public static final int TIMEOUT = ugni.GNI_RC_TIMEOUT;
    public static final int PERMISSION_ERROR = ugni.GNI_RC_PERMISSION_ERROR;

    /** The event does not belong to a post. */
    public static final int DESCRIPTOR_ERROR = ugni.GNI_RC_DESCRIPTOR_ERROR;

    public static final int ALIGNMENT_ERROR = ugni.GNI_RC_ALIGNMENT_ERROR;
    public static final int INVALID_STATE = ugni.GNI_RC_INVALID_STATE;
    public static final int NO_MATCH = ugni.GNI_RC_NO_MATCH;
    public static final int SIZE_ERROR = ugni.GNI_RC_SIZE_ERROR;

    /** The transaction was carried out and failed: see the event's status. */
    public static final int TRANSACTION_ERROR = ugni.GNI_RC_TRANSACTION_ERROR;

    public static final int ILLEGAL_OP = ugni.GNI_RC_ILLEGAL_OP;
    public static final int ERROR_NOMEM = ugni.GNI_RC_ERROR_NOMEM;

    /** Not uGNI: the library that was chosen lacks the function. */
    public static final int MISSING = ugni.VGN_MISSING;

    private static final String[] NAMES = {
        "GNI_RC_SUCCESS",
        "GNI_RC_NOT_DONE",
        "GNI_RC_INVALID_PARAM",
        "GNI_RC_ERROR_RESOURCE",
        "GNI_RC_TIMEOUT",
        "GNI_RC_PERMISSION_ERROR",
        "GNI_RC_DESCRIPTOR_ERROR",
        "GNI_RC_ALIGNMENT_ERROR",
        "GNI_RC_INVALID_STATE",
        "GNI_RC_NO_MATCH",
        "GNI_RC_SIZE_ERROR",
        "GNI_RC_TRANSACTION_ERROR",
        "GNI_RC_ILLEGAL_OP",
        "GNI_RC_ERROR_NOMEM"
    };

    private UgniCode() {}

    /** C name, for messages to people; of negated codes, too. */
    public static String name(int code) {
        int positive = Math.abs(code);
        if (positive == MISSING) {
            return "function missing in the library";
        }
        return positive < NAMES.length ? NAMES[positive] : "uGNI code " + code;
    }

    /** What a call that failed says: its name, the code's, and the library's reason. */
    public static String failure(String call, long result) {
        int code = (int) -result;
        String why = reason(call, code);
        return call + ": " + name(code) + (why.isEmpty() ? "" : ": " + why);
    }

    /** What the library says of this thread's last call, which failed; may be empty. */
    static String reason(String call, int code) {
        BytePointer said = ugni.vgn_error();
        String text = said == null || said.isNull() ? "" : said.getString();
        // What tells of damaged memory names no call. All else may be of an earlier call.
        boolean isOfThis =
                text.startsWith("GNI_")
                        ? call.startsWith(text.split(":", 2)[0])
                        : code == INVALID_STATE;
        return isOfThis ? text : "";
    }
}
