/* nic_check: what a NIC handle shares, and whether it is what the handle itself knows. */
#include "area_check.h"
#include "gni_library.h"
#include "gni_msgq.h"

/* ---- registrations ---- */

static void check_own_registration(const struct gni_nic *nic, uint32_t index,
                                   struct gni_findings *f)
{
    const struct gni_own_mdh *own = &nic->mdh[index];
    const struct gni_mdh *mdh = &nic->view.mdh[index];
    uint32_t generation = atomic_load_explicit(&mdh->generation, memory_order_relaxed);

    if (!own->is_live) {
        if (generation & 1)
            gni_found(f, "registration %u: others find it, and it is not there", index);
        return;
    }
    if (generation != own->generation || mdh->address != own->address ||
        mdh->length != own->length || mdh->segment_count != own->segment_count ||
        (own->segment_count != 0 && mdh->segment_first != own->segment_first) ||
        (own->segment_count == 0 &&
         (mdh->key.slot != own->key.slot || mdh->key.secret != own->key.secret)))
        gni_found(f, "registration %u: others see another than was made", index);
}

static void check_own_table(const struct gni_nic *nic, struct gni_findings *f)
{
    uint32_t live = 0, free_ones = 0, pieces = 0, marked = 0;

    for (uint32_t i = 0; i < GNI_MDHS; i++) {
        check_own_registration(nic, i, f);
        live += nic->mdh[i].is_live || nic->mdh[i].reserved;
        pieces += nic->mdh[i].reserved  ? gni_reserve_held(&nic->mdh[i])
                  : nic->mdh[i].is_live ? nic->mdh[i].segment_count
                                        : 0;
    }
    for (uint32_t i = nic->mdh_head; i < GNI_MDHS && free_ones <= GNI_MDHS; i = nic->mdh[i].next)
        free_ones++;
    for (uint32_t i = 0; i < GNI_SEGMENTS; i++)
        marked += nic->segment_used[i];
    if (live != nic->mdh_used || live + free_ones != GNI_MDHS || pieces != marked)
        gni_found(f, "registrations: %u of %u used, %u free, %u pieces of %u", live, nic->mdh_used,
                  free_ones, pieces, marked);
}

/* ---- queues and endpoints ---- */

static void check_pool(const struct gni_cq *cq, struct gni_findings *f)
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < cq->request_count; i++) {
        const struct gni_request *r = &cq->requests[i];

        used += r->kind != GNI_REQUEST_FREE;
        if (r->kind > GNI_REQUEST_SMSG ||
            (r->kind != GNI_REQUEST_FREE && (r->events > 2 || r->completed > 2)))
            gni_found(f, "request %u: kind %u, events %u and %u", i, r->kind, r->events,
                      r->completed);
    }
    for (uint32_t i = 0; i < cq->free_count && i < cq->request_count; i++)
        if (cq->free[i] >= cq->request_count || cq->requests[cq->free[i]].kind != GNI_REQUEST_FREE)
            gni_found(f, "free request %u: %u is none", i, cq->free[i]);
    if (used + cq->free_count != cq->request_count)
        gni_found(f, "queue: %u requests in use, %u free, of %u", used, cq->free_count,
                  cq->request_count);
}

static void check_queue(const struct gni_nic *nic, struct gni_cq *cq, struct gni_findings *f)
{
    uint32_t eps = 0, memories = 0;

    for (const struct gni_ep *ep = nic->eps; ep != NULL; ep = ep->next)
        eps += ep->cq == cq;
    eps += nic->msgq != NULL && nic->msgq->cq == cq; /* it counts as one */
    for (uint32_t i = 0; i < GNI_MDHS; i++)
        memories += (nic->mdh[i].is_live || nic->mdh[i].reserved) && nic->mdh[i].cq == cq;
    if (eps != cq->eps || memories != cq->memories)
        gni_found(f, "queue: %u endpoints of %u, %u registrations of %u", eps, cq->eps, memories,
                  cq->memories);
    check_pool(cq, f);
    if (cq->ring != NULL)
        gni_ring_check(cq->ring, GNI_RING_HEADER + cq->ring_slots * 8, f);
}

static void check_endpoint(const struct gni_nic *nic, const struct gni_ep *ep,
                           struct gni_findings *f)
{
    const struct gni_smsg *s = &ep->smsg;
    uint32_t outstanding = 0;

    for (const struct gni_cq *cq = nic->cqs; cq != NULL; cq = cq->next)
        for (uint32_t i = 0; i < cq->request_count; i++)
            outstanding += cq->requests[i].kind != GNI_REQUEST_FREE && cq->requests[i].ep == ep &&
                           cq->requests[i].events != 0;
    if (outstanding != ep->outstanding)
        gni_found(f, "endpoint to %x.%x: %u outstanding, not %u", ep->pe, ep->inst, outstanding,
                  ep->outstanding);
    if (s->is_ready && !s->is_broken &&
        (s->returned > s->sent || s->sent - s->returned > s->out.credits ||
         s->released > s->received || s->stored > s->released || s->announced > s->stored))
        gni_found(f, "mailbox: sent %llu, returned %llu, of %u; received %llu, stored %llu",
                  (unsigned long long)s->sent, (unsigned long long)s->returned, s->out.credits,
                  (unsigned long long)s->received, (unsigned long long)s->stored);
}

/* ---- datagrams ---- */

static void check_own_datagrams(const struct gni_nic *nic, struct gni_findings *f)
{
    uint32_t waiting = 0, left = 0;

    for (uint32_t i = 0; i < GNI_DATAGRAMS; i++) {
        const struct gni_own_datagram *mine = &nic->datagrams[i];
        const struct gni_ep *ep = nic->eps;

        waiting += mine->next_try_ns != 0;
        left += mine->is_left;
        if ((mine->ep != NULL || mine->is_left) && i >= nic->datagrams_high)
            gni_found(f, "datagram %u: ours, of %u", i, nic->datagrams_high);
        while (ep != NULL && ep != mine->ep)
            ep = ep->next;
        if (mine->ep != NULL && ep == NULL)
            gni_found(f, "datagram %u: its endpoint is gone", i);
    }
    if (waiting != nic->undelivered || left != nic->datagrams_left)
        gni_found(f, "datagrams: %u undelivered, not %u; %u left behind, not %u", waiting,
                  nic->undelivered, left, nic->datagrams_left);
}

int nic_check(gni_nic_handle_t nic_hndl, char *text, uint32_t size)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_findings f = {.text = text, .size = text ? size : 0};

    if (f.size > 0)
        text[0] = '\0';
    if (nic == NULL)
        return -1;
    gni_enter(&nic->lock);
    gni_area_check(&nic->view, &f);
    check_own_table(nic, &f);
    for (struct gni_cq *cq = nic->cqs; cq != NULL; cq = cq->next)
        check_queue(nic, cq, &f);
    for (const struct gni_ep *ep = nic->eps; ep != NULL; ep = ep->next)
        check_endpoint(nic, ep, &f);
    check_own_datagrams(nic, &f);
    gni_leave(&nic->lock);
    return f.count;
}
