/*
 * Datagrams: exchanges of up to 128 bytes, for setting up connections. Each NIC handle has a table
 * of exchange records in its area, changed under its lock `exchange` only. Whoever posts second
 * finds the first one's record, gives it his bytes and takes its own: no third party is needed. A
 * record whose peer is not there yet is tried again from every call that looks at datagrams or
 * queues.
 */
#include "gni_datagram.h"
#include <string.h>

#define RETRY_FIRST_NS 1000000ull
#define GIVE_UP_MS 120000u /* of a peer that does not come; programs count on a minute */
#define NONE GNI_DATAGRAM_NONE

/* Data before state: partner is the acquire load in gni_datagram_state, also after the writer's
 * death. */
void gni_datagram_set(struct gni_datagram *r, uint32_t state)
{
    SNIC_STEP("gni.datagram.filled");
    atomic_store_explicit(&r->state, state, memory_order_release);
    SNIC_STEP("gni.datagram.state");
}

int gni_datagram_lock(struct gni_nic *nic, int64_t patience_ns)
{
    return snic_lock_own(nic->snic, &nic->view.area->exchange, patience_ns, NULL, NULL);
}

void gni_datagram_unlock(struct gni_nic *nic)
{
    snic_unlock_own(nic->snic, &nic->view.area->exchange);
}

/* ---- the table; its lock is held ---- */

/* How many records may be in use. */
static uint32_t records_of(const struct gni_view *view)
{
    uint32_t high = atomic_load_explicit(&view->area->datagrams_high, memory_order_relaxed);

    return high < GNI_DATAGRAMS ? high : GNI_DATAGRAMS;
}

uint32_t gni_datagram_take(const struct gni_view *view)
{
    uint32_t high = records_of(view);

    for (uint32_t i = 0; i < high; i++)
        if (gni_datagram_state(&view->datagram[i]) == GNI_EXCHANGE_FREE)
            return i;
    if (high == GNI_DATAGRAMS)
        return NONE;
    atomic_store_explicit(&view->area->datagrams_high, high + 1, memory_order_relaxed);
    return high;
}

/* The oldest record in this state; of this peer unless `pe` is GNI_ADDRESS_ANY. */
uint32_t gni_datagram_find(const struct gni_view *view, uint32_t state, uint32_t pe, uint32_t inst)
{
    uint32_t high = records_of(view), found = NONE;

    for (uint32_t i = 0; i < high; i++) {
        const struct gni_datagram *r = &view->datagram[i];

        if (gni_datagram_state(r) != state ||
            (pe != GNI_ADDRESS_ANY && (r->pe != pe || r->inst != inst)))
            continue;
        if (found == NONE || r->order < view->datagram[found].order)
            found = i;
    }
    return found;
}

/* ---- what waits for a peer ---- */

static void wait_for_peer(struct gni_nic *nic, uint32_t index)
{
    struct gni_own_datagram *mine = &nic->datagrams[index];

    mine->next_try_ns = snic_now_ns() + RETRY_FIRST_NS;
    nic->undelivered++;
}

static void give_up(struct gni_nic *nic, uint32_t index)
{
    struct gni_datagram *r = &nic->view.datagram[index];

    if (gni_datagram_lock(nic, 0) != 0)
        return;
    if (gni_datagram_state(r) == GNI_EXCHANGE_LOCAL_READY)
        gni_datagram_set(r, GNI_EXCHANGE_TIMEOUT);
    gni_datagram_unlock(nic);
    nic->datagrams[index].next_try_ns = 0;
    nic->undelivered--;
}

void gni_datagram_progress(struct gni_nic *nic)
{
    uint32_t high = nic->datagrams_high;
    uint64_t now;

    if (nic->undelivered == 0)
        return;
    now = snic_now_ns();
    for (uint32_t i = 0; i < high; i++) {
        struct gni_own_datagram *mine = &nic->datagrams[i];
        struct gni_datagram *r = &nic->view.datagram[i];

        if (mine->next_try_ns == 0 || now < mine->next_try_ns)
            continue;
        if (gni_datagram_state(r) != GNI_EXCHANGE_LOCAL_READY || gni_datagram_deliver(nic, i, 0)) {
            mine->next_try_ns = 0;
            nic->undelivered--;
        } else if (now >= mine->give_up_ns) {
            give_up(nic, i);
        } else {
            mine->next_try_ns = now + 5 * RETRY_FIRST_NS;
        }
    }
}

/* ---- posting ---- */

struct posting {
    const void *data;
    uint32_t length;
    void *out;
    uint32_t out_size;
    int has_id;
    uint64_t id;
};

/* Any record of ours with this peer, in a state that keeps another from being posted. */
static int is_taken(const struct gni_nic *nic, const struct gni_ep *ep)
{
    uint32_t high = nic->datagrams_high;

    for (uint32_t i = 0; i < high; i++) {
        const struct gni_datagram *r = &nic->view.datagram[i];
        uint32_t state = gni_datagram_state(r);

        if (state != GNI_EXCHANGE_FREE && state != GNI_EXCHANGE_OPEN &&
            state != GNI_EXCHANGE_REMOTE_WAITING && nic->datagrams[i].ep != NULL &&
            r->pe == ep->pe && r->inst == ep->inst)
            return 1;
    }
    return 0;
}

/* Of endpoints that went while another process kept the lock. It is held now. */
static void free_left(struct gni_nic *nic)
{
    for (uint32_t i = 0; nic->datagrams_left != 0 && i < nic->datagrams_high; i++)
        if (nic->datagrams[i].is_left)
            gni_datagram_free(nic, i);
}

/* Our lock is held. */
static gni_return_t fill(struct gni_ep *ep, const struct posting *p, uint32_t *index)
{
    struct gni_nic *nic = ep->nic;
    struct gni_datagram *r;
    uint32_t at;

    free_left(nic);
    if (ep->is_bound && is_taken(nic, ep))
        return GNI_RC_ERROR_RESOURCE;
    at = gni_datagram_take(&nic->view);
    if (at == NONE)
        return GNI_RC_ERROR_RESOURCE;
    if (nic->datagrams[at].ep != NULL) /* freed by a caller that does not own it */
        gni_datagram_free(nic, at);
    if (at >= nic->datagrams_high)
        nic->datagrams_high = at + 1;
    r = &nic->view.datagram[at];
    r->pe = ep->is_bound ? ep->pe : GNI_ADDRESS_ANY;
    r->inst = ep->is_bound ? ep->inst : GNI_ADDRESS_ANY;
    r->remote_length = 0;
    /* A clock that all share orders what came from elsewhere, too. */
    nic->datagram_order =
        snic_now_ns() > nic->datagram_order ? snic_now_ns() : nic->datagram_order + 1;
    r->order = nic->datagram_order;
    r->has_id = (uint32_t)p->has_id;
    r->id = p->id;
    r->local_length = p->length;
    if (p->length != 0)
        memcpy(r->local, p->data, p->length);
    nic->datagrams[at] = (struct gni_own_datagram){
        .ep = ep,
        .out = p->out,
        .out_size = p->out_size,
        .has_id = p->has_id,
        .id = p->id,
        .give_up_ns =
            snic_now_ns() + snic_setting("GNI_SHIM_DATAGRAM_MS", GIVE_UP_MS) * 1000000ull};
    gni_datagram_set(r, ep->is_bound ? GNI_EXCHANGE_LOCAL_READY : GNI_EXCHANGE_OPEN);
    *index = at;
    return GNI_RC_SUCCESS;
}

static gni_return_t post(struct gni_ep *ep, const struct posting *p)
{
    struct gni_nic *nic = ep->nic;
    gni_return_t code;
    uint32_t index = 0;

    if (gni_datagram_lock(nic, GNI_LOCK_NS) != 0)
        return GNI_RC_ERROR_RESOURCE;
    code = fill(ep, p, &index);
    gni_datagram_unlock(nic);
    if (code != GNI_RC_SUCCESS)
        return code;
    if (!ep->is_bound)
        gni_datagram_adopt(nic, index);
    else if (!gni_datagram_deliver(nic, index, GNI_LOCK_NS))
        wait_for_peer(nic, index);
    return GNI_RC_SUCCESS;
}

static gni_return_t post_call(gni_ep_handle_t ep_hndl, const struct posting *p)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    gni_return_t code;

    if (ep == NULL || (p->has_id ? p->id == GNI_DATAGRAM_NO_ID : !ep->is_bound) ||
        (p->data == NULL && p->length != 0))
        return GNI_RC_INVALID_PARAM;
    if (p->length > GNI_DATAGRAM_MAXSIZE || p->out_size > GNI_DATAGRAM_MAXSIZE)
        return GNI_RC_SIZE_ERROR;
    gni_enter(&ep->nic->lock);
    code = post(ep, p);
    gni_leave(&ep->nic->lock);
    return code;
}

gni_return_t GNI_EpPostData(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len,
                            void *out_buf, uint16_t buf_size)
{
    struct posting p = {in_data, in_data ? data_len : 0, out_buf, buf_size, 0, 0};

    if (data_len > GNI_DATAGRAM_MAXSIZE)
        p.length = data_len;
    return post_call(ep_hndl, &p);
}

gni_return_t GNI_EpPostDataWId(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len,
                               void *out_buf, uint16_t buf_size, uint64_t datagram_id)
{
    struct posting p = {in_data, in_data ? data_len : 0, out_buf, buf_size, 1, datagram_id};

    return post_call(ep_hndl, &p);
}

/* ---- testing ---- */

static const gni_post_state_t shown[] = {
    [GNI_EXCHANGE_FREE] = GNI_POST_ERROR,
    [GNI_EXCHANGE_LOCAL_READY] = GNI_POST_PENDING,
    [GNI_EXCHANGE_OPEN] = GNI_POST_PENDING,
    [GNI_EXCHANGE_REMOTE_WAITING] = GNI_POST_REMOTE_DATA,
    [GNI_EXCHANGE_COMPLETED] = GNI_POST_COMPLETED,
    [GNI_EXCHANGE_TERMINATED] = GNI_POST_TERMINATED,
    [GNI_EXCHANGE_TIMEOUT] = GNI_POST_TIMEOUT,
};

uint32_t gni_datagram_asked(const struct gni_question *q)
{
    const struct gni_nic *nic = q->ep->nic;
    uint32_t high = nic->datagrams_high, found = NONE;

    for (uint32_t i = 0; i < high; i++) {
        const struct gni_datagram *r = &nic->view.datagram[i];

        if (gni_datagram_state(r) == GNI_EXCHANGE_FREE || nic->datagrams[i].ep != q->ep ||
            (q->by_id && (!nic->datagrams[i].has_id || nic->datagrams[i].id != q->id)))
            continue;
        if (found == NONE || r->order < nic->view.datagram[found].order)
            found = i;
    }
    if (found == NONE && !q->by_id)
        found = gni_datagram_find(&nic->view, GNI_EXCHANGE_REMOTE_WAITING, q->ep->pe, q->ep->inst);
    return found;
}

void gni_datagram_free(struct gni_nic *nic, uint32_t index)
{
    if (nic->datagrams[index].next_try_ns != 0)
        nic->undelivered--;
    nic->datagrams_left -= nic->datagrams[index].is_left;
    nic->datagrams[index] = (struct gni_own_datagram){0};
    gni_datagram_set(&nic->view.datagram[index], GNI_EXCHANGE_FREE);
}

/* Our lock is held. */
static gni_return_t look(const struct gni_question *q, gni_post_state_t *post_state,
                         uint32_t *remote_addr, uint32_t *remote_id)
{
    struct gni_nic *nic = q->ep->nic;
    uint32_t index = gni_datagram_asked(q), state;
    struct gni_own_datagram *mine;
    struct gni_datagram *r;

    if (index == NONE)
        return GNI_RC_NO_MATCH;
    mine = &nic->datagrams[index];
    r = &nic->view.datagram[index];
    state = gni_datagram_state(r);
    *post_state = state < sizeof(shown) / sizeof(*shown) ? shown[state] : GNI_POST_ERROR;
    if (*post_state == GNI_POST_PENDING)
        return GNI_RC_SUCCESS;
    if (state == GNI_EXCHANGE_COMPLETED) {
        /* Read once: another process may write there. */
        uint32_t length = *(volatile const uint32_t *)&r->remote_length;

        if (length > GNI_DATAGRAM_MAXSIZE)
            length = GNI_DATAGRAM_MAXSIZE;
        if (length > mine->out_size)
            return GNI_RC_SIZE_ERROR;
        if (length != 0 && mine->out != NULL)
            memcpy(mine->out, r->remote, length);
    }
    if (remote_addr != NULL)
        *remote_addr = r->pe;
    if (remote_id != NULL)
        *remote_id = r->inst;
    if (state != GNI_EXCHANGE_REMOTE_WAITING)
        gni_datagram_free(nic, index);
    return GNI_RC_SUCCESS;
}

static gni_return_t test(const struct gni_question *q, gni_post_state_t *post_state,
                         uint32_t *remote_addr, uint32_t *remote_id)
{
    struct gni_nic *nic = q->ep->nic;
    gni_return_t code = GNI_RC_ERROR_RESOURCE;

    gni_enter(&nic->lock);
    gni_datagram_progress(nic);
    if (gni_datagram_lock(nic, GNI_LOCK_NS) == 0) {
        code = look(q, post_state, remote_addr, remote_id);
        gni_datagram_unlock(nic);
    }
    gni_leave(&nic->lock);
    return code;
}

static gni_return_t ask(const struct gni_question *q, uint32_t timeout_ms, int waits,
                        gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id)
{
    uint64_t end = snic_now_ns() + timeout_ms * 1000000ull;

    if (q->ep == NULL || post_state == NULL ||
        (q->by_id ? q->id == GNI_DATAGRAM_NO_ID : !q->ep->is_bound) || (waits && timeout_ms == 0))
        return GNI_RC_INVALID_PARAM;
    for (;;) {
        struct gni_nic *nic = q->ep->nic;
        uint32_t bell = snic_doorbell(nic->snic);
        gni_return_t code = test(q, post_state, remote_addr, remote_id);

        if (!waits || code != GNI_RC_SUCCESS || *post_state != GNI_POST_PENDING)
            return code;
        if (timeout_ms != GNI_DATAGRAM_FOREVER && snic_now_ns() >= end)
            return GNI_RC_TIMEOUT;
        snic_wait(nic->snic, bell, nic->undelivered ? 5000000 : 10000000);
    }
}

gni_return_t GNI_EpPostDataTest(gni_ep_handle_t ep_hndl, gni_post_state_t *post_state,
                                uint32_t *remote_addr, uint32_t *remote_id)
{
    struct gni_question q = {gni_handle_find(ep_hndl, GNI_KIND_EP), 0, 0};

    return ask(&q, 0, 0, post_state, remote_addr, remote_id);
}

gni_return_t GNI_EpPostDataTestById(gni_ep_handle_t ep_hndl, uint64_t datagram_id,
                                    gni_post_state_t *post_state, uint32_t *remote_addr,
                                    uint32_t *remote_id)
{
    struct gni_question q = {gni_handle_find(ep_hndl, GNI_KIND_EP), 1, datagram_id};

    return ask(&q, 0, 0, post_state, remote_addr, remote_id);
}

gni_return_t GNI_EpPostDataWait(gni_ep_handle_t ep_hndl, uint32_t timeout,
                                gni_post_state_t *post_state, uint32_t *remote_addr,
                                uint32_t *remote_id)
{
    struct gni_question q = {gni_handle_find(ep_hndl, GNI_KIND_EP), 0, 0};

    return ask(&q, timeout, 1, post_state, remote_addr, remote_id);
}

gni_return_t GNI_EpPostDataWaitById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, uint32_t timeout,
                                    gni_post_state_t *post_state, uint32_t *remote_addr,
                                    uint32_t *remote_id)
{
    struct gni_question q = {gni_handle_find(ep_hndl, GNI_KIND_EP), 1, datagram_id};

    return ask(&q, timeout, 1, post_state, remote_addr, remote_id);
}
