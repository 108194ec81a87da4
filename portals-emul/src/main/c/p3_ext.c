/* The calls of portals3_ext.h that are not about opening an interface. */
#include "p3_library.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define P3_SLICE_NS 100000000ll

/* ---- memory ---- */

int PtlExtMemoryAlloc(ptl_handle_ni_t ni_handle, uint64_t length, uint32_t flags, void **address)
{
    char why[SNIC_WHY_MAX] = "";
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, address, "PtlExtMemoryAlloc: address", &ni);

    if (code != PTL_OK)
        return code;
    if (snic_memory_alloc(ni->nic, length, flags, address, why, sizeof(why)) < 0)
        code = p3_fail(PTL_NO_SPACE, "PtlExtMemoryAlloc: %llu bytes: %s",
                       (unsigned long long)length, why);
    p3_ni_leave(ni);
    return code;
}

static int meets(const void *start, uint64_t bytes, const uint8_t *address, uint64_t length)
{
    return bytes != 0 && (uintptr_t)start < (uintptr_t)address + length &&
           (uintptr_t)address < (uintptr_t)start + bytes;
}

/* Does a live descriptor reach into [address, address + length)? Under the own lock. */
static int is_described(const struct p3_ni *ni, const uint8_t *address, uint64_t length)
{
    for (uint32_t i = 0; i < ni->mds_high; i++) {
        const struct p3_local_md *local = &ni->mds[i];

        if (!local->live || !(ni->view.md[i].flags & P3_LIVE) ||
            local->generation != ni->view.md[i].generation)
            continue;
        if (local->start != NULL && meets(local->start, local->length, address, length))
            return 1;
        for (uint32_t k = 0; k < local->iov_count; k++)
            if (meets(local->segments.iovs[k].iov_base, local->segments.iovs[k].iov_len, address,
                      length))
                return 1;
    }
    return 0;
}

int PtlExtMemoryFree(ptl_handle_ni_t ni_handle, void *address)
{
    struct p3_ni *ni;
    int error, used, code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    pthread_mutex_lock(&ni->objects);
    if ((code = p3_lock_own(ni)) == PTL_OK) {
        used = is_described(ni, address, snic_memory_mapped(ni->nic, address));
        p3_unlock_own(ni);
        if (used)
            code = p3_fail(PTL_MD_IN_USE, "PtlExtMemoryFree: a descriptor covers it");
    }
    if (code == PTL_OK) {
        error = snic_memory_free(ni->nic, address);
        if (error < 0)
            code = p3_fail(error == -EBUSY ? PTL_MD_IN_USE : PTL_FAIL, "PtlExtMemoryFree: %p: %s",
                           address, strerror(-error));
    }
    pthread_mutex_unlock(&ni->objects);
    p3_ni_leave(ni);
    return code;
}

/* ---- doorbell ---- */

int PtlExtDoorbell(ptl_handle_ni_t ni_handle, uint32_t *seen)
{
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, seen, "PtlExtDoorbell: seen", &ni);

    if (code != PTL_OK)
        return code;
    if ((code = p3_ni_whole(ni)) == PTL_OK)
        *seen = snic_doorbell(ni->nic);
    p3_ni_leave(ni);
    return code;
}

static int has_unread_event(const struct p3_view *view)
{
    uint32_t ready = atomic_load_explicit(&view->area->ready[P3_TABLE_EQ], memory_order_acquire);

    for (uint32_t i = 0; i < ready && i < view->eqs; i++)
        if ((view->eq[i].flags & P3_LIVE) && p3_eq_pending(&view->eq[i]))
            return 1;
    return 0;
}

int PtlExtWait(ptl_handle_ni_t ni_handle, uint32_t seen, int64_t timeout_ns)
{
    uint64_t begin;
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    begin = timeout_ns > 0 ? snic_now_ns() : 0;
    for (;;) {
        int64_t slice = P3_SLICE_NS;

        if (!p3_ni_is_open(ni)) {
            code = p3_fail(PTL_NI_INVALID, "PtlExtWait: the interface was closed");
            break;
        }
        if ((code = p3_ni_whole(ni)) != PTL_OK)
            break;
        if (timeout_ns >= 0) {
            int64_t left = timeout_ns - (timeout_ns ? (int64_t)(snic_now_ns() - begin) : 0);

            if (left < slice)
                slice = left > 0 ? left : 0;
        }
        if (snic_wait(ni->nic, seen, slice) != 0)
            break;
        /* A process that died between logging an event and ringing may have left nothing to reap.
         * With a shorter limit the caller looks into the queues himself. */
        if (p3_reap(ni) == 0 && slice == P3_SLICE_NS && has_unread_event(&ni->view))
            snic_ring_self(ni->nic);
        if (timeout_ns >= 0 &&
            (timeout_ns == 0 || (int64_t)(snic_now_ns() - begin) >= timeout_ns)) {
            code = snic_doorbell(ni->nic) != seen ? PTL_OK : PTL_EQ_EMPTY;
            break;
        }
    }
    p3_ni_leave(ni);
    return code;
}

int PtlExtRing(ptl_handle_ni_t ni_handle)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    snic_ring_self(ni->nic);
    p3_ni_leave(ni);
    return PTL_OK;
}

int PtlExtReap(ptl_handle_ni_t ni_handle)
{
    struct p3_ni *ni;
    int finished, code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return -code;
    finished = p3_reap(ni);
    p3_ni_leave(ni);
    return finished;
}

/* ---- peers ---- */

int PtlExtIncarnation(ptl_handle_ni_t ni_handle, uint64_t *incarnation)
{
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, incarnation, "PtlExtIncarnation: incarnation", &ni);

    if (code != PTL_OK)
        return code;
    *incarnation = ni->self.incarnation;
    p3_ni_leave(ni);
    return code;
}

/* With the peer's mutex held. */
static void peer_state(struct p3_ni *ni, struct p3_peer *peer, int *state, uint64_t *incarnation)
{
    uint32_t fail = p3_peer_ready(ni, peer);

    *incarnation = peer->snic ? snic_peer_incarnation(peer->snic) : 0;
    if (peer->snic == NULL)
        *state = fail == PTL_EXT_FAIL_STALLED ? PTL_EXT_STOPPED : PTL_EXT_DEAD;
    else
        *state = snic_peer_liveness(peer->snic);
}

int PtlExtPeerState(ptl_handle_ni_t ni_handle, ptl_process_id_t id, int *state,
                    uint64_t *incarnation)
{
    struct p3_ni *ni;
    struct p3_peer *peer;
    int code = p3_ni_enter_to(ni_handle, state ? incarnation : NULL,
                              "PtlExtPeerState: state or incarnation", &ni);

    if (code != PTL_OK)
        return code;
    peer = p3_peer_find(ni, id.nid, id.pid & 0xffffu, 1);
    if (peer == NULL) {
        code = p3_fail(PTL_NO_SPACE, "out of memory");
    } else {
        pthread_mutex_lock(&peer->mutex);
        peer_state(ni, peer, state, incarnation);
        pthread_mutex_unlock(&peer->mutex);
    }
    p3_ni_leave(ni);
    return code;
}

int PtlExtPeerPin(ptl_handle_ni_t ni_handle, ptl_process_id_t id, uint64_t incarnation)
{
    struct p3_ni *ni;
    struct p3_peer *peer;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    peer = p3_peer_find(ni, id.nid, id.pid & 0xffffu, 1);
    if (peer == NULL) {
        code = p3_fail(PTL_NO_SPACE, "out of memory");
    } else {
        pthread_mutex_lock(&peer->mutex);
        peer->pinned = incarnation;
        pthread_mutex_unlock(&peer->mutex);
    }
    p3_ni_leave(ni);
    return code;
}

int PtlExtPeerForget(ptl_handle_ni_t ni_handle, ptl_process_id_t id)
{
    struct p3_ni *ni;
    struct p3_peer *peer;
    int code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    peer = p3_peer_find(ni, id.nid, id.pid & 0xffffu, 0);
    if (peer != NULL) {
        pthread_mutex_lock(&peer->mutex);
        p3_peer_drop(peer);
        peer->pinned = 0;
        pthread_mutex_unlock(&peer->mutex);
    }
    p3_ni_leave(ni);
    return PTL_OK;
}

/* ---- event queues in place ---- */

int PtlExtEQView(ptl_handle_eq_t eq_handle, ptl_ext_eq_view_t *view)
{
    struct p3_ni *ni;
    struct p3_eq *eq;
    int code = p3_ni_enter(eq_handle, P3_KIND_EQ, PTL_EQ_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    eq = p3_eq_find(&ni->view, eq_handle);
    if (view == NULL) {
        code = p3_fail(PTL_SEGV, "PtlExtEQView: view is NULL");
    } else if (eq == NULL || eq->first > ni->view.slots ||
               eq->capacity > ni->view.slots - eq->first) {
        code = p3_fail(PTL_EQ_INVALID, "PtlExtEQView: no event queue 0x%08x", eq_handle);
    } else {
        view->header = eq;
        view->slots = &ni->view.slot[eq->first];
        view->capacity = eq->capacity;
    }
    p3_ni_leave(ni);
    return code;
}

/* ---- layout ---- */

struct p3_layout_entry {
    const char *name;
    int64_t value;
};

#define SIZE(type)                                                                                 \
    {                                                                                              \
        "sizeof(" #type ")", (int64_t)sizeof(type)                                                 \
    }
#define FIELD(type, field)                                                                         \
    {                                                                                              \
#type "." #field, (int64_t)offsetof(type, field)                                           \
    }
#define CONSTANT(name)                                                                             \
    {                                                                                              \
#name, (int64_t)(name)                                                                     \
    }

static const struct p3_layout_entry layout[] = {
    SIZE(ptl_process_id_t),
    FIELD(ptl_process_id_t, nid),
    FIELD(ptl_process_id_t, pid),
    SIZE(ptl_md_iovec_t),
    FIELD(ptl_md_iovec_t, iov_base),
    FIELD(ptl_md_iovec_t, iov_len),
    SIZE(ptl_md_t),
    FIELD(ptl_md_t, start),
    FIELD(ptl_md_t, length),
    FIELD(ptl_md_t, threshold),
    FIELD(ptl_md_t, max_size),
    FIELD(ptl_md_t, options),
    FIELD(ptl_md_t, user_ptr),
    FIELD(ptl_md_t, eq_handle),
    SIZE(ptl_ni_limits_t),
    FIELD(ptl_ni_limits_t, max_mes),
    FIELD(ptl_ni_limits_t, max_mds),
    FIELD(ptl_ni_limits_t, max_eqs),
    FIELD(ptl_ni_limits_t, max_ac_index),
    FIELD(ptl_ni_limits_t, max_pt_index),
    FIELD(ptl_ni_limits_t, max_md_iovecs),
    FIELD(ptl_ni_limits_t, max_me_list),
    FIELD(ptl_ni_limits_t, max_getput_md),
    SIZE(ptl_event_t),
    FIELD(ptl_event_t, type),
    FIELD(ptl_event_t, initiator),
    FIELD(ptl_event_t, uid),
    FIELD(ptl_event_t, jid),
    FIELD(ptl_event_t, pt_index),
    FIELD(ptl_event_t, match_bits),
    FIELD(ptl_event_t, rlength),
    FIELD(ptl_event_t, mlength),
    FIELD(ptl_event_t, offset),
    FIELD(ptl_event_t, md_handle),
    FIELD(ptl_event_t, md),
    FIELD(ptl_event_t, hdr_data),
    FIELD(ptl_event_t, link),
    FIELD(ptl_event_t, ni_fail_type),
    FIELD(ptl_event_t, sequence),
    SIZE(ptl_ext_options_t),
    SIZE(ptl_ext_eq_view_t),
    CONSTANT(PTL_SLOT_BYTES),
    CONSTANT(PTL_SLOT_STAMP),
    CONSTANT(PTL_SLOT_HDR_DATA),
    CONSTANT(PTL_SLOT_MATCH_BITS),
    CONSTANT(PTL_SLOT_MLENGTH),
    CONSTANT(PTL_SLOT_OFFSET),
    CONSTANT(PTL_SLOT_RLENGTH),
    CONSTANT(PTL_SLOT_USER_PTR),
    CONSTANT(PTL_SLOT_MD_HANDLE),
    CONSTANT(PTL_SLOT_KIND),
    CONSTANT(PTL_SLOT_NI_FAIL),
    CONSTANT(PTL_SLOT_PID),
    CONSTANT(PTL_SLOT_MD_START),
    CONSTANT(PTL_SLOT_MD_LENGTH),
    CONSTANT(PTL_SLOT_MD_MAX_SIZE),
    CONSTANT(PTL_SLOT_MD_THRESHOLD),
    CONSTANT(PTL_SLOT_MD_OPTIONS),
    CONSTANT(PTL_SLOT_NID),
    CONSTANT(PTL_SLOT_UID),
    CONSTANT(PTL_SLOT_JID),
    CONSTANT(PTL_SLOT_PT_INDEX),
    CONSTANT(PTL_SLOT_LINK),
    CONSTANT(PTL_SLOT_INCARNATION),
    CONSTANT(PTL_QUEUE_BYTES),
    CONSTANT(PTL_QUEUE_TAIL),
    CONSTANT(PTL_QUEUE_HEAD),
};

#define LAYOUT_COUNT ((int)(sizeof(layout) / sizeof(layout[0])))

const char *PtlExtLayoutName(int index)
{
    return index >= 0 && index < LAYOUT_COUNT ? layout[index].name : NULL;
}

int64_t PtlExtLayoutValue(int index)
{
    return index >= 0 && index < LAYOUT_COUNT ? layout[index].value : -1;
}

/* ---- checking ---- */

int PtlExtCheck(ptl_handle_ni_t ni_handle, char *why, size_t why_size)
{
    char text[SNIC_WHY_MAX] = "";
    struct p3_ni *ni;
    int faults, code = p3_ni_enter(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &ni);

    if (code != PTL_OK)
        return -code;
    code = p3_lock_own(ni);
    if (code != PTL_OK) {
        p3_ni_leave(ni);
        return -code;
    }
    faults = p3_area_check(&ni->view, atomic_load_explicit(&ni->moving, memory_order_acquire) == 0,
                           text, sizeof(text));
    p3_unlock_own(ni);
    p3_ni_leave(ni);
    if (why != NULL && why_size > 0)
        snprintf(why, why_size, "%s", text);
    return faults;
}
