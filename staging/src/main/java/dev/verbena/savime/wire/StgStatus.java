package dev.verbena.savime.wire;

/** Status codes of STG/1 (specification, section 4.5). */
public final class StgStatus {
    public static final int OK = 0;
    public static final int BAD_MESSAGE = 1;
    public static final int BAD_VERSION = 2;
    public static final int AUTH_FAILED = 3;
    public static final int BAD_NAME = 4;
    public static final int DUPLICATE = 5;
    public static final int BAD_SIZE = 6;
    public static final int NO_SPACE = 7;
    public static final int NO_SUCH_DATASET = 8;
    public static final int BAD_RANGE = 9;
    public static final int PIN_LIMIT = 10;
    public static final int IO_ERROR = 11;
    public static final int CHECKSUM = 12;
    public static final int CANCELLED = 13;
    public static final int SINK_DOWN = 14;
    public static final int SINK_REJECTED = 15;
    public static final int PREDECESSOR_FAILED = 16;
    public static final int SHUTTING_DOWN = 17;
    public static final int TIMEOUT = 18;
    public static final int TOO_MANY = 19;
    public static final int PARTIAL = 20;

    /** Only within a client: the connection to the server was lost. Never travels. */
    public static final int SERVER_LOST = 64;

    private static final String[] NAMES = {
        "OK",
        "BAD_MESSAGE",
        "BAD_VERSION",
        "AUTH_FAILED",
        "BAD_NAME",
        "DUPLICATE",
        "BAD_SIZE",
        "NO_SPACE",
        "NO_SUCH_DATASET",
        "BAD_RANGE",
        "PIN_LIMIT",
        "IO_ERROR",
        "CHECKSUM",
        "CANCELLED",
        "SINK_DOWN",
        "SINK_REJECTED",
        "PREDECESSOR_FAILED",
        "SHUTTING_DOWN",
        "TIMEOUT",
        "TOO_MANY",
        "PARTIAL"
    };

    private StgStatus() {}

    /** Its name, also of a code that is not known. */
    public static String name(int status) {
        if (status == SERVER_LOST) {
            return "SERVER_LOST";
        }
        return status < 0 || status >= NAMES.length ? "status " + status : NAMES[status];
    }
}
