/* The collective engine as its callers see it: channels, and leaves that post into them. */
#include "gni_ce.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_NS 1000000000ull /* a leaf that waits asks this often whether all others live */
#define RESULT_ALIGNMENT 32u
#define CONTROL_DELIVERED 0x8000ull
#define CONTROL_PENDING 0x4000ull
#define CONTROL_STATUS 0x3full
#define CONTROL_FPE(control) ((control) >> 8 & 0xfull)
#define CONTROL_RED_ID 16
#define EXACTLY_ONE(bits) ((bits) != 0 && ((bits) & ((bits)-1)) == 0)

/* ---- channels ---- */

gni_return_t GNI_CeCreate(gni_nic_handle_t nic_hndl, gni_ce_handle_t *ce_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    char why[SNIC_WHY_MAX] = "";
    snic_location_t location;
    struct gni_ce *ce;
    void *memory;
    int error;

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
    ce->handle = error == 0 ? gni_handle_give(GNI_KIND_CE, ce) : NULL;
    if (ce->handle == NULL) {
        gni_fail("GNI_CeCreate: %s", why);
        free(ce);
        return error == -ENOMEM ? GNI_RC_ERROR_NOMEM : GNI_RC_ERROR_RESOURCE;
    }
    ce->nic = nic;
    ce->channel = memory;
    ce->id = location.memory;
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
    snic_memory_free(ce->nic->snic, ce->channel);
    if (ce->cq != NULL)
        ce->cq->ces--;
    gni_handle_take(ce->handle);
    free(ce);
}

gni_return_t GNI_CeDestroy(gni_ce_handle_t ce_hndl)
{
    struct gni_ce *ce = gni_handle_find(ce_hndl, GNI_KIND_CE);
    struct gni_nic *nic;

    if (ce == NULL)
        return GNI_RC_INVALID_PARAM;
    nic = ce->nic;
    gni_enter(&nic->lock);
    for (struct gni_ce **at = &nic->ces; *at != NULL; at = &(*at)->next)
        if (*at == ce) {
            *at = ce->next;
            break;
        }
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
        ep->ce.id = ce_id;
        ep->ce.child = child_id;
        ep->ce.type = (uint32_t)child_type;
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

    return EXACTLY_ONE(rounding) && EXACTLY_ONE(cqe) && EXACTLY_ONE(routing) &&
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
            memset(ce->channel->child, 0, sizeof(ce->channel->child));
            return GNI_RC_INVALID_PARAM;
        }
        used |= 1u << ep->ce.child;
        child = &ce->channel->child[ep->ce.child];
        child->type = ep->ce.type;
        child->pe = ep->pe;
        child->inst = ep->inst;
        child->id = ep->ce.id;
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
    if (cq != NULL && gni_cq_ring_prepare(cq) != 0)
        return GNI_RC_ERROR_RESOURCE;
    code = set_children(ce, child_eps, count);
    if (code != GNI_RC_SUCCESS)
        return code;
    if (parent != NULL) {
        channel->has_parent = 1;
        channel->parent_pe = parent->pe;
        channel->parent_inst = parent->inst;
        channel->parent_id = parent->ce.id;
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

/* ---- leaves ---- */

/* While a result has not come, its place names the endpoint, for GNI_CeCheckResult has no other
 * way to whoever can get it. */
static void deliver(struct gni_ep *ep, const struct gni_ce_part *part)
{
    gni_ce_result_t *result = ep->ce.result;
    uint64_t fpe = part->fpe & ep->ce.mode >> 1 & 0xfu;

    result->result1 = part->operand[0];
    result->result2 = part->operand[1];
    __atomic_store_n(&result->control,
                     CONTROL_DELIVERED | (part->status & CONTROL_STATUS) | fpe << 8 |
                         part->red_id << CONTROL_RED_ID,
                     __ATOMIC_RELEASE);
}

/* The leaf has its result: the event of the post, and it waits no more. */
static void settle(struct gni_ep *ep, const struct gni_ce_part *part)
{
    struct gni_request *request = ep->ce.request;
    uint32_t status = part->status == 0                           ? GNI_STATUS_OK
                      : part->status == GNI_CE_STATUS_UNREACHABLE ? GNI_STATUS_UNREACHABLE
                                                                  : GNI_STATUS_PROTECTION;

    deliver(ep, part);
    ep->ce.is_waiting = 0;
    for (struct gni_ep **at = &ep->nic->ce_waiting; *at != NULL; at = &(*at)->ce.next)
        if (*at == ep) {
            *at = ep->ce.next;
            break;
        }
    if (status != GNI_STATUS_OK)
        gni_errors_note(ep->nic, status);
    ep->ce.descriptor->status = status == GNI_STATUS_OK ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR;
    if (request == NULL)
        return;
    request->status = status;
    gni_cq_push(request->cq, GNI_ENTRY(GNI_SOURCE_SREQ, status, GNI_CQ_EVENT_TYPE_POST,
                                       gni_cq_tid(request), ep->local_event & 0xffffffu));
}

static void fail(struct gni_ep *ep, uint32_t status)
{
    struct gni_ce_part part = {.status = status, .red_id = ep->ce.descriptor->ce_red_id};

    settle(ep, &part);
}

/* One step of one leaf that waits. */
static void look(struct gni_ep *ep)
{
    struct gni_nic *nic = ep->nic;
    struct gni_ce_place place;
    struct gni_ce_part part;
    uint64_t now;

    if (gni_ce_open(nic, ep->pe, ep->inst, ep->ce.id, &place) != GNI_STATUS_OK) {
        fail(ep, GNI_CE_STATUS_UNREACHABLE);
        return;
    }
    gni_ce_climb(nic, &place, 0);
    /* Acquire; partner: the release store in finish. */
    if (atomic_load_explicit(&place.channel->round, memory_order_acquire) >= ep->ce.round) {
        part = place.channel->result;
        settle(ep, &part);
        return;
    }
    now = gni_coarse_ns();
    if (now - ep->ce.looked_ns < LOOK_NS)
        return;
    ep->ce.looked_ns = now;
    if (gni_ce_is_lost(nic, &place))
        fail(ep, GNI_CE_STATUS_UNREACHABLE);
}

void gni_ce_progress(struct gni_nic *nic)
{
    for (struct gni_ep *ep = nic->ce_waiting, *next; ep != NULL; ep = next) {
        next = ep->ce.next;
        look(ep);
    }
}

void gni_ce_forget(struct gni_ep *ep)
{
    for (struct gni_ep **at = &ep->nic->ce_waiting; *at != NULL; at = &(*at)->ce.next)
        if (*at == ep) {
            *at = ep->ce.next;
            if (ep->ce.request != NULL) /* no event will ever come of it */
                gni_cq_request_free(ep->ce.request);
            break;
        }
    ep->ce.is_waiting = 0;
}

static void begin(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *d,
                  gni_ce_result_t *result)
{
    struct gni_request *request = cq ? gni_cq_request(cq, GNI_REQUEST_POST, 1) : NULL;

    d->next_descr = NULL;
    d->cq_mode_complete = 0;
    d->status = GNI_RC_NOT_DONE;
    if (request != NULL) {
        request->ep = ep;
        request->descriptor = d;
        request->post_id = d->post_id;
        ep->outstanding++;
    }
    result->result1 = (uint64_t)(uintptr_t)ep->handle;
    result->control = CONTROL_PENDING;
    ep->ce.request = request;
    ep->ce.descriptor = d;
    ep->ce.result = result;
    ep->ce.mode = d->ce_mode;
    ep->ce.looked_ns = gni_coarse_ns();
    ep->ce.is_waiting = 1;
    ep->ce.next = ep->nic->ce_waiting;
    ep->nic->ce_waiting = ep;
}

/* enum gni_ce_status, or 0. */
static uint32_t join(struct gni_ep *ep, const gni_post_descriptor_t *d)
{
    uint64_t mask = d->ce_cmd & 1 ? UINT64_MAX : 0xffffffffull, round;
    struct gni_ce_place place;
    struct gni_ce_member *child;

    if (gni_ce_open(ep->nic, ep->pe, ep->inst, ep->ce.id, &place) != GNI_STATUS_OK)
        return GNI_CE_STATUS_UNREACHABLE;
    if (!atomic_load_explicit(&place.channel->is_configured, memory_order_acquire))
        return GNI_CE_STATUS_UNEXPECTED;
    child = &place.channel->child[ep->ce.child];
    if (child->type != GNI_CE_CHILD_PE || child->pe != ep->nic->pe || child->inst != ep->nic->inst)
        return GNI_CE_STATUS_CHILD_INVALID;
    round = atomic_load_explicit(&place.channel->round, memory_order_acquire);
    if (atomic_load_explicit(&child->joined, memory_order_relaxed) > round)
        return GNI_CE_STATUS_DUPLICATE;
    child->given =
        (struct gni_ce_part){.operand = {d->first_operand & mask, d->second_operand & mask},
                             .red_id = d->ce_red_id & (UINT64_MAX >> CONTROL_RED_ID),
                             .command = (uint32_t)d->ce_cmd,
                             .mode = d->ce_mode};
    SNIC_STEP("gni.ce.leaf.given");
    ep->ce.round = round + 1;
    atomic_store_explicit(&child->joined, round + 1, memory_order_release);
    SNIC_STEP("gni.ce.leaf.joined");
    return 0;
}

gni_return_t gni_ce_post(struct gni_ep *ep, gni_post_descriptor_t *d)
{
    struct gni_cq *cq = NULL;
    gni_return_t code = GNI_RC_SUCCESS;
    uint64_t piece;
    uint8_t *at = NULL;
    uint32_t status;

    if (!ep->nic->is_aries)
        return GNI_RC_ILLEGAL_OP;
    if (!ep->is_bound || ep->ce.type != GNI_CE_CHILD_PE || !gni_ce_is_command((uint32_t)d->ce_cmd))
        return GNI_RC_INVALID_PARAM;
    if (d->local_addr % RESULT_ALIGNMENT != 0)
        return GNI_RC_ALIGNMENT_ERROR;
    if (ep->ce.is_waiting) /* it would have the place of the first */
        return GNI_RC_ERROR_RESOURCE;
    if (d->cq_mode & GNI_CQMODE_GLOBAL_EVENT)
        cq = gni_post_source(ep, NULL, &code);
    if (code != GNI_RC_SUCCESS)
        return code;
    status = gni_local_range(ep->nic, &d->local_mem_hndl, d->local_addr, sizeof(gni_ce_result_t),
                             &at, &piece);
    if (status == GNI_STATUS_OK &&
        (piece < sizeof(gni_ce_result_t) || (uintptr_t)at % RESULT_ALIGNMENT != 0))
        status = GNI_STATUS_BOUNDS; /* a segment ends in it, or begins anywhere */
    if (status != GNI_STATUS_OK) {
        gni_post_account(ep, cq, d, status);
        return GNI_RC_SUCCESS;
    }
    begin(ep, cq, d, (gni_ce_result_t *)(void *)at);
    status = join(ep, d);
    if (status != 0)
        fail(ep, status);
    else
        look(ep);
    return GNI_RC_SUCCESS;
}

/* ---- results ---- */

gni_return_t GNI_CeCheckResult(gni_ce_result_t *result, uint32_t length)
{
    uint64_t control;

    if (result == NULL || length == 0)
        return GNI_RC_INVALID_PARAM;
    control = __atomic_load_n(&result->control, __ATOMIC_ACQUIRE);
    if (control & CONTROL_PENDING) {
        struct gni_ep *ep = gni_handle_find((void *)(uintptr_t)result->result1, GNI_KIND_EP);

        if (ep == NULL)
            return GNI_RC_NOT_DONE;
        gni_enter(&ep->nic->lock);
        gni_ce_progress(ep->nic);
        gni_leave(&ep->nic->lock);
        control = __atomic_load_n(&result->control, __ATOMIC_ACQUIRE);
    }
    if (!(control & CONTROL_DELIVERED))
        return GNI_RC_NOT_DONE;
    return (control & CONTROL_STATUS) || CONTROL_FPE(control) ? GNI_RC_TRANSACTION_ERROR
                                                              : GNI_RC_SUCCESS;
}

uint64_t gni_ce_res_get_status(gni_ce_result_t *result)
{
    return result->control & CONTROL_STATUS;
}

uint64_t gni_ce_res_status_ok(gni_ce_result_t *result)
{
    return (result->control & CONTROL_DELIVERED) && (result->control & CONTROL_STATUS) == 0;
}

uint64_t gni_ce_res_get_fpe(gni_ce_result_t *result)
{
    return CONTROL_FPE(result->control);
}

uint64_t gni_ce_res_get_red_id(gni_ce_result_t *result)
{
    return result->control >> CONTROL_RED_ID;
}
