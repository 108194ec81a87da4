/*
 * How a request is accepted at its target, and how a getput swaps there. Locks: the exchange lock
 * is taken before the target's lock. A getput holds the exchange lock throughout. It sets
 * `swapping` under the target's lock, waits until those who were accepted before have moved their
 * bytes, if they touch its own, and swaps without the target's lock. A put or get that finds
 * `swapping` set is accepted with the exchange lock held, thus not before the swap is over.
 */
#include "p3_request.h"

#include <errno.h>
#include <time.h>

static uint32_t fail_of_lock(int error)
{
    return error == -EBUSY ? PTL_EXT_FAIL_STALLED : PTL_EXT_FAIL_UNREACHABLE;
}

static void recover_exchange(void *context, uint32_t dead_slot)
{
    (void)context; /* the dead one's operation is finished from his intent record */
    (void)dead_slot;
}

static int lock_exchange(struct p3_ni *ni, struct p3_peer *peer)
{
    return snic_lock_peer(peer->snic, &peer->view.area->exchange, ni->lock_timeout_ns,
                          recover_exchange, NULL);
}

static void unlock_exchange(struct p3_peer *peer)
{
    snic_unlock_peer(peer->snic, &peer->view.area->exchange);
}

/* With the target's lock held: what its events are to say, and whether a descriptor takes it. */
static enum p3_verdict request_match(struct p3_peer *peer, struct p3_request *r,
                                     struct p3_place *place)
{
    r->remote = (struct p3_who){snic_peer_incarnation(peer->snic), peer->nid, peer->pid,
                                peer->view.area->uid, peer->view.area->jid};
    return p3_target_match(&peer->view, &r->message, peer->intent, place);
}

/* The rest of step 2: accepts what was matched, releases the target's lock. */
static uint32_t request_take(struct p3_peer *peer, enum p3_verdict verdict)
{
    int logged = 0;

    if (verdict == P3_ACCEPTED)
        logged = p3_target_accept(&peer->view, peer->intent);
    p3_unlock_target(peer);
    SNIC_STEP("ptl.request.unlocked");
    if (logged)
        snic_ring(peer->snic);
    return verdict == P3_CORRUPT ? PTL_EXT_FAIL_CORRUPT : PTL_NI_OK;
}

/* A getput swaps, or waits to: the lock that it holds is held while this request is accepted, so
 * that it finds its bytes either untouched or as a whole. 0 with both locks held. */
static int lock_behind_getput(struct p3_ni *ni, struct p3_peer *peer)
{
    int error = lock_exchange(ni, peer);

    if (error < 0)
        return error;
    error = p3_lock_target(ni, peer);
    if (error < 0) {
        unlock_exchange(peer);
        return error;
    }
    SNIC_STEP("ptl.request.behind");
    /* Its holder is through with it, or dead. */
    atomic_store_explicit(&peer->view.area->swapping, 0, memory_order_release);
    return 0;
}

uint32_t p3_request_accept(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                           struct p3_place *place, enum p3_verdict *verdict)
{
    int error = p3_lock_target(ni, peer);
    int behind;
    uint32_t fail;

    if (error < 0)
        return fail_of_lock(error);
    /* Partner: the release store that ends a swap. */
    behind = atomic_load_explicit(&peer->view.area->swapping, memory_order_acquire) != 0;
    if (behind) {
        p3_unlock_target(peer);
        error = lock_behind_getput(ni, peer);
        if (error < 0)
            return fail_of_lock(error);
    }
    SNIC_STEP("ptl.request.locked");
    *verdict = request_match(peer, r, place);
    fail = request_take(peer, *verdict);
    if (behind)
        unlock_exchange(peer);
    return fail;
}

/* ---- getput ---- */

#define P3_SWAP_PAUSE_NS 20000

/* Do two operations touch a common byte of the target? Segments may be anywhere. */
static int bytes_meet(const struct p3_event *a, const struct p3_event *b)
{
    uint64_t begin_a = a->start + a->offset, begin_b = b->start + b->offset;

    if (a->mlength == 0 || b->mlength == 0)
        return 0;
    if ((a->options | b->options) & PTL_MD_IOVEC)
        return 1;
    return begin_a < begin_b + b->mlength && begin_b < begin_a + a->mlength;
}

/* With the target's lock held: a process that moves bytes that the matched getput would swap. */
static uint32_t mover_in_the_way(const struct p3_peer *peer)
{
    const struct p3_view *view = &peer->view;
    uint32_t high = atomic_load_explicit(&view->area->intents_high, memory_order_acquire);

    for (uint32_t i = 0; i < high && i < view->intents; i++) {
        const struct p3_intent *intent = p3_view_intent(view, i);

        if (intent != peer->intent &&
            atomic_load_explicit(&intent->phase, memory_order_acquire) != P3_IDLE &&
            bytes_meet(&intent->event, &peer->intent->event))
            return i;
    }
    return P3_NONE;
}

/* A dead mover never ends by himself, and the target may be stopped: finishes his operation. */
static void finish_dead_mover(struct p3_ni *ni, struct p3_peer *peer, uint32_t slot)
{
    struct p3_intent *intent = p3_view_intent(&peer->view, slot);
    uint64_t incarnation = atomic_load_explicit(&intent->incarnation, memory_order_relaxed);

    if (snic_peer_initiator_liveness(peer->snic, slot, 0) != SNIC_DEAD ||
        p3_lock_target(ni, peer) < 0)
        return;
    /* The slot may have a new occupant by now, who cleans up himself. */
    if (atomic_load_explicit(&intent->incarnation, memory_order_relaxed) == incarnation)
        p3_target_finish_dead(&peer->view, intent);
    p3_unlock_target(peer);
    snic_ring(peer->snic);
}

/* Step 2 of a getput, with the exchange lock held: accepted when no process moves bytes that it
 * would swap, and from then on none begins to. PTL_EXT_FAIL_STALLED: a process takes too long. */
static uint32_t accept_alone(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                             struct p3_place *place, enum p3_verdict *verdict)
{
    const struct timespec pause = {.tv_nsec = P3_SWAP_PAUSE_NS};
    uint64_t begin = 0;

    for (;;) {
        int error = p3_lock_target(ni, peer);
        uint32_t mover = P3_NONE;

        if (error < 0) {
            *verdict = P3_DROPPED; /* an earlier round may have matched: nothing was accepted */
            return fail_of_lock(error);
        }
        atomic_store_explicit(&peer->view.area->swapping, 1, memory_order_release);
        SNIC_STEP("ptl.getput.claimed");
        *verdict = request_match(peer, r, place);
        if (*verdict == P3_ACCEPTED)
            mover = mover_in_the_way(peer);
        if (mover == P3_NONE)
            return request_take(peer, *verdict);
        p3_unlock_target(peer);
        SNIC_STEP("ptl.getput.wait");
        finish_dead_mover(ni, peer, mover);
        begin = begin ? begin : snic_now_ns();
        if (snic_now_ns() - begin > (uint64_t)ni->lock_timeout_ns) {
            *verdict = P3_DROPPED;
            return PTL_EXT_FAIL_STALLED;
        }
        nanosleep(&pause, NULL);
    }
}

static void exchange_over(struct p3_peer *peer)
{
    const struct timespec pause = {.tv_nsec = P3_SWAP_PAUSE_NS};
    uint32_t others;

    /* Partner: the acquire load of a request that looks whether it may pass. */
    atomic_store_explicit(&peer->view.area->swapping, 0, memory_order_release);
    others = atomic_load_explicit(&peer->view.area->exchange.waiters, memory_order_relaxed);
    unlock_exchange(peer);
    /* Who swaps again and again would take the lock from sleepers before they have woken. */
    if (others != 0)
        nanosleep(&pause, NULL);
}

/* Swaps under the target's exchange lock, and with `swapping` set, so that nothing comes between
 * reading and writing. */
uint32_t p3_request_swap(struct p3_ni *ni, struct p3_peer *peer, struct p3_request *r,
                         struct p3_place *place, enum p3_verdict *verdict, uint8_t *mine,
                         uint8_t *theirs)
{
    struct p3_source buffer = {.start = theirs};
    uint32_t fail;
    int error = lock_exchange(ni, peer);

    if (error < 0)
        return fail_of_lock(error);
    fail = accept_alone(ni, peer, r, place, verdict);
    if (fail != PTL_NI_OK || *verdict != P3_ACCEPTED) {
        exchange_over(peer);
        return fail;
    }
    if (place->mlength > P3_GETPUT_MAX)
        return PTL_EXT_FAIL_CORRUPT;
    fail = p3_move_bytes(peer, place, &buffer, 0, place->mlength, 0);
    SNIC_STEP("ptl.getput.read");
    buffer.start = mine;
    if (fail == PTL_NI_OK)
        fail = p3_move_bytes(peer, place, &buffer, 0, place->mlength, 1);
    SNIC_STEP("ptl.getput.written");
    return fail;
}

void p3_request_swapped(struct p3_ni *ni, struct p3_peer *peer, uint32_t fail)
{
    SNIC_STEP("ptl.getput.told");
    p3_peer_complete(ni, peer, fail);
    SNIC_STEP("ptl.getput.swapped");
    exchange_over(peer);
}
