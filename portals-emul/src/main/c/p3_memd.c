/* Cray's calls that make a match entry and its descriptor in one atomic step (8.4). */
#include "p3_objects.h"

#include "p3_cray.h"

struct p3_memd {
    struct p3_criteria criteria;
    ptl_handle_me_t base; /* PTL_INVALID_HANDLE: head or tail of criteria.pt_index */
    ptl_md_t md;
    ptl_unlink_t md_unlink;
    ptl_handle_eq_t testeq;
};

/* Under ni->objects and the own lock. */
static int memd_create(struct p3_ni *ni, struct p3_memd *m, struct p3_md_draft *draft,
                       ptl_handle_me_t *me_handle, ptl_handle_md_t *md_handle)
{
    uint32_t base = P3_NONE, me, md;
    int code;

    if (m->base != PTL_INVALID_HANDLE) {
        base = p3_handle_kind(m->base) == P3_KIND_ME ? p3_me_find(ni, m->base) : P3_NONE;
        if (base == P3_NONE || ni->view.me[base].pt_index >= ni->view.pts)
            return p3_fail(PTL_ME_INVALID, "no match entry 0x%08x", m->base);
        m->criteria.pt_index = ni->view.me[base].pt_index;
    }
    if (m->testeq != PTL_EQ_NONE && p3_eq_find(&ni->view, m->testeq) == NULL)
        return p3_fail(PTL_EQ_INVALID, "no event queue 0x%08x", m->testeq);
    if (m->testeq != PTL_EQ_NONE && p3_eq_unsettled(ni, m->testeq))
        return p3_fail(PTL_MD_NO_UPDATE, "the queue is not empty, or busy");
    code = p3_me_create(ni, &m->criteria, base, &me);
    if (code != PTL_OK)
        return code;
    code = p3_md_place(ni, draft, me, m->md_unlink, &md);
    if (code != PTL_OK) {
        p3_own_unlink(ni, P3_NONE, me);
        return code;
    }
    *me_handle = p3_me_handle(ni, me);
    if (md_handle != NULL)
        *md_handle = p3_md_handle(ni, md);
    return PTL_OK;
}

/* Enters by `handle`, which names the interface or an entry of it. */
static int memd(ptl_handle_any_t handle, enum p3_kind kind, int invalid, struct p3_memd *m,
                ptl_handle_me_t *me_handle, ptl_handle_md_t *md_handle)
{
    struct p3_md_draft draft = {0};
    struct p3_ni *ni;
    int code = p3_ni_enter(handle, kind, invalid, &ni);

    if (code != PTL_OK)
        return code;
    pthread_mutex_lock(&ni->objects);
    if (me_handle == NULL)
        code = p3_fail(PTL_SEGV, "me_handle is NULL");
    else if (m->base == PTL_INVALID_HANDLE && m->criteria.pt_index >= ni->view.pts)
        code = p3_fail(PTL_PT_INDEX_INVALID, "portal index %u exceeds %u", m->criteria.pt_index,
                       ni->view.pts - 1);
    else
        code = p3_md_draft(ni, &m->md, 1, &draft);
    /* Both tables may have run full, one after the other. */
    for (int tries = code == PTL_OK ? P3_GROW_TRIES : 0; tries > 0; tries--) {
        if ((code = p3_lock_own(ni)) != PTL_OK)
            break;
        code = memd_create(ni, m, &draft, me_handle, md_handle);
        p3_unlock_own(ni);
        if (code != PTL_NO_SPACE || !p3_grow(ni, P3_TABLE_ME) || !p3_grow(ni, P3_TABLE_MD))
            break;
    }
    p3_md_draft_drop(ni, &draft);
    pthread_mutex_unlock(&ni->objects);
    p3_ni_leave(ni);
    return code;
}

int PtlMEMDAttach(ptl_handle_ni_t ni_handle, ptl_pt_index_t pt_index, ptl_process_id_t match_id,
                  ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink,
                  ptl_ins_pos_t position, ptl_md_t md, ptl_unlink_t md_unlink,
                  ptl_handle_me_t *me_handle, ptl_handle_md_t *md_handle)
{
    struct p3_memd m = {{match_id, match_bits, ignore_bits, me_unlink, position, pt_index},
                        PTL_INVALID_HANDLE,
                        md,
                        md_unlink,
                        PTL_EQ_NONE};

    return memd(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &m, me_handle, md_handle);
}

int PtlMEMDInsert(ptl_handle_me_t base, ptl_process_id_t match_id, ptl_match_bits_t match_bits,
                  ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink, ptl_ins_pos_t position,
                  ptl_md_t md, ptl_unlink_t md_unlink, ptl_handle_me_t *me_handle,
                  ptl_handle_md_t *md_handle)
{
    struct p3_memd m = {{match_id, match_bits, ignore_bits, me_unlink, position, 0},
                        base,
                        md,
                        md_unlink,
                        PTL_EQ_NONE};

    return memd(base, P3_KIND_ME, PTL_ME_INVALID, &m, me_handle, md_handle);
}

int PtlMEMDPost(ptl_handle_ni_t ni_handle, ptl_handle_me_t base, ptl_process_id_t match_id,
                ptl_match_bits_t match_bits, ptl_match_bits_t ignore_bits, ptl_unlink_t me_unlink,
                ptl_ins_pos_t position, ptl_md_t md, ptl_unlink_t md_unlink,
                ptl_handle_me_t *me_handle, ptl_handle_md_t *md_handle, ptl_handle_eq_t testeq)
{
    struct p3_memd m = {
        {match_id, match_bits, ignore_bits, me_unlink, position, 0}, base, md, md_unlink, testeq};

    if (base == PTL_INVALID_HANDLE)
        return p3_fail(PTL_ME_INVALID, "PtlMEMDPost: base is PTL_INVALID_HANDLE");
    return memd(ni_handle, P3_KIND_NI, PTL_NI_INVALID, &m, me_handle, md_handle);
}
