/* What gni_datagram.c and gni_probe.c share. */
#ifndef GNI_DATAGRAM_H
#define GNI_DATAGRAM_H

#include "gni_library.h"

#define GNI_DATAGRAM_NONE GNI_DATAGRAMS
#define GNI_DATAGRAM_FOREVER 0xffffffffu
#define GNI_DATAGRAM_NO_ID (~0ull)

/* Which datagram a call asks for. */
struct gni_question {
    struct gni_ep *ep;
    int by_id;
    uint64_t id;
};

static inline uint32_t gni_datagram_state(const struct gni_datagram *r)
{
    /* Partner: the release store in gni_datagram_set. */
    return atomic_load_explicit(&r->state, memory_order_acquire);
}

void gni_datagram_set(struct gni_datagram *r, uint32_t state);
/* For so long while a process sits on it: GNI_LOCK_NS, or 0 where the caller looks again anyhow. */
int gni_datagram_lock(struct gni_nic *nic, int64_t patience_ns);
void gni_datagram_unlock(struct gni_nic *nic);
/* Our table and an attached peer's; NULL: ours alone. */
int gni_datagram_lock_pair(struct gni_nic *nic, struct gni_peer *peer, int64_t patience_ns);
void gni_datagram_unlock_pair(struct gni_nic *nic, struct gni_peer *peer);
/* With the lock held: the oldest record in a state and of a peer (GNI_ADDRESS_ANY: any), the one
 * that is asked for. */
uint32_t gni_datagram_find(const struct gni_view *view, uint32_t state, uint32_t pe, uint32_t inst);
uint32_t gni_datagram_asked(const struct gni_question *q);
uint32_t gni_datagram_take(const struct gni_view *view);
void gni_datagram_free(struct gni_nic *nic, uint32_t index);

/* ---- gni_exchange.c; no lock is held ---- */

/* Record `index` of ours, directed, towards its peer. 1: nothing more to deliver; 0: later. */
int gni_datagram_deliver(struct gni_nic *nic, uint32_t index, int64_t patience_ns);
/* Record `index` of ours, open: takes the first that waits here, if any. */
void gni_datagram_adopt(struct gni_nic *nic, uint32_t index);

#endif
