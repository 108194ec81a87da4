/* FMA and RDMA posts, values written into queues, chains. */
#include "gni_remote.h"
#include <string.h>

#define RDMA_MAX 0xffffffffull
#define AMO_NO_FETCH 0x100u
#define AMO_SMALL 0x200u
#define CQWRITE_MASK 0x0000ffffffffffffull

/* ---- doing it: enum gni_status ---- */

static uint32_t put(struct gni_nic *nic, struct gni_target *target, gni_post_descriptor_t *d)
{
    int is_rdma = d->type == GNI_POST_RDMA_PUT;
    uint64_t done = 0, piece = d->length;
    uint32_t status = gni_target_check(target, d->remote_addr, d->length, 1);

    if (status == GNI_STATUS_OK && d->type == GNI_POST_FMA_PUT_W_SYNCFLAG)
        status = gni_target_check(target, d->sync_flag_addr, 8, 1);
    for (; status == GNI_STATUS_OK && done < d->length; done += piece) {
        uint8_t *at = (uint8_t *)(uintptr_t)(d->local_addr + done);

        if (is_rdma)
            status = gni_local_range(nic, &d->local_mem_hndl, d->local_addr + done,
                                     d->length - done, &at, &piece);
        if (status == GNI_STATUS_OK)
            status = gni_target_write(target, d->remote_addr + done, at, piece);
    }
    if (status == GNI_STATUS_OK && d->type == GNI_POST_FMA_PUT_W_SYNCFLAG)
        status = gni_target_store(target, d->sync_flag_addr, 0, d->sync_flag_value);
    return status;
}

/* The flag behind fetched bytes, after them. Segments may lie at any address. */
static void store_flag(uint8_t *at, uint64_t value)
{
    uint32_t flag = (uint32_t)value;

    if (((uintptr_t)at & 3) == 0) {
        __atomic_store_n((uint32_t *)(void *)at, flag, __ATOMIC_RELEASE);
        return;
    }
#ifndef SNIC_TSAN /* which knows no fences */
    atomic_thread_fence(memory_order_release);
#endif
    memcpy(at, &flag, sizeof(flag));
}

/* Local memory that a transaction stores into. */
static uint32_t local_sink(struct gni_nic *nic, const gni_mem_handle_t *handle, uint64_t address,
                           uint64_t length, uint8_t **at, uint64_t *piece)
{
    uint32_t status = gni_local_range(nic, handle, address, length, at, piece);

    return status == GNI_STATUS_OK && (gni_handle_flags(handle) & GNI_HANDLE_READ_ONLY)
               ? GNI_STATUS_READ_ONLY
               : status;
}

static uint32_t get(struct gni_nic *nic, struct gni_target *target, gni_post_descriptor_t *d)
{
    uint64_t done = 0, piece = 0;
    uint32_t status = gni_target_check(target, d->remote_addr, d->length, 0);
    uint8_t *at = NULL;

    for (; status == GNI_STATUS_OK && done < d->length; done += piece) {
        status = local_sink(nic, &d->local_mem_hndl, d->local_addr + done, d->length - done, &at,
                            &piece);
        if (status == GNI_STATUS_OK)
            status = gni_target_read(target, d->remote_addr + done, at, piece);
    }
    if (status != GNI_STATUS_OK || d->type != GNI_POST_FMA_GET_W_FLAG)
        return status;
    status = local_sink(nic, &d->local_mem_hndl, d->local_addr + d->length, 4, &at, &piece);
    if (status == GNI_STATUS_OK && piece < 4)
        status = GNI_STATUS_BOUNDS; /* half of it in another segment */
    if (status == GNI_STATUS_OK)
        store_flag(at, d->sync_flag_value);
    return status;
}

static uint32_t amo(struct gni_nic *nic, struct gni_target *target, gni_post_descriptor_t *d)
{
    uint32_t size = d->amo_cmd & AMO_SMALL ? 4 : 8;
    uint32_t status = gni_target_check(target, d->remote_addr, d->length, 1);
    uint32_t fetched = size + (d->type == GNI_POST_AMO_W_FLAG ? 4u : 0u);
    uint64_t before = 0, piece = 0;
    uint8_t *at = NULL;

    if (status == GNI_STATUS_OK && !(d->amo_cmd & AMO_NO_FETCH)) {
        status = local_sink(nic, &d->local_mem_hndl, d->local_addr, fetched, &at, &piece);
        if (status == GNI_STATUS_OK && piece < fetched)
            status = GNI_STATUS_BOUNDS; /* the rest lies in another segment */
    }
    if (status == GNI_STATUS_OK)
        status = gni_target_amo(target, d->remote_addr, (uint32_t)d->amo_cmd, d->first_operand,
                                d->second_operand, &before);
    if (status != GNI_STATUS_OK || at == NULL)
        return status;
    memcpy(at, &before, size);
    if (d->type == GNI_POST_AMO_W_FLAG)
        store_flag(at + size, d->sync_flag_value);
    return status;
}

static uint32_t transfer(struct gni_nic *nic, struct gni_target *target, gni_post_descriptor_t *d)
{
    switch (d->type) {
    case GNI_POST_RDMA_PUT:
    case GNI_POST_FMA_PUT:
    case GNI_POST_FMA_PUT_W_SYNCFLAG:
        return put(nic, target, d);
    case GNI_POST_RDMA_GET:
    case GNI_POST_FMA_GET:
    case GNI_POST_FMA_GET_W_FLAG:
        return get(nic, target, d);
    case GNI_POST_AMO:
    case GNI_POST_AMO_W_FLAG:
        return amo(nic, target, d);
    default:
        return GNI_STATUS_OK;
    }
}

static struct gni_reach *reach_of(struct gni_ep *ep, const gni_mem_handle_t *handle)
{
    ep->recent = &ep->reach[gni_handle_index(handle) % GNI_REACHES];
    return ep->recent;
}

uint32_t gni_post_execute(struct gni_ep *ep, gni_post_descriptor_t *d)
{
    struct gni_nic *nic = ep->nic;
    struct gni_target target;
    uint32_t status;
    uint64_t event =
        d->type == GNI_POST_CQWRITE ? d->cqwrite_value & CQWRITE_MASK : (uint64_t)ep->remote_event;

    if (d->type == GNI_POST_RDMA_PUT && d->length > RDMA_MAX)
        return GNI_STATUS_BOUNDS;
    status = gni_target_open(ep, reach_of(ep, &d->remote_mem_hndl), &d->remote_mem_hndl, &target);
    if (status == GNI_STATUS_OK)
        status = transfer(nic, &target, d);
    SNIC_STEP("gni.post.moved");
    if (status == GNI_STATUS_OK &&
        (d->type == GNI_POST_CQWRITE || (d->cq_mode & GNI_CQMODE_REMOTE_EVENT)))
        gni_target_event(&target, event | (uint64_t)GNI_SOURCE_REMOTE << 56);
    if (status != GNI_STATUS_OK)
        gni_errors_note(nic, status);
    return status;
}

/* ---- requests ---- */

static void complete(struct gni_request *request, uint32_t status, uint16_t cq_mode)
{
    uint32_t tid = request->tid, id = request->ep ? request->ep->local_event : 0;

    request->status = (uint8_t)status;
    if (request->cq->nic->is_aries)
        id &= 0xffffffu;
    if (cq_mode & GNI_CQMODE_LOCAL_EVENT)
        gni_cq_push(request->cq,
                    GNI_ENTRY(GNI_SOURCE_BTE, cq_mode & GNI_CQMODE_GLOBAL_EVENT ? 0 : status,
                              GNI_CQ_EVENT_TYPE_POST, tid, id));
    if (cq_mode & GNI_CQMODE_GLOBAL_EVENT)
        gni_cq_push(request->cq,
                    GNI_ENTRY(GNI_SOURCE_SREQ, status, GNI_CQ_EVENT_TYPE_POST, tid, id));
}

static uint8_t events_of(uint16_t cq_mode)
{
    return (uint8_t)((cq_mode & GNI_CQMODE_LOCAL_EVENT ? 1 : 0) +
                     (cq_mode & GNI_CQMODE_GLOBAL_EVENT ? 1 : 0));
}

/* A queue that events of this post can go to; NULL with *code set. */
struct gni_cq *gni_post_source(struct gni_ep *ep, gni_cq_handle_t named, gni_return_t *code)
{
    struct gni_cq *cq = named ? gni_handle_find(named, GNI_KIND_CQ) : ep->cq;

    *code = GNI_RC_INVALID_PARAM;
    if (cq == NULL || cq->nic != ep->nic || cq->memories != 0)
        return NULL;
    if (cq->requests == NULL && gni_cq_source_prepare(cq) != 0)
        *code = GNI_RC_ERROR_NOMEM;
    else if (cq->free_count == 0)
        *code = GNI_RC_ERROR_RESOURCE;
    else
        *code = GNI_RC_SUCCESS;
    return *code == GNI_RC_SUCCESS ? cq : NULL;
}

void gni_post_account(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *d,
                      uint32_t status)
{
    struct gni_request *request;

    if (cq == NULL) {
        d->status = status == GNI_STATUS_OK ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR;
        return;
    }
    request = gni_post_request(ep, cq, d, events_of(d->cq_mode));
    complete(request, status, d->cq_mode);
    if (request->events == 0)
        gni_cq_request_free(request);
}

static void defer(struct gni_nic *nic, struct gni_request *request)
{
    request->next = NULL;
    *nic->deferred_end = request;
    nic->deferred_end = &request->next;
}

/* Everything was checked. Does it now, or leaves it for GNI_CqGetEvent. */
static gni_return_t run(struct gni_ep *ep, struct gni_cq *cq, gni_post_descriptor_t *d)
{
    d->next_descr = NULL;
    d->cq_mode_complete = 0;
    if (ep->nic->is_deferring && cq != NULL && events_of(d->cq_mode) != 0 &&
        (d->type == GNI_POST_RDMA_PUT || d->type == GNI_POST_RDMA_GET))
        defer(ep->nic, gni_post_request(ep, cq, d, events_of(d->cq_mode)));
    else
        gni_post_account(ep, cq, d, gni_post_execute(ep, d));
    return GNI_RC_SUCCESS;
}

void gni_post_progress(struct gni_nic *nic)
{
    while (nic->deferred != NULL) {
        struct gni_request *request = nic->deferred;

        nic->deferred = request->next;
        if (nic->deferred == NULL)
            nic->deferred_end = &nic->deferred;
        if (request->ep == NULL) { /* destroyed: no caller asks for its events */
            gni_cq_request_free(request);
            continue;
        }
        complete(request, gni_post_execute(request->ep, request->descriptor),
                 request->descriptor->cq_mode);
        if (request->events == 0)
            gni_cq_request_free(request);
    }
}

void gni_post_forget(struct gni_ep *ep)
{
    for (struct gni_cq *cq = ep->nic->cqs; cq != NULL; cq = cq->next)
        for (uint32_t i = 0; i < cq->request_count; i++)
            if (cq->requests[i].kind != GNI_REQUEST_FREE && cq->requests[i].ep == ep)
                cq->requests[i].ep = NULL;
}

/* ---- checks ---- */

static gni_return_t check_handles(struct gni_nic *nic, const gni_post_descriptor_t *d)
{
    uint8_t *at;
    uint64_t piece;

    if (!nic->is_strict)
        return GNI_RC_SUCCESS;
    if (!gni_handle_is_valid(&d->remote_mem_hndl) || d->length == 0)
        return GNI_RC_INVALID_PARAM;
    return gni_local_range(nic, &d->local_mem_hndl, d->local_addr, d->length, &at, &piece) ==
                   GNI_STATUS_OK
               ? GNI_RC_SUCCESS
               : GNI_RC_INVALID_PARAM;
}

static gni_return_t check_rdma(struct gni_ep *ep, gni_post_descriptor_t *d, struct gni_cq **cq)
{
    int is_get = d->type == GNI_POST_RDMA_GET;
    const gni_mem_handle_t *written = is_get ? &d->local_mem_hndl : &d->remote_mem_hndl;
    gni_return_t code = GNI_RC_SUCCESS;

    *cq = NULL;
    if (!ep->is_bound || (d->type != GNI_POST_RDMA_PUT && !is_get) || d->length > RDMA_MAX)
        return GNI_RC_INVALID_PARAM;
    if ((d->cq_mode & GNI_CQMODE_DUAL_EVENTS) == GNI_CQMODE_DUAL_EVENTS &&
        !(ep->nic->modes & GNI_CDM_MODE_DUAL_EVENTS))
        return GNI_RC_INVALID_PARAM;
    if (d->cq_mode != GNI_CQMODE_SILENT) {
        if (d->src_cq_hndl == NULL && ep->cq != NULL)
            d->src_cq_hndl = (gni_cq_handle_t)ep->cq->handle;
        *cq = gni_post_source(ep, d->src_cq_hndl, &code);
        if (*cq == NULL)
            return code;
    }
    if ((gni_handle_flags(written) & GNI_HANDLE_READ_ONLY) && gni_handle_is_valid(written))
        return GNI_RC_PERMISSION_ERROR;
    if (is_get && gni_post_is_unaligned(d, 4))
        return GNI_RC_ALIGNMENT_ERROR;
    return check_handles(ep->nic, d);
}

gni_return_t GNI_PostRdma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    struct gni_cq *cq;
    gni_return_t code;

    if (ep == NULL || post_descr == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    code = check_rdma(ep, post_descr, &cq);
    if (code == GNI_RC_SUCCESS)
        code = run(ep, cq, post_descr);
    gni_leave(&ep->nic->lock);
    return code;
}

static gni_return_t check_fma(struct gni_ep *ep, gni_post_descriptor_t *d, struct gni_cq **cq)
{
    gni_return_t code;

    *cq = NULL;
    if (!ep->is_bound || (d->cq_mode & GNI_CQMODE_LOCAL_EVENT))
        return GNI_RC_INVALID_PARAM;
    if (d->type == GNI_POST_CE) /* has checks of its own */
        return GNI_RC_SUCCESS;
    code = gni_post_check_fma(d);
    if (code == GNI_RC_SUCCESS && d->cq_mode != GNI_CQMODE_SILENT)
        *cq = gni_post_source(ep, NULL, &code);
    return code;
}

/* The commonest post: an FMA put of 8 bytes with a global event or none into memory that is mapped
 * here and was looked up before. Calls nothing. 1: done; 0: it is not that, or not good, and
 * nothing has happened. What its owner publishes is not asked: the key is, pinned, and goes with
 * it. */
static inline int put_at_once(struct gni_ep *ep, gni_post_descriptor_t *d)
{
    struct gni_reach *reach = ep->recent; /* of an unbound endpoint: empty */
    struct gni_cq *cq = ep->cq;
    uint64_t at = d->remote_addr - reach->mdh.address;
    int is_told = d->cq_mode != GNI_CQMODE_SILENT;

    if (d->type != GNI_POST_FMA_PUT || reach->handle.qword2 != d->remote_mem_hndl.qword2 ||
        reach->handle.qword1 != d->remote_mem_hndl.qword1 || reach->written == 0 ||
        reach->written != reach->peer->drops || at > reach->mdh.length ||
        reach->mdh.length - at < 8)
        return 0;
    if (is_told && (d->cq_mode != GNI_CQMODE_GLOBAL_EVENT || cq == NULL || cq->free_count == 0 ||
                    cq->memories != 0 || (cq->mode & GNI_CQ_BLOCKING)))
        return 0;
    if (gni_peer_is_due(ep->nic, reach->peer) || snic_reach_pin(&reach->snic) != 0)
        return 0;
    snic_reach_copy(reach->at + at, (void *)(uintptr_t)d->local_addr, 8);
    SNIC_STEP("put.copied");
    snic_reach_unpin(&reach->snic);
    if (snic_reach_whole(&reach->snic) != 0)
        return 0; /* no peer: the slow path reports what is missing */
    SNIC_STEP("gni.post.moved");
    d->next_descr = NULL;
    d->cq_mode_complete = 0;
    d->status = GNI_RC_SUCCESS;
    if (is_told) {
        uint32_t id = ep->nic->is_aries ? ep->local_event & 0xffffffu : ep->local_event;
        uint32_t tid = gni_post_request(ep, cq, d, 1)->tid;

        gni_cq_append(cq, GNI_ENTRY(GNI_SOURCE_SREQ, 0, GNI_CQ_EVENT_TYPE_POST, tid, id));
    }
    return 1;
}

static __attribute__((noinline)) gni_return_t post_fma(struct gni_ep *ep, gni_post_descriptor_t *d)
{
    struct gni_cq *cq;
    gni_return_t code;

    gni_enter(&ep->nic->lock);
    code = check_fma(ep, d, &cq);
    if (code == GNI_RC_SUCCESS)
        code = d->type == GNI_POST_CE ? gni_ce_post(ep, d) : run(ep, cq, d);
    gni_leave(&ep->nic->lock);
    return code;
}

gni_return_t GNI_PostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    struct gni_owner *owner;
    int is_done;

    if (ep == NULL || post_descr == NULL)
        return GNI_RC_INVALID_PARAM;
    owner = post_descr->length == 8 ? gni_enter_owned(&ep->nic->lock) : NULL;
    if (owner == NULL)
        return post_fma(ep, post_descr);
    is_done = put_at_once(ep, post_descr);
    gni_leave_owned(owner);
    return is_done ? GNI_RC_SUCCESS : post_fma(ep, post_descr);
}

gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    struct gni_cq *cq = NULL;
    gni_return_t code = GNI_RC_SUCCESS;

    if (ep == NULL || post_descr == NULL || post_descr->type != GNI_POST_CQWRITE)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    if (!ep->is_bound || (post_descr->cq_mode & GNI_CQMODE_LOCAL_EVENT))
        code = GNI_RC_INVALID_PARAM;
    else if (post_descr->cq_mode != GNI_CQMODE_SILENT)
        cq = gni_post_source(ep, NULL, &code);
    if (code == GNI_RC_SUCCESS)
        code = run(ep, cq, post_descr);
    gni_leave(&ep->nic->lock);
    return code;
}
