package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;

/**
 * Kinds of event, {@code PTL_EVENT_...} in C. START and END frame one operation at a descriptor;
 * ACK says at the initiator that a put has been placed; UNLINK is the last event of a descriptor
 * that used itself up.
 */
public final class PortalsEventKind {
    public static final int GET_START = portals.PTL_EVENT_GET_START;
    public static final int GET_END = portals.PTL_EVENT_GET_END;
    public static final int PUT_START = portals.PTL_EVENT_PUT_START;
    public static final int PUT_END = portals.PTL_EVENT_PUT_END;
    public static final int GETPUT_START = portals.PTL_EVENT_GETPUT_START;
    public static final int GETPUT_END = portals.PTL_EVENT_GETPUT_END;
    public static final int REPLY_START = portals.PTL_EVENT_REPLY_START;
    public static final int REPLY_END = portals.PTL_EVENT_REPLY_END;
    public static final int SEND_START = portals.PTL_EVENT_SEND_START;
    public static final int SEND_END = portals.PTL_EVENT_SEND_END;
    public static final int ACK = portals.PTL_EVENT_ACK;
    public static final int UNLINK = portals.PTL_EVENT_UNLINK;

    private static final String[] NAMES = {
        "GET_START",
        "GET_END",
        "PUT_START",
        "PUT_END",
        "GETPUT_START",
        "GETPUT_END",
        "REPLY_START",
        "REPLY_END",
        "SEND_START",
        "SEND_END",
        "ACK",
        "UNLINK"
    };

    private PortalsEventKind() {}

    /** Name for messages to people. */
    public static String name(int kind) {
        return kind >= 0 && kind < NAMES.length ? NAMES[kind] : "event kind " + kind;
    }
}
