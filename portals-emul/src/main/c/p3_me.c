/* Match entries; Cray's calls that make an entry and its descriptor in one step. */
#include "p3_objects.h"

uint32_t p3_me_find(const struct p3_ni *ni, ptl_handle_me_t handle)
{
    uint32_t index = p3_handle_index(handle);

    if (index >= ni->view.mes ||
        index >= atomic_load_explicit(&ni->view.area->ready[P3_TABLE_ME], memory_order_acquire) ||
        !(ni->view.me[index].flags & P3_LIVE) ||
        (ni->view.me[index].generation & P3_GENERATION_MASK) != p3_handle_generation(handle))
        return P3_NONE;
    return index;
}

/* Under the own lock. base P3_NONE: head or tail of the list of c->pt_index. */
int p3_me_create(struct p3_ni *ni, const struct p3_criteria *c, uint32_t base, uint32_t *index)
{
    const struct p3_view *view = &ni->view;
    struct p3_me *me;

    if (view->pt[c->pt_index].count >= view->area->max_me_list ||
        view->pt[c->pt_index].count >= (uint32_t)ni->limits.max_me_list)
        return p3_fail(PTL_ME_LIST_TOO_LONG, "portal index %u has %u match entries already",
                       c->pt_index, view->pt[c->pt_index].count);
    *index = p3_take(view, P3_TABLE_ME);
    if (*index == P3_NONE)
        return p3_fail(PTL_NO_SPACE, "all %u match entries are in use", view->mes);
    me = &view->me[*index];
    me->flags = P3_LIVE | (c->unlink == PTL_UNLINK ? P3_UNLINK : 0);
    me->nid = c->match_id.nid;
    me->pid = c->match_id.pid & 0xffffu;
    me->match_bits = c->match_bits;
    me->ignore_bits = c->ignore_bits;
    me->md = P3_NONE;
    me->pt_index = c->pt_index;
    p3_me_link(view, *index, base, c->position);
    return PTL_OK;
}

ptl_handle_me_t p3_me_handle(const struct p3_ni *ni, uint32_t index)
{
    return p3_handle(P3_KIND_ME, ni->view.iface, index, ni->view.me[index].generation);
}

/* One way of making an entry, under the own lock. `handle` names the interface or an entry. */
typedef int (*make_fn)(struct p3_ni *ni, uint32_t handle, struct p3_criteria *c,
                       ptl_handle_me_t *me_handle);

/* Makes an entry, after the table has grown if it must. pointers: the caller's, for the text. */
static int make(uint32_t handle, enum p3_kind kind, int invalid, make_fn way, struct p3_criteria *c,
                ptl_handle_me_t *me_handle, const char *pointers)
{
    struct p3_ni *ni;
    int code = p3_ni_enter(handle, kind, invalid, &ni);

    if (code != PTL_OK)
        return code;
    if (me_handle == NULL)
        code = p3_fail(PTL_SEGV, "%s is NULL", pointers);
    for (int more = me_handle != NULL, tries = P3_GROW_TRIES; more;) {
        if ((code = p3_lock_own(ni)) != PTL_OK)
            break;
        code = way(ni, handle, c, me_handle);
        p3_unlock_own(ni);
        more = code == PTL_NO_SPACE && tries-- > 0 && p3_grow(ni, P3_TABLE_ME);
    }
    p3_ni_leave(ni);
    return code;
}

static int create(struct p3_ni *ni, const struct p3_criteria *c, uint32_t base,
                  ptl_handle_me_t *me_handle)
{
    uint32_t me;
    int code = p3_me_create(ni, c, base, &me);

    if (code == PTL_OK)
        *me_handle = p3_me_handle(ni, me);
    return code;
}

static int attach(struct p3_ni *ni, uint32_t handle, struct p3_criteria *c,
                  ptl_handle_me_t *me_handle)
{
    (void)handle;
    if (c->pt_index >= ni->view.pts)
        return p3_fail(PTL_PT_INDEX_INVALID, "PtlMEAttach: portal index %u exceeds %u", c->pt_index,
                       ni->view.pts - 1);
    return create(ni, c, P3_NONE, me_handle);
}

int PtlMEAttach(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_process_id_t match_id,
                ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t unlink,
                ptl_ins_pos_t position, ptl_handle_me_t *me_handle)
{
    struct p3_criteria c = {match_id, match_bits, ignore_bits, unlink, position, pt_index};

    return make(ni_handle, P3_KIND_NI, PTL_NI_INVALID, attach, &c, me_handle,
                "PtlMEAttach: me_handle");
}

static int attach_any(struct p3_ni *ni, uint32_t handle, struct p3_criteria *c,
                      ptl_handle_me_t *me_handle)
{
    (void)handle;
    for (c->pt_index = 0; c->pt_index < ni->view.pts; c->pt_index++)
        if (ni->view.pt[c->pt_index].count == 0)
            return create(ni, c, P3_NONE, me_handle);
    return p3_fail(PTL_PT_FULL, "PtlMEAttachAny: every portal index has match entries");
}

int PtlMEAttachAny(ptl_handle_ni_t ni_handle, ptl_pt_index_t *pt_index, ptl_process_id_t match_id,
                   ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t unlink,
                   ptl_handle_me_t *me_handle)
{
    struct p3_criteria c = {match_id, match_bits, ignore_bits, unlink, PTL_INS_AFTER, 0};
    int code = make(ni_handle, P3_KIND_NI, PTL_NI_INVALID, attach_any, &c,
                    pt_index ? me_handle : NULL, "PtlMEAttachAny: me_handle or pt_index");

    if (code == PTL_OK)
        *pt_index = c.pt_index;
    return code;
}

static int insert(struct p3_ni *ni, uint32_t base, struct p3_criteria *c,
                  ptl_handle_me_t *me_handle)
{
    uint32_t at = p3_me_find(ni, base);

    if (at == P3_NONE || ni->view.me[at].pt_index >= ni->view.pts)
        return p3_fail(PTL_ME_INVALID, "PtlMEInsert: no match entry 0x%08x", base);
    c->pt_index = ni->view.me[at].pt_index;
    return create(ni, c, at, me_handle);
}

int PtlMEInsert(ptl_handle_me_t base, ptl_process_id_t match_id, ptl_match_bits_t match_bits,
                ptl_match_bits_t ignore_bits, ptl_unlink_t unlink, ptl_ins_pos_t position,
                ptl_handle_me_t *me_handle)
{
    struct p3_criteria c = {match_id, match_bits, ignore_bits, unlink, position, 0};

    return make(base, P3_KIND_ME, PTL_ME_INVALID, insert, &c, me_handle, "PtlMEInsert: me_handle");
}

static int me_unlink(struct p3_ni *ni, ptl_handle_me_t handle)
{
    uint32_t me = p3_me_find(ni, handle);
    uint32_t md;

    if (me == P3_NONE)
        return p3_fail(PTL_ME_INVALID, "PtlMEUnlink: no match entry 0x%08x", handle);
    md = ni->view.me[me].md;
    if (md >= ni->view.mds)
        md = P3_NONE;
    if (md != P3_NONE && ni->view.md[md].busy != 0)
        return p3_fail(PTL_ME_IN_USE, "PtlMEUnlink: its descriptor has operations in progress");
    p3_own_unlink(ni, md, me);
    return PTL_OK;
}

int PtlMEUnlink(ptl_handle_me_t me_handle)
{
    return p3_unlink(me_handle, P3_KIND_ME, PTL_ME_INVALID, PTL_ME_IN_USE, me_unlink);
}
