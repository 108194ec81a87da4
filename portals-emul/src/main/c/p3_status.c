/* Questions about an interface, and its access control table. */
#include "p3_library.h"

static int register_known(ptl_sr_index_t index)
{
    return index <= PTL_SR_SEND_LENGTH || index == PTL_SR_MES_MAX || index == PTL_SR_MES_CUR ||
           index == PTL_SR_MDS_MAX || index == PTL_SR_MDS_CUR || index == PTL_SR_EQS_MAX ||
           index == PTL_SR_EQS_CUR;
}

int PtlNIStatus(ptl_handle_ni_t ni_handle, ptl_sr_index_t register_index, ptl_sr_value_t *status)
{
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, status, "PtlNIStatus: status", &ni);

    if (code != PTL_OK)
        return code;
    if (!register_known(register_index))
        code = p3_fail(PTL_SR_INDEX_INVALID, "PtlNIStatus: no register %u", register_index);
    else
        *status = atomic_load_explicit(&ni->view.area->sr[register_index], memory_order_relaxed) +
                  (register_index <= PTL_SR_SEND_LENGTH
                       ? atomic_load_explicit(&ni->own_sr[register_index], memory_order_relaxed)
                       : 0);
    p3_ni_leave(ni);
    return code;
}

int PtlNIDist(ptl_handle_ni_t ni_handle, ptl_process_id_t process, unsigned long *distance)
{
    struct p3_ni *ni;
    uint32_t pid = process.pid & 0xffffu;
    int code = p3_ni_enter_to(ni_handle, distance, "PtlNIDist: distance", &ni);

    if (code != PTL_OK)
        return code;
    if (process.nid == PTL_NID_ANY || pid == P3_PID_ANY || pid == 0)
        code = p3_fail(PTL_PROCESS_INVALID, "PtlNIDist: %u.%u names no process", process.nid, pid);
    else if (process.nid != ni->self.nid)
        *distance = 2;
    else
        *distance = pid == ni->self.pid ? 0 : 1;
    p3_ni_leave(ni);
    return code;
}

int PtlNIHandle(ptl_handle_any_t handle, ptl_handle_ni_t *ni_handle)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(handle, (enum p3_kind)p3_handle_kind(handle), PTL_HANDLE_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (ni_handle == NULL)
        code = p3_fail(PTL_SEGV, "PtlNIHandle: ni_handle is NULL");
    else
        *ni_handle = p3_ni_handle(ni);
    p3_ni_leave(ni);
    return code;
}

int PtlGetUid(ptl_handle_ni_t ni_handle, ptl_uid_t *uid)
{
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, uid, "PtlGetUid: uid", &ni);

    if (code != PTL_OK)
        return code;
    *uid = ni->self.uid;
    p3_ni_leave(ni);
    return code;
}

int PtlGetId(ptl_handle_ni_t ni_handle, ptl_process_id_t *id)
{
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, id, "PtlGetId: id", &ni);

    if (code != PTL_OK)
        return code;
    *id = (ptl_process_id_t){.nid = ni->self.nid, .pid = ni->self.pid};
    p3_ni_leave(ni);
    return code;
}

int PtlGetJid(ptl_handle_ni_t ni_handle, ptl_jid_t *jid)
{
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, jid, "PtlGetJid: jid", &ni);

    if (code != PTL_OK)
        return code;
    *jid = ni->self.jid;
    p3_ni_leave(ni);
    return code;
}

int PtlACEntry(ptl_handle_ni_t ni_handle, ptl_ac_index_t ac_index, ptl_process_id_t match_id,
               ptl_uid_t user_id, ptl_jid_t job_id, ptl_pt_index_t pt_index)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    if (ac_index >= ni->view.acs) {
        code = p3_fail(PTL_AC_INDEX_INVALID, "PtlACEntry: index %u exceeds %u", ac_index,
                       ni->view.acs - 1);
    } else if (pt_index != PTL_PT_INDEX_ANY && pt_index >= ni->view.pts) {
        code = p3_fail(PTL_PT_INDEX_INVALID, "PtlACEntry: portal index %u exceeds %u", pt_index,
                       ni->view.pts - 1);
    } else if ((code = p3_lock_own(ni)) == PTL_OK) {
        ni->view.ac[ac_index] = (struct p3_ac){.nid = match_id.nid,
                                               .pid = match_id.pid & 0xffffu,
                                               .uid = user_id,
                                               .jid = job_id,
                                               .pt_index = pt_index};
        p3_unlock_own(ni);
    }
    p3_ni_leave(ni);
    return code;
}
