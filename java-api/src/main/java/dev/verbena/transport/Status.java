package dev.verbena.transport;

/** How an operation ended. {@code PEER_DEAD} means: may or may not have happened. */
public final class Status {
    public static final int OK = 0;

    /** The descriptor does not grant this right. */
    public static final int ACCESS = 1;

    /** Outside the range of the descriptor or of the registration. */
    public static final int BOUNDS = 2;

    /**
     * The registration is gone, or the descriptor was not made by this peer's present incarnation.
     */
    public static final int STALE_KEY = 3;

    /** The peer died or is unreachable: the operation may or may not have happened. */
    public static final int PEER_DEAD = 4;

    /** Given up because the connection ended before the operation started. */
    public static final int FLUSHED = 5;

    public static final int TIMED_OUT = 6;
    public static final int CANCELLED = 7;

    /** A bug or a corrupted segment; the error log has more. */
    public static final int INTERNAL = 8;

    /**
     * Connect only: the peer said no, is not of this job or protection domain, or its address names
     * an incarnation that is gone. The same attempt would fail again.
     */
    public static final int REFUSED = 9;

    /**
     * Connect only: nobody is at that address, or who is there does not listen. The same attempt
     * may succeed later.
     */
    public static final int NOT_LISTENING = 10;

    private static final String[] NAMES = {
        "OK",
        "ACCESS",
        "BOUNDS",
        "STALE_KEY",
        "PEER_DEAD",
        "FLUSHED",
        "TIMED_OUT",
        "CANCELLED",
        "INTERNAL",
        "REFUSED",
        "NOT_LISTENING"
    };

    private Status() {}

    /** Name for messages to people. */
    public static String name(int status) {
        return status >= 0 && status < NAMES.length ? NAMES[status] : "status " + status;
    }
}
