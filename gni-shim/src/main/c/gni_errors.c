/* Subscriptions to errors. An error completion of a NIC handle becomes an event of category
 * TRANSACTION for the subscriber of that handle. */
#include "gni_library.h"
#include <stdlib.h>

#define EVENTS_DEFAULT 64u
#define EVENTS_MAX 65536u

struct gni_err {
    struct gni_err *next;
    void *handle;
    struct gni_nic *nic;
    gni_error_mask_t mask;
    uint32_t size, head, count, serial;
    uint32_t waiters;
    gni_error_event_t *events;
};

void gni_errors_note(struct gni_nic *nic, uint32_t status)
{
    for (struct gni_err *e = nic->errors; e != NULL; e = e->next) {
        gni_error_event_t event = {.error_code = (uint16_t)status,
                                   .error_category = GNI_ERRMASK_TRANSACTION,
                                   .ptag = nic->cdm->ptag,
                                   .serial_number = ++e->serial,
                                   .timestamp = snic_now_ns()};

        if (!(e->mask & GNI_ERRMASK_TRANSACTION) || e->count == e->size)
            continue;
        e->events[(e->head + e->count++) % e->size] = event;
        snic_ring_self(nic->snic);
    }
    if (nic->modes & GNI_CDM_MODE_ERR_ALL_KILL)
        abort();
}

void gni_errors_close(struct gni_nic *nic)
{
    while (nic->errors != NULL) {
        struct gni_err *e = nic->errors;

        nic->errors = e->next;
        gni_handle_take(e->handle);
        free(e->events);
        free(e);
    }
}

gni_return_t GNI_SubscribeErrors(gni_nic_handle_t nic_handle, uint32_t device_id,
                                 gni_error_mask_t mask, uint32_t EEQ_size,
                                 gni_err_handle_t *err_handle)
{
    struct gni_nic *nic = gni_handle_find(nic_handle, GNI_KIND_NIC);
    struct gni_err *e;

    (void)device_id;
    if (nic_handle == NULL)
        return GNI_RC_PERMISSION_ERROR;
    if (nic == NULL || err_handle == NULL || EEQ_size > EVENTS_MAX)
        return GNI_RC_INVALID_PARAM;
    e = calloc(1, sizeof(*e));
    if (e == NULL)
        return GNI_RC_ERROR_NOMEM;
    e->nic = nic;
    e->mask = mask;
    e->size = EEQ_size ? EEQ_size : EVENTS_DEFAULT;
    e->events = calloc(e->size, sizeof(*e->events));
    e->handle = e->events ? gni_handle_give(GNI_KIND_ERR, e) : NULL;
    if (e->handle == NULL) {
        free(e->events);
        free(e);
        return GNI_RC_ERROR_NOMEM;
    }
    gni_enter(&nic->lock);
    e->next = nic->errors;
    nic->errors = e;
    gni_leave(&nic->lock);
    *err_handle = (gni_err_handle_t)e->handle;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_ReleaseErrors(gni_err_handle_t err_handle)
{
    struct gni_err *e = gni_handle_find(err_handle, GNI_KIND_ERR);
    struct gni_nic *nic;

    if (e == NULL)
        return GNI_RC_INVALID_PARAM;
    nic = e->nic;
    gni_enter(&nic->lock);
    if (e->waiters != 0) {
        gni_leave(&nic->lock);
        return GNI_RC_NOT_DONE;
    }
    GNI_UNLINK(nic->errors, e, next);
    gni_leave(&nic->lock);
    gni_handle_take(e->handle);
    free(e->events);
    free(e);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t *mask)
{
    struct gni_err *e = gni_handle_find(err_handle, GNI_KIND_ERR);

    if (e == NULL || mask == NULL)
        return GNI_RC_INVALID_PARAM;
    *mask = e->mask;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_SetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t mask_in,
                              gni_error_mask_t *mask_out)
{
    struct gni_err *e = gni_handle_find(err_handle, GNI_KIND_ERR);

    if (e == NULL)
        return GNI_RC_INVALID_PARAM;
    if (mask_out != NULL)
        *mask_out = e->mask;
    e->mask = mask_in;
    return GNI_RC_SUCCESS;
}

/* The NIC's lock is held. */
static int take(struct gni_err *e, gni_error_event_t *event)
{
    if (e->count == 0)
        return 0;
    *event = e->events[e->head];
    e->head = (e->head + 1) % e->size;
    e->count--;
    return 1;
}

gni_return_t GNI_GetErrorEvent(gni_err_handle_t err_handle, gni_error_event_t *event)
{
    struct gni_err *e = gni_handle_find(err_handle, GNI_KIND_ERR);
    int taken;

    if (e == NULL || event == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&e->nic->lock);
    taken = take(e, event);
    gni_leave(&e->nic->lock);
    return taken ? GNI_RC_SUCCESS : GNI_RC_NOT_DONE;
}

gni_return_t GNI_WaitErrorEvents(gni_err_handle_t err_handle, gni_error_event_t *events,
                                 uint32_t events_size, uint32_t timeout, uint32_t *num_events)
{
    struct gni_err *e = gni_handle_find(err_handle, GNI_KIND_ERR);
    uint32_t most = (uint32_t)(events_size / sizeof(gni_error_event_t));
    uint64_t end = 0;

    if (e == NULL || events == NULL || num_events == NULL || most == 0)
        return GNI_RC_INVALID_PARAM;
    *num_events = 0;
    gni_enter(&e->nic->lock);
    e->waiters++;
    for (;;) {
        uint32_t bell = snic_doorbell(e->nic->snic);

        while (*num_events < most && take(e, &events[*num_events]))
            (*num_events)++;
        if (*num_events != 0 && end == 0)
            end = snic_now_ns() + timeout * 1000000ull;
        if (*num_events == most || (*num_events != 0 && snic_now_ns() >= end))
            break;
        gni_leave(&e->nic->lock);
        snic_wait(e->nic->snic, bell, *num_events ? 1000000 : GNI_SLICE_NS);
        gni_enter(&e->nic->lock);
    }
    e->waiters--;
    gni_leave(&e->nic->lock);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_SetErrorPtag(gni_err_handle_t err_handle, uint8_t ptag)
{
    (void)ptag;
    return gni_handle_find(err_handle, GNI_KIND_ERR) ? GNI_RC_PERMISSION_ERROR
                                                     : GNI_RC_INVALID_PARAM;
}
