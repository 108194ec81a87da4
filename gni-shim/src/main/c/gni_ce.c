/* The collective engine as its callers see it: channels. */
#include "gni_ce.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AT_MOST_ONE(bits) (((bits) & ((bits)-1)) == 0)

/* ---- channels ---- */

static void undo(struct gni_ce *ce)
{
    if (ce->named != NULL)
        snic_close(ce->named);
    if (ce->channel != NULL)
        snic_memory_free(ce->nic->snic, ce->channel);
    free(ce);
}

gni_return_t GNI_CeCreate(gni_nic_handle_t nic_hndl, gni_ce_handle_t *ce_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    char why[SNIC_WHY_MAX] = "";
    snic_location_t location;
    struct gni_ce *ce;
    void *memory = NULL;
    int error;

    gni_forget_failure();
    if (nic == NULL || ce_hndl == NULL)
        return GNI_RC_INVALID_PARAM;
    if (!nic->is_aries)
        return GNI_RC_ILLEGAL_OP;
    ce = calloc(1, sizeof(*ce));
    if (ce == NULL)
        return GNI_RC_ERROR_NOMEM;
    error = snic_memory_alloc(nic->snic, sizeof(*ce->channel), 0, &memory, why, sizeof(why));
    if (error == 0)
        error = snic_locate(nic->snic, memory, sizeof(*ce->channel), &location, why, sizeof(why));
    ce->nic = nic;
    ce->channel = memory;
    if (error == 0)
        error = gni_ce_take_number(ce, location.memory, why);
    ce->handle = error == 0 ? gni_handle_give(GNI_KIND_CE, ce) : NULL;
    if (ce->handle == NULL) {
        gni_fail("GNI_CeCreate: %s", why);
        undo(ce);
        return error == -ENOMEM ? GNI_RC_ERROR_NOMEM : GNI_RC_ERROR_RESOURCE;
    }
    ce->channel->id = ce->id;
    ce->channel->magic = GNI_CE_MAGIC;
    gni_enter(&nic->lock);
    ce->next = nic->ces;
    nic->ces = ce;
    gni_leave(&nic->lock);
    *ce_hndl = (gni_ce_handle_t)ce->handle;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CeGetId(gni_ce_handle_t ce_hndl, uint32_t *ce_id)
{
    struct gni_ce *ce = gni_handle_find(ce_hndl, GNI_KIND_CE);

    if (ce == NULL || ce_id == NULL)
        return GNI_RC_INVALID_PARAM;
    *ce_id = ce->id;
    return GNI_RC_SUCCESS;
}

/* The channel's memory goes; who still waits in it learns that by its magic. */
static void drop(struct gni_ce *ce)
{
    ce->channel->magic = 0;
    if (ce->cq != NULL)
        ce->cq->ces--;
    gni_handle_take(ce->handle);
    undo(ce);
}

gni_return_t GNI_CeDestroy(gni_ce_handle_t ce_hndl)
{
    struct gni_ce *ce = gni_handle_find(ce_hndl, GNI_KIND_CE);
    struct gni_nic *nic;

    if (ce == NULL)
        return GNI_RC_INVALID_PARAM;
    nic = ce->nic;
    gni_enter(&nic->lock);
    GNI_UNLINK(nic->ces, ce, next);
    drop(ce);
    gni_leave(&nic->lock);
    return GNI_RC_SUCCESS;
}

void gni_ce_close(struct gni_nic *nic)
{
    while (nic->ces != NULL) {
        struct gni_ce *ce = nic->ces;

        nic->ces = ce->next;
        drop(ce);
    }
}

/* A leaf says where it is, so that its death is noticed also before it joins. Said of a channel's
 * own endpoint to a leaf it does no harm: who joins says so again. */
static void announce(struct gni_ep *ep)
{
    struct gni_ce_place place;

    if (gni_ce_open(ep->nic, &ep->ce.at, &place) == GNI_STATUS_OK)
        atomic_store_explicit(&place.channel->child[ep->ce.child].leaf, GNI_CE_LEAF | ep->nic->inst,
                              memory_order_release);
}

gni_return_t GNI_EpSetCeAttr(gni_ep_handle_t ep_hndl, uint32_t ce_id, uint32_t child_id,
                             gni_ce_child_t child_type)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    gni_return_t code = GNI_RC_INVALID_PARAM;

    if (ep == NULL || child_id >= GNI_CE_MAX_CHILDREN || (int)child_type < GNI_CE_CHILD_UNUSED ||
        (int)child_type > GNI_CE_CHILD_PE)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    if (!ep->nic->is_aries) {
        code = GNI_RC_ILLEGAL_OP;
    } else if (ep->is_bound && !ep->ce.is_waiting) {
        ep->ce.child = child_id;
        ep->ce.type = (uint32_t)child_type;
        gni_ce_find(ep->nic, ep->pe, ce_id, &ep->ce.at);
        if (child_type == GNI_CE_CHILD_PE)
            announce(ep);
        code = GNI_RC_SUCCESS;
    }
    gni_leave(&ep->nic->lock);
    return code;
}

static int is_modes(uint32_t modes)
{
    uint32_t rounding = modes & (GNI_CE_MODE_ROUND_UP | GNI_CE_MODE_ROUND_DOWN |
                                 GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_ROUND_ZERO);
    uint32_t cqe = modes & (GNI_CE_MODE_CQE_ONCOMP | GNI_CE_MODE_CQE_ONERR);
    uint32_t routing = modes & (GNI_CE_MODE_RC_NMIN_HASH | GNI_CE_MODE_RC_MIN_HASH |
                                GNI_CE_MODE_RC_MNON_HASH | GNI_CE_MODE_RC_ADAPT);

    return AT_MOST_ONE(rounding) && AT_MOST_ONE(cqe) && AT_MOST_ONE(routing) &&
           modes == (rounding | cqe | routing);
}

/* A bound endpoint of this NIC whose attributes say what it is for, or NULL. */
static struct gni_ep *member(struct gni_nic *nic, gni_ep_handle_t handle)
{
    struct gni_ep *ep = gni_handle_find(handle, GNI_KIND_EP);

    return ep != NULL && ep->nic == nic && ep->is_bound && ep->ce.type != GNI_CE_CHILD_UNUSED
               ? ep
               : NULL;
}

static gni_return_t set_children(struct gni_ce *ce, gni_ep_handle_t *child_eps, uint32_t count)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct gni_ep *ep = member(ce->nic, child_eps[i]);
        struct gni_ce_member *child;

        if (ep == NULL || (used >> ep->ce.child & 1)) {
            for (i = 0; i < GNI_CE_MAX_CHILDREN; i++)
                ce->channel->child[i].type = GNI_CE_CHILD_UNUSED;
            return GNI_RC_INVALID_PARAM;
        }
        used |= 1u << ep->ce.child;
        child = &ce->channel->child[ep->ce.child];
        child->type = ep->ce.type;
        child->at = ep->ce.at;
    }
    return GNI_RC_SUCCESS;
}

static gni_return_t configure(struct gni_ce *ce, gni_ep_handle_t *child_eps, uint32_t count,
                              const struct gni_ep *parent, struct gni_cq *cq, uint32_t modes)
{
    struct gni_ce_channel *channel = ce->channel;
    gni_return_t code;

    if (atomic_load_explicit(&channel->is_configured, memory_order_relaxed))
        return GNI_RC_INVALID_STATE;
    if (cq != NULL && gni_cq_ring_prepare(cq, "GNI_CeConfigure") != 0)
        return GNI_RC_ERROR_RESOURCE;
    code = set_children(ce, child_eps, count);
    if (code != GNI_RC_SUCCESS)
        return code;
    if (parent != NULL) {
        channel->has_parent = 1;
        channel->parent = parent->ce.at;
        channel->parent_child = parent->ce.child;
    }
    if (cq != NULL) {
        channel->ring = cq->ring_location;
        channel->ring_slots = cq->ring_slots;
        ce->cq = cq;
        cq->ces++;
    }
    channel->modes = modes;
    atomic_store_explicit(&channel->is_configured, 1, memory_order_release);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CeConfigure(gni_ce_handle_t ce_hndl, gni_ep_handle_t *child_eps,
                             uint32_t num_child_eps, gni_ep_handle_t parent_ep,
                             gni_cq_handle_t cq_hndl, uint32_t modes)
{
    struct gni_ce *ce = gni_handle_find(ce_hndl, GNI_KIND_CE);
    struct gni_cq *cq = gni_handle_find(cq_hndl, GNI_KIND_CQ);
    struct gni_ep *parent = NULL;
    gni_return_t code;

    gni_forget_failure();
    if (ce == NULL || child_eps == NULL || num_child_eps == 0 ||
        num_child_eps > GNI_CE_MAX_CHILDREN || !is_modes(modes) ||
        (cq_hndl != NULL && (cq == NULL || cq->nic != ce->nic)))
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ce->nic->lock);
    if (parent_ep != NULL)
        parent = member(ce->nic, parent_ep);
    if (parent_ep != NULL && (parent == NULL || parent->ce.type != GNI_CE_CHILD_VCE))
        code = GNI_RC_INVALID_PARAM;
    else
        code = configure(ce, child_eps, num_child_eps, parent, cq, modes);
    gni_leave(&ce->nic->lock);
    return code;
}
