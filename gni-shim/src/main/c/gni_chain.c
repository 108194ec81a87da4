/* Chains of FMA operations and of queue writes: everything is checked, then everything is done, and
 * one event reports all of it. */
#include "gni_library.h"
#include <stddef.h>

#define CHAIN_MAX 65536 /* elements: a chain that bites its tail ends here */
#define BYTES_MAX (1ull << 30)
#define BYTES_MAX_SHARED (1ull << 20)

/* Reads element `at` into a descriptor like the first one; answers its endpoint. */
static struct gni_ep *element(const gni_post_descriptor_t *first, const void *at,
                              gni_post_descriptor_t *d)
{
    const gni_ct_amo_post_descriptor_t *amo = at;
    const gni_ct_get_post_descriptor_t *get = at;
    const gni_ct_put_post_descriptor_t *put = at;
    const gni_ct_cqw_post_descriptor_t *cqw = at;

    *d = (gni_post_descriptor_t){.type = first->type, .cq_mode = first->cq_mode};
    if (first->type == GNI_POST_CQWRITE) {
        d->next_descr = cqw->next_descr;
        d->remote_mem_hndl = cqw->remote_mem_hndl;
        d->cqwrite_value = cqw->cqwrite_value;
        return gni_handle_find(cqw->ep_hndl, GNI_KIND_EP);
    }
    d->next_descr = put->next_descr;
    d->length = put->length;
    d->remote_addr = put->remote_addr;
    d->remote_mem_hndl = put->remote_mem_hndl;
    d->local_addr = put->local_addr;
    if (first->type != GNI_POST_FMA_PUT)
        d->local_mem_hndl = get->local_mem_hndl;
    if (first->type == GNI_POST_AMO) {
        d->amo_cmd = amo->amo_cmd;
        d->first_operand = amo->first_operand;
        d->second_operand = amo->second_operand;
    }
    return gni_handle_find(put->ep_hndl, GNI_KIND_EP);
}

/* Walks the chain once to check it, once to do it. */
static gni_return_t walk(struct gni_ep *ep, gni_post_descriptor_t *first, int does,
                         uint32_t *status)
{
    uint64_t most = ep->nic->modes & GNI_CDM_MODE_FMA_SHARED ? BYTES_MAX_SHARED : BYTES_MAX;
    gni_post_descriptor_t d = *first;
    uint64_t bytes = 0;

    for (int count = 0; ep != NULL && count < CHAIN_MAX; count++) {
        gni_return_t code = GNI_RC_SUCCESS;

        if (!ep->is_bound)
            return GNI_RC_INVALID_PARAM;
        if (!does && d.type != GNI_POST_CQWRITE)
            code = gni_post_check_fma(&d);
        if (code != GNI_RC_SUCCESS)
            return code;
        bytes += d.length > most ? most + 1 : d.length;
        if (bytes > most)
            return GNI_RC_SIZE_ERROR;
        if (does) {
            uint32_t how = gni_post_execute(ep, &d);

            *status = *status ? *status : how;
        }
        if (d.next_descr == NULL)
            return GNI_RC_SUCCESS;
        struct gni_nic *nic = ep->nic;
        const void *next = d.next_descr;
        ep = element(first, next, &d);
        if (ep != NULL && ep->nic != nic)
            ep = NULL;
    }
    return GNI_RC_INVALID_PARAM;
}

static gni_return_t post(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *first, int is_cqwrite)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    struct gni_cq *cq = NULL;
    uint32_t status = GNI_STATUS_OK;
    gni_return_t code = GNI_RC_SUCCESS;

    if (ep == NULL || first == NULL || (first->cq_mode & GNI_CQMODE_LOCAL_EVENT) ||
        (first->dlvr_mode & GNI_DLVMODE_ORDERED_TAIL))
        return GNI_RC_INVALID_PARAM;
    if (is_cqwrite ? first->type != GNI_POST_CQWRITE
                   : first->type != GNI_POST_FMA_PUT && first->type != GNI_POST_FMA_GET &&
                         first->type != GNI_POST_AMO)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    code = walk(ep, first, 0, &status);
    if (code == GNI_RC_SUCCESS && first->cq_mode != GNI_CQMODE_SILENT)
        cq = gni_post_source(ep, NULL, &code);
    if (code == GNI_RC_SUCCESS) {
        first->cq_mode_complete = 0;
        walk(ep, first, 1, &status);
        gni_post_account(ep, cq, first, status);
    }
    gni_leave(&ep->nic->lock);
    return code;
}

gni_return_t GNI_CtPostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
    return post(ep_hndl, post_descr, 0);
}

gni_return_t GNI_CtPostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr)
{
    return post(ep_hndl, post_descr, 1);
}
