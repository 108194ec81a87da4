/* The collective engine as its callers see it: leaves that post into channels, and their results.
 */
#include "gni_ce.h"

#define LOOK_NS 1000000000ull /* a leaf that waits asks this often whether all others live */
#define RESULT_ALIGNMENT 32u
#define CONTROL_DELIVERED 0x8000ull
#define CONTROL_PENDING 0x4000ull
#define CONTROL_STATUS 0x3full
#define CONTROL_FPE(control) ((control) >> 8 & 0xfull)
#define CONTROL_RED_ID 16

/* While a result has not come, its place names the endpoint, for GNI_CeCheckResult has no other
 * way to the process that can get it. */
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
    GNI_UNLINK(ep->nic->ce_waiting, ep, ce.next);
    if (status != GNI_STATUS_OK)
        gni_errors_note(ep->nic, status);
    ep->ce.descriptor->status = status == GNI_STATUS_OK ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR;
    if (request == NULL)
        return;
    request->status = status;
    gni_cq_push(request->cq, GNI_ENTRY(GNI_SOURCE_SREQ, status, GNI_CQ_EVENT_TYPE_POST,
                                       request->tid, ep->local_event & 0xffffffu));
}

static void fail(struct gni_ep *ep, uint32_t status)
{
    struct gni_ce_part part = {.status = status, .red_id = ep->ce.descriptor->ce_red_id};

    settle(ep, &part);
}

static void walk(struct gni_ep *ep)
{
    struct gni_nic *nic = ep->nic;
    struct gni_ce_place place;
    struct gni_ce_part part;
    uint64_t now;

    if (gni_ce_open(nic, &ep->ce.at, &place) != GNI_STATUS_OK) {
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
    now = snic_coarse_ns();
    if (now - ep->ce.looked_ns < LOOK_NS)
        return;
    ep->ce.looked_ns = now;
    if (gni_ce_is_lost(nic, &place))
        fail(ep, GNI_CE_STATUS_UNREACHABLE);
}

/* One step of one leaf that waits. */
static void look(struct gni_ep *ep)
{
    ep->nic->ce_walk++;
    walk(ep);
    ep->nic->ce_walk++;
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
    if (!ep->ce.is_waiting)
        return;
    GNI_UNLINK(ep->nic->ce_waiting, ep, ce.next);
    if (ep->ce.request != NULL) /* no event will ever come of it */
        gni_cq_request_free(ep->ce.request);
    ep->ce.is_waiting = 0;
}

static void begin(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *d,
                  gni_ce_result_t *result)
{
    d->next_descr = NULL;
    d->cq_mode_complete = 0;
    d->status = GNI_RC_NOT_DONE;
    result->result1 = (uint64_t)(uintptr_t)ep->handle;
    result->control = CONTROL_PENDING;
    ep->ce.request = cq ? gni_post_request(ep, cq, d, 1) : NULL;
    ep->ce.descriptor = d;
    ep->ce.result = result;
    ep->ce.mode = d->ce_mode;
    ep->ce.looked_ns = snic_coarse_ns();
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

    if (gni_ce_open(ep->nic, &ep->ce.at, &place) != GNI_STATUS_OK)
        return GNI_CE_STATUS_UNREACHABLE;
    if (!atomic_load_explicit(&place.channel->is_configured, memory_order_acquire))
        return GNI_CE_STATUS_UNEXPECTED;
    child = &place.channel->child[ep->ce.child];
    if (child->type != GNI_CE_CHILD_PE || child->at.pe != ep->nic->pe)
        return GNI_CE_STATUS_CHILD_INVALID;
    round = atomic_load_explicit(&place.channel->round, memory_order_acquire);
    if (atomic_load_explicit(&child->joined, memory_order_relaxed) > round)
        return GNI_CE_STATUS_DUPLICATE;
    child->given =
        (struct gni_ce_part){.operand = {d->first_operand & mask, d->second_operand & mask},
                             .red_id = d->ce_red_id & (UINT64_MAX >> CONTROL_RED_ID),
                             .command = (uint32_t)d->ce_cmd,
                             .mode = d->ce_mode};
    atomic_store_explicit(&child->leaf, GNI_CE_LEAF | ep->nic->inst, memory_order_release);
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
