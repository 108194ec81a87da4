/* The collective engine's tree: joins go up, results come down. Every step is done by the process
 * that is there, under the lock of one channel, and can be done again: a process that dies in one
 * leaves what the next one needs. */
#include "gni_ce.h"
#include "gni_remote.h"

#define VISITS_MAX 8192u

uint32_t gni_ce_open(struct gni_nic *nic, const struct gni_ce_where *where,
                     struct gni_ce_place *place)
{
    const snic_location_t location = {
        .kind = 1, .memory = where->memory, .length = sizeof(struct gni_ce_channel)};
    struct gni_ce_channel *channel;
    uint32_t status;

    if (!where->is_found)
        return GNI_STATUS_UNREACHABLE;
    place->peer = gni_peer_find(nic, where->pe, where->inst);
    status = place->peer ? gni_peer_ready(nic, place->peer) : (uint32_t)GNI_STATUS_UNREACHABLE;
    if (status != GNI_STATUS_OK)
        return status;
    channel = snic_map(place->peer->snic, &location, 0, sizeof(*channel));
    if (channel == NULL || ((uintptr_t)channel & 63) != 0 || channel->magic != GNI_CE_MAGIC ||
        channel->id != where->id)
        return GNI_STATUS_MDD_INVALID;
    place->channel = channel;
    place->peer->walk = nic->ce_walk;
    return GNI_STATUS_OK;
}

static uint32_t lock(const struct gni_ce_place *place)
{
    return snic_lock_peer(place->peer->snic, &place->channel->lock, GNI_LOCK_NS, NULL, NULL) == 0
               ? GNI_STATUS_OK
               : GNI_STATUS_UNREACHABLE;
}

static void unlock(const struct gni_ce_place *place)
{
    snic_unlock_peer(place->peer->snic, &place->channel->lock);
}

/* What its owner still writes is not looked at. Acquire; partner: the store in configure. */
static int is_configured(const struct gni_ce_channel *channel)
{
    return atomic_load_explicit(&channel->is_configured, memory_order_acquire) != 0;
}

/* ---- up ---- */

/* 1: every child has joined the round after `round`; the fold is in *part. */
static int fold_children(const struct gni_ce_channel *channel, uint64_t round,
                         struct gni_ce_part *part)
{
    int found = 0;

    for (int i = 0; i < GNI_CE_MAX_CHILDREN; i++) {
        const struct gni_ce_member *child = &channel->child[i];

        if (child->type == GNI_CE_CHILD_UNUSED)
            continue;
        /* Acquire; partner: the store of `joined` after `given`. */
        if (atomic_load_explicit(&child->joined, memory_order_acquire) <= round)
            return 0;
        if (!found)
            *part = child->given;
        else
            gni_ce_fold(part, &child->given, channel->modes);
        found = 1;
    }
    return found;
}

/* Under the lock: the round after `round` is over with this result. */
static void finish(struct gni_ce_channel *channel, uint64_t round, const struct gni_ce_part *part)
{
    channel->result = *part;
    SNIC_STEP("gni.ce.result");
    atomic_store_explicit(&channel->round, round + 1, memory_order_release);
    SNIC_STEP("gni.ce.finished");
}

/* Under the lock of `channel`: the fold becomes a join of its parent. Said here first, so that
 * the process that finishes this after our death knows which of the parent's rounds was meant. */
static void hand_up(struct gni_ce_channel *channel, uint64_t round, struct gni_ce_channel *parent,
                    const struct gni_ce_part *part)
{
    struct gni_ce_member *place = &parent->child[channel->parent_child % GNI_CE_MAX_CHILDREN];

    if (channel->up_round != round + 1) {
        channel->up_target = atomic_load_explicit(&parent->round, memory_order_acquire) + 1;
        channel->up_round = round + 1;
    }
    SNIC_STEP("gni.ce.target");
    if (atomic_load_explicit(&place->joined, memory_order_relaxed) >= channel->up_target)
        return;
    place->given = *part;
    SNIC_STEP("gni.ce.given");
    atomic_store_explicit(&place->joined, channel->up_target, memory_order_release);
    SNIC_STEP("gni.ce.joined");
}

/* ---- down ---- */

/* The NIC handle that a child joins from; NULL: a leaf that has not said where it is. */
static struct gni_peer *peer_of(struct gni_nic *nic, const struct gni_ce_member *child)
{
    uint64_t leaf = GNI_CE_LEAF | child->at.inst;

    if (child->type == GNI_CE_CHILD_PE)
        leaf = atomic_load_explicit(&child->leaf, memory_order_acquire);
    return leaf & GNI_CE_LEAF ? gni_peer_find(nic, child->at.pe, (uint32_t)leaf) : NULL;
}

static void ring_children(struct gni_nic *nic, const struct gni_ce_channel *channel)
{
    for (int i = 0; i < GNI_CE_MAX_CHILDREN; i++) {
        const struct gni_ce_member *child = &channel->child[i];
        struct gni_peer *peer;

        if (child->type == GNI_CE_CHILD_UNUSED)
            continue;
        peer = peer_of(nic, child);
        if (peer != NULL && gni_peer_ready(nic, peer) == GNI_STATUS_OK)
            snic_ring(peer->snic);
    }
}

/* The queue that the channel was configured with, and the processes that wait below. */
static void tell(struct gni_nic *nic, const struct gni_ce_place *place)
{
    const struct gni_ce_channel *channel = place->channel;
    uint32_t failed = channel->result.status != 0;
    uint64_t tid = channel->result.red_id & 0x3fffffu;

    if ((channel->modes & GNI_CE_MODE_CQE_ONCOMP) ||
        ((channel->modes & GNI_CE_MODE_CQE_ONERR) && failed))
        gni_peer_event(place->peer, &channel->ring, channel->ring_slots,
                       GNI_ENTRY(GNI_SOURCE_CE, failed ? GNI_STATUS_PROTECTION : 0,
                                 GNI_CQ_EVENT_TYPE_POST, tid, channel->id));
    ring_children(nic, channel);
}

/* The parent's result of our round there, if it has come. */
static void take_down(struct gni_nic *nic, const struct gni_ce_place *place, uint64_t round,
                      const struct gni_ce_channel *parent)
{
    struct gni_ce_channel *channel = place->channel;
    struct gni_ce_part part;
    int is_ours = 0;

    if (atomic_load_explicit(&parent->round, memory_order_acquire) < channel->up_target)
        return;
    part = parent->result; /* stays until we join again */
    if (lock(place) != GNI_STATUS_OK)
        return;
    if (atomic_load_explicit(&channel->round, memory_order_relaxed) == round) {
        finish(channel, round, &part);
        is_ours = 1;
    }
    unlock(place);
    if (is_ours)
        tell(nic, place);
}

uint32_t gni_ce_climb(struct gni_nic *nic, const struct gni_ce_place *place, uint32_t depth)
{
    struct gni_ce_channel *channel = place->channel;
    struct gni_ce_place parent = {0};
    struct gni_ce_part part;
    uint64_t round;
    int handed = 0, is_over = 0;
    uint32_t status = GNI_STATUS_OK;

    if (depth >= GNI_CE_DEPTH)
        return GNI_STATUS_PROTECTION; /* a tree with a ring in it */
    if (!is_configured(channel))
        return GNI_STATUS_OK; /* who waits comes again */
    if (channel->has_parent)
        status = gni_ce_open(nic, &channel->parent, &parent);
    if (status == GNI_STATUS_OK)
        status = lock(place);
    if (status != GNI_STATUS_OK)
        return status;
    round = atomic_load_explicit(&channel->round, memory_order_relaxed);
    if (fold_children(channel, round, &part)) {
        handed = parent.channel != NULL;
        is_over = !handed;
        if (handed)
            hand_up(channel, round, parent.channel, &part);
        else
            finish(channel, round, &part);
    }
    unlock(place);
    if (is_over)
        tell(nic, place);
    if (!handed)
        return GNI_STATUS_OK;
    status = gni_ce_climb(nic, &parent, depth + 1);
    take_down(nic, place, round, parent.channel);
    return status;
}

/* ---- who will never join ---- */

/* A leaf that has not said where it is may still come. */
static int is_gone(struct gni_nic *nic, const struct gni_ce_member *child)
{
    struct gni_peer *peer = peer_of(nic, child);

    return peer != NULL && gni_peer_ready(nic, peer) != GNI_STATUS_OK;
}

/* Below this channel, of the round that is going on. */
static int misses_below(struct gni_nic *nic, const struct gni_ce_channel *channel, uint32_t depth,
                        uint32_t *visits)
{
    uint64_t round = atomic_load_explicit(&channel->round, memory_order_acquire);

    if (depth >= GNI_CE_DEPTH || ++*visits > VISITS_MAX || !is_configured(channel))
        return 0;
    for (int i = 0; i < GNI_CE_MAX_CHILDREN; i++) {
        const struct gni_ce_member *child = &channel->child[i];
        struct gni_ce_place below;
        int lost;

        if (child->type == GNI_CE_CHILD_UNUSED ||
            atomic_load_explicit(&child->joined, memory_order_acquire) > round)
            continue;
        lost = is_gone(nic, child);
        if (!lost && child->type == GNI_CE_CHILD_VCE)
            lost = gni_ce_open(nic, &child->at, &below) != GNI_STATUS_OK ||
                   misses_below(nic, below.channel, depth + 1, visits);
        /* Dead, and has not joined: he never will. In the other order he might have. */
        if (lost && atomic_load_explicit(&child->joined, memory_order_acquire) <= round)
            return 1;
    }
    return 0;
}

int gni_ce_is_lost(struct gni_nic *nic, const struct gni_ce_place *place)
{
    struct gni_ce_place at = *place;
    uint32_t visits = 0;

    for (uint32_t depth = 0; depth < GNI_CE_DEPTH; depth++) {
        const struct gni_ce_channel *channel = at.channel;

        if (misses_below(nic, channel, 0, &visits))
            return 1;
        if (!is_configured(channel) || !channel->has_parent)
            return 0;
        if (gni_ce_open(nic, &channel->parent, &at) != GNI_STATUS_OK)
            return 1;
    }
    return 0;
}
