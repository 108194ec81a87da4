/* Completion queues. A source queue is private memory; a destination queue is a ring that peers
 * map. Which of the two a queue is shows when it is first used. */
#include "gni_library.h"
#include <errno.h>
#include <stdlib.h>

#define ENTRIES_PER_PAGE 512u
#define ENTRIES_MAX (1u << 26)
#define FOREVER_MS 0xffffffffull /* also what a 32-bit -1 becomes */

/* ---- making and freeing ---- */

static uint32_t capacity_of(uint32_t entry_count)
{
    uint32_t count = entry_count ? entry_count : 1;

    if (snic_setting("GNI_SHIM_CQ_EXACT", 0))
        return count;
    return (count + ENTRIES_PER_PAGE - 1) / ENTRIES_PER_PAGE * ENTRIES_PER_PAGE;
}

gni_return_t GNI_CqCreate(gni_nic_handle_t nic_hndl, uint32_t entry_count, uint32_t delay_count,
                          gni_cq_mode_t mode, void (*handler)(gni_cq_entry_t *, void *),
                          void *context, gni_cq_handle_t *cq_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_cq *cq;

    (void)delay_count;
    if (nic == NULL || cq_hndl == NULL || GNI_CQ_IS_INVALID_EMULATED(mode))
        return GNI_RC_INVALID_PARAM;
    if (entry_count > ENTRIES_MAX)
        return GNI_RC_ERROR_RESOURCE;
    cq = calloc(1, sizeof(*cq));
    if (cq == NULL)
        return GNI_RC_ERROR_NOMEM;
    cq->nic = nic;
    cq->mode = mode;
    cq->capacity = capacity_of(entry_count);
    cq->handler = handler;
    cq->context = context;
    cq->handle = gni_handle_give(GNI_KIND_CQ, cq);
    if (cq->handle == NULL) {
        free(cq);
        return GNI_RC_ERROR_RESOURCE;
    }
    gni_enter(&nic->lock);
    cq->next = nic->cqs;
    nic->cqs = cq;
    gni_leave(&nic->lock);
    *cq_hndl = (gni_cq_handle_t)cq->handle;
    return GNI_RC_SUCCESS;
}

static void drop_requests(struct gni_cq *cq)
{
    free(cq->requests);
    free(cq->free);
    free(cq->events);
    cq->requests = NULL;
    cq->free = NULL;
    cq->events = NULL;
}

int gni_cq_source_prepare(struct gni_cq *cq)
{
    uint32_t entries = cq->capacity > 2 ? cq->capacity - 2 : 1;
    uint32_t count = cq->nic->modes & GNI_CDM_MODE_DUAL_EVENTS ? (entries + 1) / 2 : entries;

    if (cq->requests != NULL)
        return 0;
    if (count > 0x3fffffu - 1)
        count = 0x3fffffu - 1; /* 22 bits of an entry */
    cq->requests = calloc(count, sizeof(*cq->requests));
    cq->free = calloc(count, sizeof(*cq->free));
    cq->event_slots = 2 * count + 1; /* one stays free: head and tail differ while there is one */
    cq->events = calloc(cq->event_slots, sizeof(*cq->events));
    if (cq->requests == NULL || cq->free == NULL || cq->events == NULL) {
        drop_requests(cq);
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < count; i++) {
        cq->requests[i].cq = cq;
        cq->requests[i].tid = i + 1;
        cq->free[i] = count - 1 - i;
    }
    cq->free_count = count;
    cq->request_count = count;
    return 0;
}

int gni_cq_ring_prepare(struct gni_cq *cq, const char *call)
{
    snic_t *snic = cq->nic->snic;
    uint64_t bytes = gni_ring_bytes(cq->capacity);
    char why[SNIC_WHY_MAX] = "";
    void *memory;
    int error;

    if (cq->ring != NULL)
        return 0;
    error = snic_memory_alloc(snic, bytes, 0, &memory, why, sizeof(why));
    if (error != 0) {
        gni_fail("%s: the queue's memory: %s", call, why);
        return error;
    }
    gni_ring_build(memory, cq->capacity);
    error = snic_locate(snic, memory, bytes, &cq->ring_location, why, sizeof(why));
    if (error != 0) {
        snic_memory_free(snic, memory);
        return error;
    }
    cq->ring = memory;
    cq->ring_slots = cq->ring->slots;
    return 0;
}

void gni_cq_free(struct gni_cq *cq)
{
    if (cq->ring != NULL)
        snic_memory_free(cq->nic->snic, cq->ring);
    drop_requests(cq);
    free(cq);
}

/* Posts of an endpoint of another queue may have named this one. */
static int is_awaited(struct gni_cq *cq)
{
    gni_post_progress(cq->nic); /* what was deferred lies in the pool */
    for (uint32_t i = 0; i < cq->request_count; i++)
        if (cq->requests[i].kind != GNI_REQUEST_FREE && cq->requests[i].events != 0 &&
            cq->requests[i].ep != NULL)
            return 1;
    return 0;
}

gni_return_t GNI_CqDestroy(gni_cq_handle_t cq_hndl)
{
    struct gni_cq *cq = gni_handle_find(cq_hndl, GNI_KIND_CQ);
    struct gni_nic *nic;
    gni_return_t code = GNI_RC_SUCCESS;

    if (cq == NULL)
        return GNI_RC_INVALID_PARAM;
    nic = cq->nic;
    gni_enter(&nic->lock);
    if (cq->eps != 0 || cq->memories != 0 || cq->ces != 0 || is_awaited(cq)) {
        code = GNI_RC_ERROR_RESOURCE;
    } else {
        GNI_UNLINK(nic->cqs, cq, next);
        gni_channel_forget(cq);
        gni_handle_take(cq->handle);
        gni_cq_free(cq);
    }
    gni_leave(&nic->lock);
    return code;
}

/* ---- requests and events of a source queue; the NIC's lock is held ---- */

static uint64_t pop(struct gni_cq *cq)
{
    uint64_t entry = cq->events[cq->event_head];

    cq->event_head = cq->event_head + 1 == cq->event_slots ? 0 : cq->event_head + 1;
    return entry;
}

/* The request that an entry names, in use; or NULL. */
static struct gni_request *request_of(struct gni_cq *cq, gni_cq_entry_t entry)
{
    uint64_t tid = entry >> 32 & 0x3fffff;
    struct gni_request *request;

    if (tid == 0 || tid > cq->request_count)
        return NULL;
    request = &cq->requests[tid - 1];
    return request->kind == GNI_REQUEST_FREE ? NULL : request;
}

/* ---- fetching ---- */

/* One event of a request that was posted; 0: its event is not wanted any more. */
static inline int settle(struct gni_request *request, uint64_t *entry, gni_return_t *code)
{
    struct gni_ep *ep = request->ep;
    int is_good = (*entry >> 59 & 15) == GNI_STATUS_OK;

    *code = is_good ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR;
    request->events--;
    if (ep != NULL && request->events == 0)
        ep->outstanding--;
    if (request->kind == GNI_REQUEST_SMSG || ep == NULL) {
        if (request->events == 0)
            gni_cq_request_free(request);
        return ep != NULL;
    }
    request->completed++;
    request->descriptor->status = (uint64_t)*code;
    request->descriptor->post_id = request->post_id;
    request->descriptor->cq_mode_complete |=
        (*entry >> 56 & 7) == GNI_SOURCE_BTE ? GNI_CQMODE_LOCAL_EVENT : GNI_CQMODE_GLOBAL_EVENT;
    return 1;
}

static gni_return_t take_source(struct gni_cq *cq, uint64_t *entry)
{
    gni_return_t code = GNI_RC_NOT_DONE;

    while (cq->event_head != cq->event_tail) {
        struct gni_request *request;

        *entry = pop(cq);
        request = request_of(cq, *entry);
        if (request != NULL && settle(request, entry, &code))
            return code;
    }
    return GNI_RC_NOT_DONE;
}

/* Whether events were lost, once for each event that is fetched: where initiators go on filling the
 * queue, nothing else would ever come out of it. */
static int tells_overrun(struct gni_cq *cq)
{
    if (cq->has_told && gni_ring_has_event(cq->ring, cq->ring_slots))
        return 0;
    /* Acquire; partner: the release store in gni_ring_append. */
    cq->has_told = atomic_exchange_explicit(&cq->ring->overrun, 0, memory_order_acquire) != 0;
    return (int)cq->has_told;
}

static gni_return_t take_destination(struct gni_cq *cq, uint64_t *entry)
{
    /* Written only where there is one: the line is the one that initiators append by. */
    if (atomic_load_explicit(&cq->ring->overrun, memory_order_relaxed) && tells_overrun(cq)) {
        *entry = GNI_ENTRY_OVERRUN | GNI_ENTRY(GNI_SOURCE_REMOTE, 0, 0, 0, 0);
        return GNI_RC_ERROR_RESOURCE;
    }
    if (!gni_ring_take(cq->ring, cq->ring_slots, entry))
        return GNI_RC_NOT_DONE;
    cq->has_told = 0;
    return (*entry >> 59 & 15) == 0 ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR;
}

/* The NIC's lock is held. */
static gni_return_t take(struct gni_cq *cq, uint64_t *entry)
{
    gni_return_t code = GNI_RC_NOT_DONE;

    if (cq->nic->ce_waiting != NULL)
        gni_ce_progress(cq->nic);
    if (cq->requests != NULL) {
        if (cq->nic->deferred != NULL)
            gni_post_progress(cq->nic);
        code = take_source(cq, entry);
    }
    if (cq->nic->undelivered)
        gni_datagram_progress(cq->nic);
    if (code == GNI_RC_NOT_DONE && cq->ring != NULL)
        code = take_destination(cq, entry);
    if (code == GNI_RC_NOT_DONE) {
        cq->nic->turn++;
        if (gni_nic_whole(cq->nic) != GNI_RC_SUCCESS)
            code = GNI_RC_INVALID_STATE;
    }
    return code;
}

static __attribute__((noinline)) gni_return_t get_event(struct gni_cq *cq,
                                                        gni_cq_entry_t *event_data)
{
    gni_return_t code;

    gni_enter(&cq->nic->lock);
    code = take(cq, event_data);
    gni_leave(&cq->nic->lock);
    if (cq->handler != NULL && (code == GNI_RC_SUCCESS || code == GNI_RC_TRANSACTION_ERROR))
        cq->handler(event_data, cq->context);
    return code;
}

/* A good event of a source queue where nothing else waits to be done: 1; else nothing happened. */
static inline int take_at_once(struct gni_cq *cq, uint64_t *event)
{
    const struct gni_nic *nic = cq->nic;
    struct gni_request *request;
    gni_return_t code;
    uint64_t entry;

    if (cq->event_head == cq->event_tail || nic->deferred != NULL || nic->undelivered != 0 ||
        nic->ce_waiting != NULL)
        return 0;
    entry = cq->events[cq->event_head];
    request = request_of(cq, entry);
    if (request == NULL || request->ep == NULL || (entry >> 59 & 15) != GNI_STATUS_OK)
        return 0;
    pop(cq);
    settle(request, &entry, &code);
    *event = entry;
    return 1;
}

gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq_hndl, gni_cq_entry_t *event_data)
{
    struct gni_cq *cq = gni_handle_find(cq_hndl, GNI_KIND_CQ);
    struct gni_owner *owner;
    int is_taken;

    if (cq == NULL || event_data == NULL)
        return GNI_RC_INVALID_PARAM;
    owner = cq->handler == NULL ? gni_enter_owned(&cq->nic->lock) : NULL;
    if (owner == NULL)
        return get_event(cq, event_data);
    is_taken = take_at_once(cq, event_data);
    gni_leave_owned(owner);
    return is_taken ? GNI_RC_SUCCESS : get_event(cq, event_data);
}

int gni_cq_waits(struct gni_cq *cq)
{
    if (cq->nic->ce_waiting != NULL)
        gni_ce_progress(cq->nic);
    if (cq->requests != NULL) {
        gni_post_progress(cq->nic);
        if (cq->event_head != cq->event_tail)
            return 1;
    }
    return cq->ring != NULL ? gni_ring_waits(cq->ring, cq->ring_slots) : 0;
}

static int waiting(struct gni_cq *cq)
{
    int state;

    gni_enter(&cq->nic->lock);
    state = gni_cq_waits(cq);
    gni_leave(&cq->nic->lock);
    return state;
}

gni_return_t GNI_CqTestEvent(gni_cq_handle_t cq_hndl)
{
    struct gni_cq *cq = gni_handle_find(cq_hndl, GNI_KIND_CQ);
    int state;

    if (cq == NULL)
        return GNI_RC_INVALID_PARAM;
    state = waiting(cq);
    return state == 0 ? GNI_RC_NOT_DONE : state == 1 ? GNI_RC_SUCCESS : GNI_RC_ERROR_RESOURCE;
}

/* ---- waiting ---- */

/* How one queue of several is looked at while waiting: NOT_DONE goes on. */
typedef gni_return_t look_fn(struct gni_cq *cq, gni_cq_entry_t *event_data);

static gni_return_t look_only(struct gni_cq *cq, gni_cq_entry_t *event_data)
{
    (void)event_data;
    return waiting(cq) ? GNI_RC_SUCCESS : GNI_RC_NOT_DONE;
}

/* Sleeps at the first queue's NIC; it notices those of others a little later. */
static gni_return_t wait_for(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout_ms,
                             look_fn *look, gni_cq_entry_t *event_data, uint32_t *which)
{
    uint64_t end = timeout_ms >= FOREVER_MS ? UINT64_MAX : snic_now_ns() + timeout_ms * 1000000ull;
    struct gni_cq *first = NULL;
    int64_t slice = GNI_SLICE_NS;

    for (uint32_t i = 0; i < num_cqs; i++) {
        struct gni_cq *cq = gni_handle_find(cq_hndls[i], GNI_KIND_CQ);

        if (cq == NULL)
            return GNI_RC_INVALID_PARAM;
        if (!(cq->mode & GNI_CQ_BLOCKING))
            return GNI_RC_ERROR_RESOURCE;
        first = first ? first : cq;
        if (cq->nic != first->nic)
            slice = 1000000;
    }
    for (;;) {
        uint32_t bell = snic_doorbell(first->nic->snic);
        uint64_t now;

        for (uint32_t i = 0; i < num_cqs; i++) {
            struct gni_cq *cq = gni_handle_find(cq_hndls[i], GNI_KIND_CQ);
            gni_return_t code = cq ? look(cq, event_data) : GNI_RC_INVALID_PARAM;

            *which = i;
            if (code != GNI_RC_NOT_DONE)
                return code;
        }
        now = snic_now_ns();
        if (now >= end)
            return GNI_RC_TIMEOUT;
        if (end - now < (uint64_t)slice)
            slice = (int64_t)(end - now);
        snic_wait(first->nic->snic, bell, slice);
    }
}

gni_return_t GNI_CqWaitEvent(gni_cq_handle_t cq_hndl, uint64_t timeout, gni_cq_entry_t *event_data)
{
    uint32_t which;

    if (gni_handle_find(cq_hndl, GNI_KIND_CQ) == NULL || event_data == NULL)
        return GNI_RC_INVALID_PARAM;
    return wait_for(&cq_hndl, 1, timeout, get_event, event_data, &which);
}

gni_return_t GNI_CqVectorWaitEvent(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout,
                                   gni_cq_entry_t *event_data, uint32_t *which)
{
    if (cq_hndls == NULL || num_cqs == 0 || event_data == NULL || which == NULL)
        return GNI_RC_INVALID_PARAM;
    return wait_for(cq_hndls, num_cqs, timeout, get_event, event_data, which);
}

gni_return_t GNI_CqVectorMonitor(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout,
                                 uint32_t *which)
{
    if (cq_hndls == NULL || num_cqs == 0 || which == NULL)
        return GNI_RC_INVALID_PARAM;
    return wait_for(cq_hndls, num_cqs, timeout, look_only, NULL, which);
}

static gni_return_t mask(gni_cq_handle_t cq_hndl, int by)
{
    struct gni_cq *cq = gni_handle_find(cq_hndl, GNI_KIND_CQ);

    if (cq == NULL || !(cq->mode & GNI_CQ_BLOCKING) || (by < 0 && cq->mask == 0))
        return GNI_RC_INVALID_PARAM;
    cq->mask = (uint32_t)((int)cq->mask + by);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CqInterruptMask(gni_cq_handle_t cq_hndl)
{
    return mask(cq_hndl, 1);
}

gni_return_t GNI_CqInterruptUnmask(gni_cq_handle_t cq_hndl)
{
    return mask(cq_hndl, -1);
}

/* ---- from an event to its descriptor ---- */

static inline gni_return_t take_completed(struct gni_cq *cq, gni_cq_entry_t event,
                                          gni_post_descriptor_t **descriptor)
{
    struct gni_request *request = request_of(cq, event);
    gni_return_t code = GNI_RC_INVALID_PARAM;

    *descriptor = NULL;
    if (request == NULL || request->kind != GNI_REQUEST_POST || request->completed == 0)
        return code;
    *descriptor = request->descriptor;
    code = request->status == GNI_STATUS_OK ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR;
    if (--request->completed == 0 && request->events == 0)
        gni_cq_request_free(request);
    return code;
}

static __attribute__((noinline)) gni_return_t get_completed(struct gni_cq *cq, gni_cq_entry_t event,
                                                            gni_post_descriptor_t **descriptor)
{
    gni_return_t code;

    gni_enter(&cq->nic->lock);
    code = take_completed(cq, event, descriptor);
    gni_leave(&cq->nic->lock);
    return code;
}

gni_return_t GNI_GetCompleted(gni_cq_handle_t cq_hndl, gni_cq_entry_t event_data,
                              gni_post_descriptor_t **post_descr)
{
    struct gni_cq *cq = gni_handle_find(cq_hndl, GNI_KIND_CQ);
    struct gni_owner *owner;
    gni_return_t code;

    if (cq == NULL || post_descr == NULL)
        return GNI_RC_INVALID_PARAM;
    if ((event_data >> 54 & 3) != GNI_CQ_EVENT_TYPE_POST) {
        *post_descr = NULL;
        return GNI_RC_DESCRIPTOR_ERROR;
    }
    owner = gni_enter_owned(&cq->nic->lock);
    if (owner == NULL)
        return get_completed(cq, event_data, post_descr);
    code = take_completed(cq, event_data, post_descr);
    gni_leave_owned(owner);
    return code;
}
