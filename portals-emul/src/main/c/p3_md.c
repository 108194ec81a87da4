/* Memory descriptors. */
#include "p3_objects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint32_t p3_md_find(const struct p3_ni *ni, ptl_handle_md_t handle)
{
    uint32_t index = p3_handle_index(handle);

    /* The private table first: the shared one may be shorter than its limit. */
    if (index >= ni->view.mds || !ni->mds[index].live || !(ni->view.md[index].flags & P3_LIVE) ||
        (ni->view.md[index].generation & P3_GENERATION_MASK) != p3_handle_generation(handle) ||
        ni->mds[index].generation != ni->view.md[index].generation)
        return P3_NONE;
    return index;
}

ptl_handle_md_t p3_md_handle(const struct p3_ni *ni, uint32_t index)
{
    return p3_handle(P3_KIND_MD, ni->view.iface, index, ni->view.md[index].generation);
}

/* PTL_OK when an event queue of this interface (or none) is named. */
static int check_eq(const struct p3_ni *ni, ptl_handle_eq_t eq)
{
    if (eq == PTL_EQ_NONE)
        return PTL_OK;
    if (p3_handle_kind(eq) == P3_KIND_EQ && p3_handle_iface(eq) != ni->view.iface &&
        p3_iface_is_open(p3_handle_iface(eq)))
        return p3_fail(PTL_MD_ILLEGAL, "event queue 0x%08x belongs to another interface", eq);
    if (p3_eq_find(&ni->view, eq) == NULL)
        return p3_fail(PTL_EQ_INVALID, "no event queue 0x%08x", eq);
    return PTL_OK;
}

/* ---- checking and locating ---- */

static int region_ok(const void *start, uint64_t length)
{
    return length == 0 || (start != NULL && (uintptr_t)start + length >= (uintptr_t)start &&
                           length <= (uint64_t)INT64_MAX);
}

static int locate(struct p3_ni *ni, const void *start, uint64_t length, snic_location_t *location)
{
    char why[SNIC_WHY_MAX] = "";
    int error;

    memset(location, 0, sizeof(*location));
    if (length == 0)
        return PTL_OK;
    error = snic_locate(ni->nic, start, length, location, why, sizeof(why));
    if (error < 0)
        return p3_fail(PTL_MD_ILLEGAL, "memory at %p, %llu bytes: %s", start,
                       (unsigned long long)length, why);
    return PTL_OK;
}

/* Gives extents of the segment table back whose descriptors were unlinked by initiators. */
static void sweep_iovs(struct p3_ni *ni)
{
    for (uint32_t i = 0; i < ni->mds_high; i++)
        if (ni->mds[i].segments.taken && ni->mds[i].generation != ni->view.md[i].generation)
            p3_md_release_private(ni, i);
}

static uint32_t take_iovs(struct p3_ni *ni, uint32_t count)
{
    uint32_t first = p3_extents_take(&ni->iovs, count);

    if (first == P3_NONE && p3_lock_own(ni) == PTL_OK) {
        sweep_iovs(ni);
        p3_unlock_own(ni);
        first = p3_extents_take(&ni->iovs, count);
    }
    if (first == P3_NONE) {
        p3_fail(PTL_NO_SPACE, "the segment table is full");
    } else if (p3_reserve(ni, P3_TABLE_IOV, &ni->iovs_ready, first + count) != PTL_OK) {
        p3_extents_give(&ni->iovs, first, count);
        return P3_NONE;
    }
    return first;
}

static int draft_iovs(struct p3_ni *ni, int attached, struct p3_md_draft *draft)
{
    const ptl_md_iovec_t *given = draft->md.start;
    uint64_t count = draft->md.length;

    if (count > (uint64_t)ni->limits.max_md_iovecs)
        return p3_fail(PTL_MD_ILLEGAL, "%llu segments, more than max_md_iovecs (%d)",
                       (unsigned long long)count, ni->limits.max_md_iovecs);
    if (count == 0)
        return PTL_OK;
    if (given == NULL)
        return p3_fail(PTL_MD_ILLEGAL, "the array of segments is NULL");
    draft->segments.iovs = malloc(count * sizeof(*draft->segments.iovs));
    if (draft->segments.iovs == NULL)
        return p3_fail(PTL_NO_SPACE, "out of memory");
    memcpy(draft->segments.iovs, given, count * sizeof(*draft->segments.iovs));
    if (attached) {
        draft->segments.first = take_iovs(ni, (uint32_t)count);
        if (draft->segments.first == P3_NONE)
            return PTL_NO_SPACE;
        draft->segments.taken = (uint32_t)count;
    }
    for (uint32_t i = 0; i < count; i++) {
        const ptl_md_iovec_t *iov = &draft->segments.iovs[i];
        int code;

        if (!region_ok(iov->iov_base, iov->iov_len) ||
            draft->bytes + iov->iov_len > (uint64_t)INT64_MAX)
            return p3_fail(PTL_MD_ILLEGAL, "segment %u is not a region", i);
        draft->bytes += iov->iov_len;
        if (!attached)
            continue;
        /* Nobody reads these entries before the descriptor is placed. */
        code = locate(ni, iov->iov_base, iov->iov_len,
                      &ni->view.iov[draft->segments.first + i].location);
        if (code != PTL_OK)
            return code;
        ni->view.iov[draft->segments.first + i].length = iov->iov_len;
    }
    return PTL_OK;
}

int p3_md_draft(struct p3_ni *ni, const ptl_md_t *md, int attached, struct p3_md_draft *draft)
{
    uint32_t known = ni->flavor == P3_FLAVOR_CRAY ? P3_MD_OPTIONS_CRAY : P3_MD_OPTIONS_REF;

    memset(draft, 0, sizeof(*draft));
    draft->md = *md;
    if (md->options & ~known)
        return p3_fail(PTL_MD_ILLEGAL, "unknown descriptor options 0x%x", md->options & ~known);
    if (md->options & PTL_MD_IOVEC)
        return draft_iovs(ni, attached, draft);
    draft->bytes = md->length;
    if (!region_ok(md->start, md->length))
        return p3_fail(PTL_MD_ILLEGAL, "start %p with length %llu is not a region", md->start,
                       (unsigned long long)md->length);
    return attached ? locate(ni, md->start, md->length, &draft->location) : PTL_OK;
}

static void drop_segments(struct p3_ni *ni, const struct p3_segments *segments)
{
    if (segments->taken)
        p3_extents_give(&ni->iovs, segments->first, segments->taken);
    free(segments->iovs);
}

void p3_md_draft_drop(struct p3_ni *ni, struct p3_md_draft *draft)
{
    drop_segments(ni, &draft->segments);
    memset(draft, 0, sizeof(*draft));
}

/* ---- the table ---- */

void p3_md_release_private(struct p3_ni *ni, uint32_t index)
{
    struct p3_local_md *local = &ni->mds[index];

    drop_segments(ni, &local->segments);
    memset(local, 0, sizeof(*local));
}

/* Fills what attach, bind and update have in common. Under the own lock. */
static void md_fill(struct p3_ni *ni, uint32_t index, struct p3_md_draft *draft)
{
    struct p3_md *md = &ni->view.md[index];
    struct p3_local_md *local = &ni->mds[index];

    md->options = draft->md.options;
    md->threshold = draft->md.threshold;
    if (md->threshold != PTL_MD_THRESH_INF && md->threshold <= 0)
        md->threshold = 0;
    md->flags &= ~(uint32_t)(P3_INACTIVE | P3_UNLINK_DUE);
    if (md->threshold == 0)
        md->flags |= P3_INACTIVE;
    md->eq = draft->md.eq_handle;
    md->offset = 0;
    md->length = draft->bytes;
    md->max_size = draft->md.max_size;
    md->user_ptr = (uint64_t)(uintptr_t)draft->md.user_ptr;
    md->start = (uint64_t)(uintptr_t)draft->md.start;
    md->user_length = draft->md.length;
    md->location = draft->location;
    md->iov_first = draft->segments.first;
    md->iov_count = draft->segments.taken;
    local->start = draft->md.options & PTL_MD_IOVEC ? NULL : draft->md.start;
    local->user_start = draft->md.start;
    local->length = draft->bytes;
    local->segments = draft->segments;
    local->iov_count = draft->segments.iovs ? (uint32_t)draft->md.length : 0;
    draft->segments = (struct p3_segments){0};
}

int p3_md_place(struct p3_ni *ni, struct p3_md_draft *draft, uint32_t me, ptl_unlink_t unlink,
                uint32_t *index)
{
    int code = check_eq(ni, draft->md.eq_handle);
    struct p3_md *md;

    if (code != PTL_OK)
        return code;
    *index = p3_take(&ni->view, P3_TABLE_MD);
    if (*index == P3_NONE)
        return p3_fail(PTL_NO_SPACE, "all %u memory descriptors are in use", ni->view.mds);
    if (*index >= ni->mds_high)
        ni->mds_high = *index + 1;
    p3_md_release_private(ni, *index);
    md = &ni->view.md[*index];
    md->flags = P3_LIVE | (unlink == PTL_UNLINK ? P3_UNLINK : 0);
    md->busy = 0;
    md->me = me;
    md_fill(ni, *index, draft);
    ni->mds[*index].generation = md->generation;
    ni->mds[*index].live = 1;
    ni->mds[*index].floating = me == P3_NONE;
    if (me != P3_NONE)
        ni->view.me[me].md = *index;
    return PTL_OK;
}

/* Under ni->objects and the own lock. handle: of the interface, or of the entry it is attached to.
 */
static int place(struct p3_ni *ni, uint32_t handle, int attached, struct p3_md_draft *draft,
                 ptl_unlink_t unlink_op, ptl_handle_md_t *md_handle)
{
    uint32_t index, me = attached ? p3_me_find(ni, handle) : P3_NONE;
    int code;

    if (attached && me == P3_NONE)
        return p3_fail(PTL_ME_INVALID, "PtlMDAttach: no match entry 0x%08x", handle);
    if (attached && ni->view.me[me].md != P3_NONE)
        return p3_fail(PTL_ME_IN_USE, "PtlMDAttach: the match entry has a descriptor");
    code = p3_md_place(ni, draft, me, unlink_op, &index);
    if (code == PTL_OK && md_handle != NULL)
        *md_handle = p3_md_handle(ni, index);
    return code;
}

static int make(struct p3_ni *ni, uint32_t handle, int attached, const ptl_md_t *md,
                ptl_unlink_t unlink_op, ptl_handle_md_t *md_handle)
{
    struct p3_md_draft draft = {0};
    int code;

    pthread_mutex_lock(&ni->objects);
    code = p3_md_draft(ni, md, attached, &draft);
    for (int more = code == PTL_OK, tries = P3_GROW_TRIES; more;) {
        if ((code = p3_lock_own(ni)) != PTL_OK)
            break;
        code = place(ni, handle, attached, &draft, unlink_op, md_handle);
        p3_unlock_own(ni);
        more = code == PTL_NO_SPACE && tries-- > 0 && p3_grow(ni, P3_TABLE_MD);
    }
    p3_md_draft_drop(ni, &draft);
    pthread_mutex_unlock(&ni->objects);
    return code;
}

int PtlMDBind(ptl_handle_ni_t ni_handle, ptl_md_t md, ptl_unlink_t unlink_op,
              ptl_handle_md_t *md_handle)
{
    struct p3_ni *ni;
    int code = p3_ni_enter_to(ni_handle, md_handle, "PtlMDBind: md_handle", &ni);

    if (code != PTL_OK)
        return code;
    code = make(ni, ni_handle, 0, &md, unlink_op, md_handle);
    p3_ni_leave(ni);
    return code;
}

int PtlMDAttach(ptl_handle_me_t me_handle, ptl_md_t md, ptl_unlink_t unlink_op,
                ptl_handle_md_t *md_handle)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(me_handle, P3_KIND_ME, PTL_ME_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    code = make(ni, me_handle, 1, &md, unlink_op, md_handle);
    p3_ni_leave(ni);
    return code;
}

void p3_own_unlink(struct p3_ni *ni, uint32_t md, uint32_t me)
{
    struct p3_unlink plan;

    if (md != P3_NONE && ni->flavor == P3_FLAVOR_CRAY &&
        (ni->view.md[md].options & P3_MD_MANUAL_UNLINK_ENABLE)) {
        struct p3_event event = {.who = ni->self};
        struct p3_log log = {.wanted = 1, .kind = PTL_EVENT_UNLINK};

        p3_event_from_md(&ni->view, &event, md);
        log.stamp = p3_eq_next(&ni->view, event.eq);
        log.link = (uint32_t)log.stamp;
        p3_eq_log(&ni->view, &event, &log);
    }
    p3_unlink_plan(&ni->view, &plan, md, me);
    p3_unlink_apply(&ni->view, &plan);
    if (md != P3_NONE)
        p3_md_release_private(ni, md);
}

static int md_unlink(struct p3_ni *ni, ptl_handle_md_t handle)
{
    uint32_t md = p3_md_find(ni, handle);
    uint32_t me;

    if (md == P3_NONE)
        return p3_fail(PTL_MD_INVALID, "PtlMDUnlink: no descriptor 0x%08x", handle);
    if (ni->view.md[md].busy != 0)
        return p3_fail(PTL_MD_IN_USE, "PtlMDUnlink: %u operations in progress",
                       ni->view.md[md].busy);
    me = ni->view.md[md].me;
    if (me >= ni->view.mes || !(ni->view.me[me].flags & P3_UNLINK))
        me = P3_NONE;
    p3_own_unlink(ni, md, me);
    snic_ring_self(ni->nic);
    return PTL_OK;
}

int p3_unlink(uint32_t handle, enum p3_kind kind, int invalid, int in_use,
              int (*unlink)(struct p3_ni *ni, uint32_t handle))
{
    struct p3_ni *ni;
    int code = p3_ni_enter(handle, kind, invalid, &ni);

    if (code != PTL_OK)
        return code;
    for (int attempt = 0; attempt < 2; attempt++) {
        pthread_mutex_lock(&ni->objects);
        code = p3_lock_own(ni);
        if (code == PTL_OK) {
            code = unlink(ni, handle);
            p3_unlock_own(ni);
        }
        pthread_mutex_unlock(&ni->objects);
        /* Busy with an operation of a dead process? */
        if (code != in_use || p3_reap(ni) == 0)
            break;
    }
    p3_ni_leave(ni);
    return code;
}

int PtlMDUnlink(ptl_handle_md_t md_handle)
{
    return p3_unlink(md_handle, P3_KIND_MD, PTL_MD_INVALID, PTL_MD_IN_USE, md_unlink);
}

/* ---- update (specification, section 6) ---- */

static void md_read(const struct p3_ni *ni, uint32_t index, ptl_md_t *old)
{
    const struct p3_md *md = &ni->view.md[index];
    const struct p3_local_md *local = &ni->mds[index];

    if ((old->options & PTL_MD_IOVEC) && old->start != NULL && local->segments.iovs != NULL) {
        uint64_t count = old->length < local->iov_count ? old->length : local->iov_count;

        memcpy(old->start, local->segments.iovs, count * sizeof(*local->segments.iovs));
    }
    old->start = local->user_start;
    old->length = md->user_length;
    old->threshold = md->threshold;
    old->max_size = md->max_size;
    old->options = md->options;
    old->user_ptr = (void *)(uintptr_t)md->user_ptr;
    old->eq_handle = md->eq;
}

int p3_eq_unsettled(struct p3_ni *ni, ptl_handle_eq_t testeq)
{
    const struct p3_eq *eq = p3_eq_find(&ni->view, testeq);
    uint32_t high = atomic_load_explicit(&ni->view.area->intents_high, memory_order_acquire);

    if (eq == NULL || p3_eq_pending(eq))
        return 1;
    for (uint32_t i = 0; i < high && i < ni->view.intents; i++) {
        struct p3_intent *intent = p3_view_intent(&ni->view, i);

        /* An operation between its START and its END. Stable under the lock. */
        if (atomic_load_explicit(&intent->phase, memory_order_acquire) == P3_MOVING &&
            intent->event.eq == testeq)
            return 1;
    }
    if (atomic_load_explicit(&ni->moving, memory_order_acquire) != 0)
        for (uint32_t i = 0; i < ni->mds_high; i++)
            if ((ni->view.md[i].flags & P3_LIVE) && ni->view.md[i].busy != 0 &&
                ni->view.md[i].eq == testeq)
                return 1;
    return 0;
}

/* What PtlMDUpdate replaced is given back after the lock was released. */
static int md_update(struct p3_ni *ni, ptl_handle_md_t handle, ptl_md_t *old,
                     struct p3_md_draft *draft, ptl_handle_eq_t testeq)
{
    uint32_t index = p3_md_find(ni, handle);
    struct p3_segments used;
    int code;

    if (index == P3_NONE)
        return p3_fail(PTL_MD_INVALID, "PtlMDUpdate: no descriptor 0x%08x", handle);
    if (testeq != PTL_EQ_NONE && p3_eq_find(&ni->view, testeq) == NULL)
        return p3_fail(PTL_EQ_INVALID, "PtlMDUpdate: no event queue 0x%08x", testeq);
    if (old != NULL)
        md_read(ni, index, old);
    if (draft == NULL)
        return PTL_OK;
    code = check_eq(ni, draft->md.eq_handle);
    if (code != PTL_OK)
        return code;
    if (testeq != PTL_EQ_NONE && (p3_eq_unsettled(ni, testeq) || ni->view.md[index].busy != 0))
        return p3_fail(PTL_MD_NO_UPDATE, "PtlMDUpdate: the queue is not empty, or busy");
    used = ni->mds[index].segments;
    md_fill(ni, index, draft);
    if (ni->view.md[index].busy != 0 && used.iovs != NULL) {
        /* Running operations still read the old segments: they stay until the interface closes. */
        p3_retire(ni, used.iovs);
        used = (struct p3_segments){0};
    }
    draft->segments = used;
    return PTL_OK;
}

int PtlMDUpdate(ptl_handle_md_t md_handle, ptl_md_t *old_md, ptl_md_t *new_md,
                ptl_handle_eq_t eq_handle)
{
    struct p3_md_draft draft = {0};
    struct p3_ni *ni;
    uint32_t index;
    int attached = 0;
    int illegal = PTL_OK;
    int code = p3_ni_enter(md_handle, P3_KIND_MD, PTL_MD_INVALID, &ni);

    if (code != PTL_OK)
        return code;
    pthread_mutex_lock(&ni->objects);
    if (new_md != NULL && (code = p3_lock_own(ni)) == PTL_OK) {
        index = p3_md_find(ni, md_handle);
        attached = index != P3_NONE && ni->view.md[index].me != P3_NONE;
        p3_unlock_own(ni);
        illegal = p3_md_draft(ni, new_md, attached, &draft);
    }
    if (code == PTL_OK && (code = p3_lock_own(ni)) == PTL_OK) {
        code = md_update(ni, md_handle, old_md, new_md != NULL && illegal == PTL_OK ? &draft : NULL,
                         eq_handle);
        if (code == PTL_OK)
            code = illegal;
        p3_unlock_own(ni);
    }
    p3_md_draft_drop(ni, &draft);
    pthread_mutex_unlock(&ni->objects);
    p3_ni_leave(ni);
    return code;
}
