/* Peers as seen by an initiator; the two kinds of locking; work left by the dead. */
#include "p3_library.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define P3_COMPLETE_TIMEOUT_NS 5000000000ll

static void recover(void *context, uint32_t dead_slot)
{
    p3_target_recover(context, dead_slot);
}

/* ---- own lock ---- */

int p3_lock_own_rest(struct p3_ni *ni)
{
    int error =
        snic_lock_own(ni->nic, &ni->view.area->lock, ni->lock_timeout_ns, recover, &ni->view);

    if (error < 0)
        pthread_mutex_unlock(&ni->initiator);
    if (error == -EBUSY)
        return p3_fail(PTL_NO_SPACE, "a stopped process holds the lock of this interface");
    if (error < 0)
        return p3_fail(PTL_NI_INVALID, "the interface is closed");
    if (atomic_load_explicit(&ni->deferred, memory_order_relaxed) != NULL)
        p3_deferred_run(ni);
    return PTL_OK;
}

int p3_lock_own(struct p3_ni *ni)
{
    pthread_mutex_lock(&ni->initiator);
    return p3_lock_own_rest(ni);
}

void p3_unlock_own(struct p3_ni *ni)
{
    snic_unlock_own(ni->nic, &ni->view.area->lock);
    pthread_mutex_unlock(&ni->initiator);
}

/* ---- the dead ---- */

static int reap_slot(struct p3_ni *ni, uint32_t slot)
{
    struct p3_intent *intent = p3_view_intent(&ni->view, slot);
    uint64_t incarnation;
    int finished = 0;

    if (atomic_load_explicit(&intent->phase, memory_order_acquire) == P3_IDLE)
        return 0;
    incarnation = atomic_load_explicit(&intent->incarnation, memory_order_relaxed);
    if (snic_initiator_liveness(ni->nic, slot) != SNIC_DEAD)
        return 0;
    if (p3_lock_own(ni) != PTL_OK)
        return 0;
    /* The slot may have a new occupant by now, whose incarnation differs: he cleans up himself. */
    if (atomic_load_explicit(&intent->phase, memory_order_acquire) != P3_IDLE &&
        atomic_load_explicit(&intent->incarnation, memory_order_relaxed) == incarnation) {
        p3_target_finish_dead(&ni->view, intent);
        finished = 1;
    }
    p3_unlock_own(ni);
    return finished;
}

int p3_reap(struct p3_ni *ni)
{
    uint32_t high = atomic_load_explicit(&ni->view.area->intents_high, memory_order_acquire);
    int finished = 0;

    for (uint32_t i = 0; i < high && i < ni->view.intents; i++)
        finished += reap_slot(ni, i);
    if (finished > 0)
        snic_ring_self(ni->nic);
    return finished;
}

/* ---- peers ---- */

static struct p3_peer *peer_lookup(struct p3_ni *ni, uint32_t bucket, uint32_t nid, uint32_t pid)
{
    /* Partner: the release store that inserts. Entries are never removed while the interface is
     * open. */
    struct p3_peer *peer = atomic_load_explicit(&ni->peers[bucket], memory_order_acquire);

    while (peer != NULL && (peer->nid != nid || peer->pid != pid))
        peer = peer->next;
    return peer;
}

struct p3_peer *p3_peer_find(struct p3_ni *ni, uint32_t nid, uint32_t pid, int create)
{
    uint32_t bucket = (nid * 2654435761u ^ pid * 40503u) % P3_PEER_BUCKETS;
    struct p3_peer *peer = peer_lookup(ni, bucket, nid, pid);

    if (peer != NULL || !create)
        return peer;
    pthread_mutex_lock(&ni->peers_mutex);
    peer = peer_lookup(ni, bucket, nid, pid);
    if (peer == NULL && (peer = calloc(1, sizeof(*peer))) != NULL) {
        peer->nid = nid;
        peer->pid = pid;
        peer->is_rank = ni->is_program && p3_rank_is(nid, pid);
        peer->is_awaited =
            peer->is_rank && ni->wire.retry_ns != 0 && (nid != ni->self.nid || pid != ni->self.pid);
        peer->waits = peer->is_awaited || ni->wire.latency_ns != 0;
        pthread_mutex_init(&peer->mutex, NULL);
        peer->next = atomic_load_explicit(&ni->peers[bucket], memory_order_relaxed);
        atomic_store_explicit(&ni->peers[bucket], peer, memory_order_release);
    }
    pthread_mutex_unlock(&ni->peers_mutex);
    return peer;
}

void p3_peer_drop(struct p3_peer *peer)
{
    if (peer->snic != NULL)
        snic_detach(peer->snic);
    peer->snic = NULL;
    peer->intent = NULL;
    peer->unfinished = 0;
}

int p3_lock_target(struct p3_ni *ni, struct p3_peer *peer)
{
    int error = snic_lock_peer(peer->snic, &peer->view.area->lock, ni->lock_timeout_ns, recover,
                               &peer->view);

    if (error < 0)
        return error;
    if (atomic_load_explicit(&peer->view.area->open, memory_order_acquire) != 1) {
        p3_unlock_target(peer);
        return -ESRCH;
    }
    return 0;
}

void p3_unlock_target(struct p3_peer *peer)
{
    snic_unlock_peer(peer->snic, &peer->view.area->lock);
}

void p3_peer_complete(struct p3_ni *ni, struct p3_peer *peer, uint32_t fail)
{
    /* Not p3_lock_target: a target that is closing waits for exactly this completion. */
    int error = snic_lock_peer(peer->snic, &peer->view.area->lock, ni->lock_timeout_ns, recover,
                               &peer->view);

    if (error == -EBUSY)
        error = snic_lock_peer(peer->snic, &peer->view.area->lock, P3_COMPLETE_TIMEOUT_NS, recover,
                               &peer->view);
    if (error == 0) {
        p3_target_complete(&peer->view, peer->intent, fail);
        p3_unlock_target(peer);
        peer->unfinished = 0;
        snic_ring(peer->snic);
    } else if (error == -EBUSY) {
        peer->unfinished = 1;
        peer->unfinished_fail = fail;
    } else { /* closed meanwhile: no thread looks at the descriptor any more */
        atomic_store_explicit(&peer->intent->phase, P3_IDLE, memory_order_release);
        peer->unfinished = 0;
    }
}

/* Somebody who died had our slot before: his operation is ours to finish. */
static int take_over_slot(struct p3_ni *ni, struct p3_peer *peer)
{
    int error;

    if (atomic_load_explicit(&peer->intent->phase, memory_order_acquire) == P3_IDLE)
        return 0;
    error = p3_lock_target(ni, peer);
    if (error < 0)
        return error;
    p3_target_finish_dead(&peer->view, peer->intent);
    p3_unlock_target(peer);
    snic_ring(peer->snic);
    return 0;
}

static void raise_high(struct p3_area *area, uint32_t high)
{
    uint32_t now = atomic_load_explicit(&area->intents_high, memory_order_relaxed);

    while (now < high &&
           !atomic_compare_exchange_weak_explicit(&area->intents_high, &now, high,
                                                  memory_order_release, memory_order_relaxed))
        ;
}

static uint32_t peer_attach(struct p3_ni *ni, struct p3_peer *peer)
{
    char name[SNIC_NAME_MAX];
    char why[SNIC_WHY_MAX] = "";
    uint32_t slot;
    int error;

    snprintf(name, sizeof(name), "%u.%u", peer->nid, peer->pid);
    error = snic_attach(ni->nic, name, peer->pinned, &peer->snic, why, sizeof(why));
    if (error < 0) {
        peer->snic = NULL;
        p3_fail(PTL_PROCESS_INVALID, "%s cannot be reached: %s", name, why);
        return PTL_EXT_FAIL_UNREACHABLE;
    }
    slot = snic_peer_slot(peer->snic);
    if (p3_view_open(&peer->view, snic_peer_area(peer->snic), snic_peer_area_bytes(peer->snic)) !=
            0 ||
        slot >= peer->view.intents) {
        p3_peer_drop(peer);
        p3_fail(PTL_PROCESS_INVALID, "the segment of %s holds nonsense", name);
        return PTL_EXT_FAIL_CORRUPT;
    }
    raise_high(peer->view.area, slot + 1);
    peer->intent = p3_view_intent(&peer->view, slot);
    peer->checked_ns = snic_coarse_ns();
    error = snic_peer_liveness(peer->snic) == SNIC_DEAD ? -ESRCH : take_over_slot(ni, peer);
    if (error < 0) {
        p3_peer_drop(peer);
        p3_fail(PTL_PROCESS_INVALID, "%s is %s", name, error == -EBUSY ? "stalled" : "dead");
        return error == -EBUSY ? PTL_EXT_FAIL_STALLED : PTL_EXT_FAIL_UNREACHABLE;
    }
    return PTL_NI_OK;
}

uint32_t p3_peer_ready(struct p3_ni *ni, struct p3_peer *peer)
{
    if (peer->snic != NULL) {
        uint64_t now = snic_coarse_ns();
        int gone = !snic_peer_is_open(peer->snic) ||
                   (peer->pinned && snic_peer_incarnation(peer->snic) != peer->pinned);

        /* A crashed peer leaves its segment open: puts into its mapped memory would seem to
         * succeed. */
        if (!gone && now - peer->checked_ns > P3_LIVENESS_PERIOD_NS) {
            peer->checked_ns = now;
            gone = snic_peer_liveness(peer->snic) == SNIC_DEAD;
        }
        if (gone)
            p3_peer_drop(peer);
    }
    if (peer->snic == NULL)
        return peer_attach(ni, peer);
    if (peer->unfinished) {
        int error = p3_lock_target(ni, peer);

        if (error == -EBUSY)
            return PTL_EXT_FAIL_STALLED;
        if (error < 0) {
            p3_peer_drop(peer);
            return PTL_EXT_FAIL_UNREACHABLE;
        }
        p3_target_complete(&peer->view, peer->intent, peer->unfinished_fail);
        peer->unfinished = 0;
        p3_unlock_target(peer);
        snic_ring(peer->snic);
    }
    return PTL_NI_OK;
}
