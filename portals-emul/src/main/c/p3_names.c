/* Texts of codes and events, and the calls that do nothing here. */
#include "p3_library.h"

const char *ptl_err_str[] = {
    "PTL_OK",
    "PTL_AC_INDEX_INVALID",
    "PTL_EQ_DROPPED",
    "PTL_EQ_EMPTY",
    "PTL_EQ_INVALID",
    "PTL_FAIL",
    "PTL_HANDLE_INVALID",
    "PTL_IFACE_INVALID",
    "PTL_MD_ILLEGAL",
    "PTL_MD_INVALID",
    "PTL_MD_IN_USE",
    "PTL_MD_NO_UPDATE",
    "PTL_ME_INVALID",
    "PTL_ME_IN_USE",
    "PTL_ME_LIST_TOO_LONG",
    "PTL_NI_INVALID",
    "PTL_NO_INIT",
    "PTL_NO_SPACE",
    "PTL_PID_INVALID",
    "PTL_PROCESS_INVALID",
    "PTL_PT_FULL",
    "PTL_PT_INDEX_INVALID",
    "PTL_SEGV",
    "PTL_SR_INDEX_INVALID",
    "PTL_UNKNOWN_ERROR",
    "PTL_MAX_ERRNO",
    "PTL_IFACE_DUP",
    "PTL_EQ_IN_USE",
    "PTL_IOV_INVALID",
};

const char *ptl_event_str[] = {
    "PTL_EVENT_GET_START",   "PTL_EVENT_GET_END",      "PTL_EVENT_PUT_START",
    "PTL_EVENT_PUT_END",     "PTL_EVENT_GETPUT_START", "PTL_EVENT_GETPUT_END",
    "PTL_EVENT_REPLY_START", "PTL_EVENT_REPLY_END",    "PTL_EVENT_SEND_START",
    "PTL_EVENT_SEND_END",    "PTL_EVENT_ACK",          "PTL_EVENT_UNLINK",
};

static const char *const fail_str[] = {
    "PTL_NI_OK",
    "PTL_NI_FAIL",
    "the target process cannot be reached",
    "the target process died during the operation",
    "memory could not be reached",
    "the initiating process died during the operation",
    "a stopped process holds the target's lock",
    "the target's segment holds nonsense",
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

const char *PtlErrorStr(unsigned code)
{
    return code < COUNT(ptl_err_str) ? ptl_err_str[code] : "unknown Portals code";
}

const char *PtlEventKindStr(ptl_event_kind_t kind)
{
    return (unsigned)kind < COUNT(ptl_event_str) ? ptl_event_str[kind] : "unknown Portals event";
}

const char *PtlNIFailStr(ptl_handle_ni_t ni_handle, ptl_ni_fail_t fail)
{
    (void)ni_handle;
    return fail < COUNT(fail_str) ? fail_str[fail] : "unknown failure";
}

unsigned PtlNIDebug(ptl_handle_ni_t ni_handle, unsigned mask)
{
    struct p3_ni *ni;
    unsigned before;

    if (p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni) != PTL_OK)
        return 0;
    before = atomic_exchange_explicit(&ni->debug, mask, memory_order_relaxed);
    p3_ni_leave(ni);
    return before;
}

int PtlProgress(ptl_handle_any_t handle, ptl_time_t timeout)
{
    (void)handle;
    (void)timeout;
    return PTL_OK;
}
