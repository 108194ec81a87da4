/* Endpoints. */
#include "gni_library.h"
#include <stdlib.h>
#include <string.h>

gni_return_t GNI_EpCreate(gni_nic_handle_t nic_hndl, gni_cq_handle_t src_cq_hndl,
                          gni_ep_handle_t *ep_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_cq *cq = gni_handle_find(src_cq_hndl, GNI_KIND_CQ);
    struct gni_ep *ep;

    if (nic == NULL || ep_hndl == NULL || (src_cq_hndl != NULL && (cq == NULL || cq->nic != nic)))
        return GNI_RC_INVALID_PARAM;
    ep = calloc(1, sizeof(*ep));
    if (ep == NULL)
        return GNI_RC_ERROR_NOMEM;
    ep->nic = nic;
    ep->recent = ep->reach;
    ep->cq = cq;
    ep->handle = gni_handle_give(GNI_KIND_EP, ep);
    if (ep->handle == NULL) {
        free(ep);
        return GNI_RC_ERROR_RESOURCE;
    }
    gni_enter(&nic->lock);
    ep->next = nic->eps;
    nic->eps = ep;
    if (cq != NULL)
        cq->eps++;
    gni_leave(&nic->lock);
    *ep_hndl = (gni_ep_handle_t)ep->handle;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_EpBind(gni_ep_handle_t ep_hndl, uint32_t remote_addr, uint32_t remote_id)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    gni_return_t code = GNI_RC_SUCCESS;

    if (ep == NULL || remote_addr == GNI_ADDRESS_ANY || remote_id == GNI_ADDRESS_ANY)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    if (ep->is_bound)
        code = GNI_RC_INVALID_PARAM;
    else if (ep->cq != NULL && ep->cq->memories == 0 && gni_cq_source_prepare(ep->cq) != 0)
        code = GNI_RC_ERROR_NOMEM;
    else if ((ep->peer = gni_peer_find(ep->nic, remote_addr, remote_id)) == NULL)
        code = GNI_RC_ERROR_NOMEM;
    if (code == GNI_RC_SUCCESS) {
        ep->is_bound = 1;
        ep->pe = remote_addr;
        ep->inst = remote_id;
        ep->local_event = remote_id;
        ep->remote_event = ep->nic->inst;
    }
    gni_leave(&ep->nic->lock);
    return code;
}

static int is_busy(struct gni_ep *ep)
{
    return ep->outstanding != 0 || ep->ce.is_waiting || gni_datagram_pending(ep);
}

gni_return_t GNI_EpUnbind(gni_ep_handle_t ep_hndl)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    gni_return_t code = GNI_RC_SUCCESS;

    if (ep == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    if (is_busy(ep)) {
        code = GNI_RC_NOT_DONE;
    } else {
        ep->is_bound = 0;
        ep->peer = NULL;
        memset(&ep->smsg, 0, sizeof(ep->smsg));
        memset(ep->reach, 0, sizeof(ep->reach)); /* of this peer */
        memset(&ep->ce, 0, sizeof(ep->ce));
    }
    gni_leave(&ep->nic->lock);
    return code;
}

gni_return_t GNI_EpIdle(gni_ep_handle_t ep_hndl)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    gni_return_t code;

    if (ep == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    code = is_busy(ep) ? GNI_RC_NOT_DONE : GNI_RC_SUCCESS;
    gni_leave(&ep->nic->lock);
    return code;
}

gni_return_t GNI_EpDestroy(gni_ep_handle_t ep_hndl)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    struct gni_nic *nic;

    if (ep == NULL)
        return GNI_RC_INVALID_PARAM;
    nic = ep->nic;
    gni_enter(&nic->lock);
    gni_ce_forget(ep);
    if (ep->outstanding != 0)
        gni_post_forget(ep);
    gni_datagram_forget(ep);
    GNI_UNLINK(nic->eps, ep, next);
    if (ep->cq != NULL)
        ep->cq->eps--;
    gni_handle_take(ep->handle);
    free(ep);
    gni_leave(&nic->lock);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_EpSetEventData(gni_ep_handle_t ep_hndl, uint32_t local_event,
                                uint32_t remote_event)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);

    if (ep == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    ep->local_event = local_event;
    ep->remote_event = remote_event;
    gni_leave(&ep->nic->lock);
    return GNI_RC_SUCCESS;
}
