package dev.verbena.portals;

import dev.verbena.portals.bindings.portals;

/** Return codes of Portals calls, {@code PTL_...} in C. */
public final class PortalsCode {
    public static final int OK = portals.PTL_OK;
    public static final int AC_INDEX_INVALID = portals.PTL_AC_INDEX_INVALID;
    public static final int EQ_DROPPED = portals.PTL_EQ_DROPPED;
    public static final int EQ_EMPTY = portals.PTL_EQ_EMPTY;
    public static final int EQ_INVALID = portals.PTL_EQ_INVALID;
    public static final int FAIL = portals.PTL_FAIL;
    public static final int HANDLE_INVALID = portals.PTL_HANDLE_INVALID;
    public static final int IFACE_INVALID = portals.PTL_IFACE_INVALID;
    public static final int MD_ILLEGAL = portals.PTL_MD_ILLEGAL;
    public static final int MD_INVALID = portals.PTL_MD_INVALID;
    public static final int MD_IN_USE = portals.PTL_MD_IN_USE;
    public static final int MD_NO_UPDATE = portals.PTL_MD_NO_UPDATE;
    public static final int ME_INVALID = portals.PTL_ME_INVALID;
    public static final int ME_IN_USE = portals.PTL_ME_IN_USE;
    public static final int ME_LIST_TOO_LONG = portals.PTL_ME_LIST_TOO_LONG;
    public static final int NI_INVALID = portals.PTL_NI_INVALID;
    public static final int NO_INIT = portals.PTL_NO_INIT;
    public static final int NO_SPACE = portals.PTL_NO_SPACE;
    public static final int PID_INVALID = portals.PTL_PID_INVALID;
    public static final int PROCESS_INVALID = portals.PTL_PROCESS_INVALID;
    public static final int PT_FULL = portals.PTL_PT_FULL;
    public static final int PT_INDEX_INVALID = portals.PTL_PT_INDEX_INVALID;
    public static final int SEGV = portals.PTL_SEGV;
    public static final int SR_INDEX_INVALID = portals.PTL_SR_INDEX_INVALID;

    private PortalsCode() {}

    /** C name, for messages to people. */
    public static String name(int code) {
        String name = portals.PtlErrorStr(code).getString();
        return name.startsWith("PTL_") ? name : "Portals code " + code;
    }
}
