package dev.verbena.ugni;

import dev.verbena.ugni.bindings.ugni;

/** How far a datagram is, {@code gni_post_state_t} in C. */
public final class DatagramState {
    /** Nobody has answered yet. */
    public static final int PENDING = ugni.GNI_POST_PENDING;

    /** Exchanged: the peer's bytes are here. */
    public static final int COMPLETED = ugni.GNI_POST_COMPLETED;

    public static final int ERROR = ugni.GNI_POST_ERROR;

    /** The peer did not come in time. */
    public static final int TIMEOUT = ugni.GNI_POST_TIMEOUT;

    /** Cancelled, here or there. */
    public static final int TERMINATED = ugni.GNI_POST_TERMINATED;

    /** The peer's bytes wait here, and nothing was posted towards it yet. */
    public static final int REMOTE_DATA = ugni.GNI_POST_REMOTE_DATA;

    /** Not uGNI: there is no such datagram. */
    public static final int NONE = -1;

    private DatagramState() {}

    /** Text for people. */
    public static String name(int state) {
        return switch (state) {
            case PENDING -> "pending";
            case COMPLETED -> "completed";
            case TIMEOUT -> "timed out";
            case TERMINATED -> "terminated";
            case REMOTE_DATA -> "the peer's bytes wait";
            case NONE -> "no such datagram";
            default -> "error";
        };
    }
}
