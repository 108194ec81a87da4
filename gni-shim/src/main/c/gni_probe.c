/* Datagrams: asking which is finished, and giving up. */
#include "gni_datagram.h"

/* ---- probing ---- */

/* The first finished one, in the order of posting; GNI_DATAGRAM_NONE. The lock is held. */
static uint32_t first_finished(const struct gni_nic *nic, int with_id)
{
    uint32_t high = nic->datagrams_high, found = GNI_DATAGRAM_NONE;

    for (uint32_t i = 0; i < high; i++) {
        const struct gni_datagram *r = &nic->view.datagram[i];

        if (gni_datagram_state(r) < GNI_EXCHANGE_COMPLETED || nic->datagrams[i].ep == NULL ||
            (with_id && !nic->datagrams[i].has_id))
            continue;
        if (found == GNI_DATAGRAM_NONE || r->order < nic->view.datagram[found].order)
            found = i;
    }
    return found;
}

/* Copies what was found to *record: SUCCESS or NO_MATCH. */
static gni_return_t probe(struct gni_nic *nic, int with_id, struct gni_datagram *record)
{
    gni_return_t code = GNI_RC_NO_MATCH;

    gni_enter(&nic->lock);
    gni_datagram_progress(nic);
    if (gni_datagram_lock(nic, 0) == 0) {
        uint32_t index = first_finished(nic, with_id);

        if (index != GNI_DATAGRAM_NONE) {
            record->pe = nic->view.datagram[index].pe;
            record->inst = nic->view.datagram[index].inst;
            record->id = nic->datagrams[index].id;
            code = GNI_RC_SUCCESS;
        }
        gni_datagram_unlock(nic);
    }
    gni_leave(&nic->lock);
    return code;
}

gni_return_t GNI_PostDataProbe(gni_nic_handle_t nic_hndl, uint32_t *remote_addr,
                               uint32_t *remote_id)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_datagram record;
    gni_return_t code;

    if (nic == NULL || remote_addr == NULL || remote_id == NULL)
        return GNI_RC_INVALID_PARAM;
    code = probe(nic, 0, &record);
    if (code == GNI_RC_SUCCESS) {
        *remote_addr = record.pe;
        *remote_id = record.inst;
    }
    return code;
}

gni_return_t GNI_PostDataProbeById(gni_nic_handle_t nic_hndl, uint64_t *datagram_id)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_datagram record;
    gni_return_t code;

    if (nic == NULL || datagram_id == NULL)
        return GNI_RC_INVALID_PARAM;
    code = probe(nic, 1, &record);
    if (code == GNI_RC_SUCCESS)
        *datagram_id = record.id;
    return code;
}

gni_return_t GNI_PostdataProbeWaitById(gni_nic_handle_t nic_hndl, uint32_t timeout,
                                       uint64_t *datagram_id)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    uint64_t end = snic_now_ns() + timeout * 1000000ull;

    if (nic == NULL || datagram_id == NULL)
        return GNI_RC_INVALID_PARAM;
    for (;;) {
        uint32_t bell = snic_doorbell(nic->snic);
        gni_return_t code = GNI_PostDataProbeById(nic_hndl, datagram_id);

        if (code != GNI_RC_NO_MATCH)
            return code;
        if (timeout != GNI_DATAGRAM_FOREVER && snic_now_ns() >= end)
            return GNI_RC_TIMEOUT;
        snic_wait(nic->snic, bell, 5000000);
    }
}

/* ---- giving up ---- */

/* Our lock is held, and the peer's if it is there. */
static gni_return_t end_exchange(struct gni_nic *nic, uint32_t index, struct gni_peer *peer)
{
    struct gni_datagram *r = &nic->view.datagram[index];
    uint32_t at = GNI_DATAGRAM_NONE;

    if (gni_datagram_state(r) == GNI_EXCHANGE_OPEN) {
        gni_datagram_free(nic, index);
        return GNI_RC_SUCCESS;
    }
    if (gni_datagram_state(r) != GNI_EXCHANGE_LOCAL_READY)
        return GNI_RC_NO_MATCH;
    gni_datagram_set(r, GNI_EXCHANGE_TERMINATED);
    if (peer != NULL)
        at = gni_datagram_find(&peer->view, GNI_EXCHANGE_REMOTE_WAITING, nic->pe, nic->inst);
    if (at != GNI_DATAGRAM_NONE) /* no endpoint there has posted: no caller would ask for its end */
        gni_datagram_set(&peer->view.datagram[at], GNI_EXCHANGE_FREE);
    return GNI_RC_SUCCESS;
}

static gni_return_t cancel(const struct gni_question *q)
{
    struct gni_nic *nic = q->ep->nic;
    struct gni_peer *peer = NULL;
    gni_return_t code = GNI_RC_NO_MATCH;
    uint32_t index;

    if (q->ep->is_bound && gni_peer_ready(nic, q->ep->peer) == GNI_STATUS_OK)
        peer = q->ep->peer;
    if (gni_datagram_lock_pair(nic, peer, GNI_LOCK_NS) != 0)
        return GNI_RC_ERROR_RESOURCE;
    index = gni_datagram_asked(q);
    if (index != GNI_DATAGRAM_NONE)
        code = end_exchange(nic, index, peer);
    gni_datagram_unlock_pair(nic, peer);
    return code;
}

static gni_return_t cancel_call(const struct gni_question *q)
{
    gni_return_t code;

    if (q->ep == NULL || (q->by_id ? q->id == GNI_DATAGRAM_NO_ID : !q->ep->is_bound))
        return GNI_RC_INVALID_PARAM;
    gni_enter(&q->ep->nic->lock);
    code = cancel(q);
    gni_leave(&q->ep->nic->lock);
    return code;
}

gni_return_t GNI_EpPostDataCancel(gni_ep_handle_t ep_hndl)
{
    struct gni_question q = {gni_handle_find(ep_hndl, GNI_KIND_EP), 0, 0};

    return cancel_call(&q);
}

gni_return_t GNI_EpPostDataCancelById(gni_ep_handle_t ep_hndl, uint64_t datagram_id)
{
    struct gni_question q = {gni_handle_find(ep_hndl, GNI_KIND_EP), 1, datagram_id};

    return cancel_call(&q);
}

/* ---- an endpoint's datagrams; the NIC's lock is held ---- */

int gni_datagram_pending(struct gni_ep *ep)
{
    struct gni_nic *nic = ep->nic;

    for (uint32_t i = 0; i < nic->datagrams_high; i++) {
        uint32_t state = gni_datagram_state(&nic->view.datagram[i]);

        if (nic->datagrams[i].ep == ep &&
            (state == GNI_EXCHANGE_LOCAL_READY || state == GNI_EXCHANGE_OPEN))
            return 1;
    }
    return 0;
}

/* Nothing of ours names the endpoint or its buffers any more; the record is freed by the next
 * posting. */
static void leave(struct gni_nic *nic, uint32_t index)
{
    if (nic->datagrams[index].next_try_ns != 0)
        nic->undelivered--;
    nic->datagrams[index] = (struct gni_own_datagram){.is_left = 1};
    nic->datagrams_left++;
}

void gni_datagram_forget(struct gni_ep *ep)
{
    struct gni_nic *nic = ep->nic;
    int found = 0, is_locked;

    for (uint32_t i = 0; i < nic->datagrams_high; i++)
        found |= nic->datagrams[i].ep == ep;
    if (!found)
        return;
    is_locked = gni_datagram_lock(nic, GNI_LOCK_NS) == 0; /* not while a stopped process holds it */
    for (uint32_t i = 0; i < nic->datagrams_high; i++)
        if (nic->datagrams[i].ep == ep && is_locked)
            gni_datagram_free(nic, i);
        else if (nic->datagrams[i].ep == ep)
            leave(nic, i);
    if (is_locked)
        gni_datagram_unlock(nic);
}
