/* Datagrams: what happens between two tables. */
#include "gni_datagram.h"
#include <errno.h>
#include <string.h>

static void store_bytes(uint8_t *to, uint32_t *to_length, const uint8_t *from, uint32_t length)
{
    uint32_t bytes = length <= GNI_DATAGRAM_MAXSIZE ? length : GNI_DATAGRAM_MAXSIZE;

    *to_length = bytes; /* never read back: another process may write there */
    memcpy(to, from, bytes);
}

/* ---- two tables: an exchange changes both, so both locks are held, in the order of names ---- */

static int lock_of(struct gni_nic *nic, struct gni_peer *peer, int of_peer, int64_t patience_ns)
{
    return of_peer ? snic_lock_peer(peer->snic, &peer->view.area->exchange, patience_ns, NULL, NULL)
                   : gni_datagram_lock(nic, patience_ns);
}

static void unlock_of(struct gni_nic *nic, struct gni_peer *peer, int of_peer)
{
    if (of_peer)
        snic_unlock_peer(peer->snic, &peer->view.area->exchange);
    else
        gni_datagram_unlock(nic);
}

/* One table is to be locked. */
static int is_alone(const struct gni_nic *nic, const struct gni_peer *peer)
{
    return peer == NULL || (peer->pe == nic->pe && peer->inst == nic->inst);
}

int gni_datagram_lock_pair(struct gni_nic *nic, struct gni_peer *peer, int64_t patience_ns)
{
    int peer_first, error;

    if (is_alone(nic, peer))
        return gni_datagram_lock(nic, patience_ns);
    peer_first = peer->pe < nic->pe || (peer->pe == nic->pe && peer->inst < nic->inst);
    error = lock_of(nic, peer, peer_first, patience_ns);
    if (error != 0)
        return error;
    error = lock_of(nic, peer, !peer_first, patience_ns);
    if (error != 0)
        unlock_of(nic, peer, peer_first);
    return error;
}

void gni_datagram_unlock_pair(struct gni_nic *nic, struct gni_peer *peer)
{
    if (!is_alone(nic, peer))
        unlock_of(nic, peer, 1);
    unlock_of(nic, peer, 0);
}

/* Bytes of `from`, which was posted there, arrive in `to`, which is finished by them. */
static void arrive(struct gni_datagram *to, const struct gni_datagram *from, uint32_t pe,
                   uint32_t inst)
{
    to->pe = pe;
    to->inst = inst;
    store_bytes(to->remote, &to->remote_length, from->local, from->local_length);
    gni_datagram_set(to, GNI_EXCHANGE_COMPLETED);
}

/* Our record takes what waits here of its peer. Whoever sent it gets our bytes, unless it is gone:
 * then `peer` is NULL. */
static void take_waiting(struct gni_nic *nic, struct gni_datagram *own, uint32_t waiting,
                         struct gni_peer *peer)
{
    struct gni_datagram *w = &nic->view.datagram[waiting];
    uint32_t at = GNI_DATAGRAM_NONE;

    if (peer != NULL)
        at = gni_datagram_find(&peer->view, GNI_EXCHANGE_LOCAL_READY, nic->pe, nic->inst);
    if (at != GNI_DATAGRAM_NONE)
        arrive(&peer->view.datagram[at], own, nic->pe, nic->inst);
    own->pe = w->pe;
    own->inst = w->inst;
    store_bytes(own->remote, &own->remote_length, w->remote, w->remote_length);
    gni_datagram_set(own, GNI_EXCHANGE_COMPLETED);
    gni_datagram_set(w, GNI_EXCHANGE_FREE);
}

/* Our record and the peer's for us, else its oldest open one; else ours waits there. 0, or -ENOSPC
 * when there is no place. */
static int meet(struct gni_nic *nic, struct gni_peer *peer, struct gni_datagram *own)
{
    const struct gni_view *view = &peer->view;
    uint32_t at = gni_datagram_find(view, GNI_EXCHANGE_LOCAL_READY, nic->pe, nic->inst);
    struct gni_datagram *r;

    if (at == GNI_DATAGRAM_NONE) {
        uint32_t open = gni_datagram_find(view, GNI_EXCHANGE_OPEN, GNI_ADDRESS_ANY, 0);

        at = open != GNI_DATAGRAM_NONE ? open : at;
    }
    if (at != GNI_DATAGRAM_NONE) {
        r = &view->datagram[at];
        arrive(r, own, nic->pe, nic->inst);
        arrive(own, r, peer->pe, peer->inst);
        return 0;
    }
    at = gni_datagram_find(view, GNI_EXCHANGE_REMOTE_WAITING, nic->pe, nic->inst);
    if (at != GNI_DATAGRAM_NONE) {
        if (view->datagram[at].id == snic_incarnation(nic->snic))
            return 0;
        gni_datagram_set(&view->datagram[at], GNI_EXCHANGE_FREE); /* of one who had our name */
    }
    at = gni_datagram_take(view);
    if (at == GNI_DATAGRAM_NONE)
        return -ENOSPC;
    r = &view->datagram[at];
    r->pe = nic->pe;
    r->inst = nic->inst;
    r->order = snic_now_ns();
    r->has_id = 0;
    r->id = snic_incarnation(nic->snic); /* whose bytes they are */
    store_bytes(r->remote, &r->remote_length, own->local, own->local_length);
    gni_datagram_set(r, GNI_EXCHANGE_REMOTE_WAITING);
    return 0;
}

/* The peer, attached, or NULL. */
static struct gni_peer *reach(struct gni_nic *nic, uint32_t pe, uint32_t inst)
{
    struct gni_peer *peer = gni_peer_find(nic, pe, inst);

    return peer != NULL && gni_peer_ready(nic, peer) == GNI_STATUS_OK ? peer : NULL;
}

/* Record `index` of ours, directed, towards its peer. 1: nothing more to deliver; 0: later. */
int gni_datagram_deliver(struct gni_nic *nic, uint32_t index, int64_t patience_ns)
{
    struct gni_datagram *own = &nic->view.datagram[index];
    struct gni_peer *peer = reach(nic, own->pe, own->inst);
    uint32_t waiting;
    int error = 0;

    if (gni_datagram_lock_pair(nic, peer, patience_ns) != 0)
        return 0;
    waiting = gni_datagram_find(&nic->view, GNI_EXCHANGE_REMOTE_WAITING, own->pe, own->inst);
    if (gni_datagram_state(own) == GNI_EXCHANGE_LOCAL_READY) {
        if (waiting != GNI_DATAGRAM_NONE)
            take_waiting(nic, own, waiting, peer);
        else
            error = peer ? meet(nic, peer, own) : -EAGAIN;
    }
    gni_datagram_unlock_pair(nic, peer);
    if (peer != NULL) {
        snic_ring(peer->snic);
        snic_ring_self(nic->snic);
    }
    return error == 0;
}

/* Record `index` of ours, open: takes the first that waits here, if any. */
void gni_datagram_adopt(struct gni_nic *nic, uint32_t index)
{
    struct gni_datagram *own = &nic->view.datagram[index];
    struct gni_peer *peer;
    uint32_t waiting, pe, inst;

    if (gni_datagram_lock(nic, GNI_LOCK_NS) != 0)
        return;
    waiting = gni_datagram_find(&nic->view, GNI_EXCHANGE_REMOTE_WAITING, GNI_ADDRESS_ANY, 0);
    pe = waiting != GNI_DATAGRAM_NONE ? nic->view.datagram[waiting].pe : 0;
    inst = waiting != GNI_DATAGRAM_NONE ? nic->view.datagram[waiting].inst : 0;
    gni_datagram_unlock(nic);
    if (waiting == GNI_DATAGRAM_NONE)
        return;
    peer = reach(nic, pe, inst);
    if (gni_datagram_lock_pair(nic, peer, GNI_LOCK_NS) != 0)
        return;
    /* It may have been cancelled meanwhile, and ours may have been found by another. */
    waiting = gni_datagram_find(&nic->view, GNI_EXCHANGE_REMOTE_WAITING, pe, inst);
    if (waiting != GNI_DATAGRAM_NONE && gni_datagram_state(own) == GNI_EXCHANGE_OPEN)
        take_waiting(nic, own, waiting, peer);
    gni_datagram_unlock_pair(nic, peer);
    if (peer != NULL)
        snic_ring(peer->snic);
}
