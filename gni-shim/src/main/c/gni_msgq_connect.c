/* Message queues: connections between nodes. */
#include "gni_msgq.h"
#include <string.h>
#include <time.h>

#define GATHER_TRIES                                                                               \
    10000 /* of a millisecond: how long the node's other instances are waited for */

uint32_t gni_msgq_find(const struct gni_msgq *q, uint32_t pe)
{
    for (uint32_t i = 0; i < q->attrs.num_msgq_eps; i++) {
        const struct gni_msgq_connection *c = &q->node->connection[i];

        if (atomic_load_explicit(&c->state, memory_order_acquire) != GNI_MSGQ_FREE && c->pe == pe)
            return i;
    }
    return GNI_MSGQ_NONE;
}

/* Under both locks. */
static uint32_t find_or_make(struct gni_msgq *q, uint32_t pe)
{
    uint32_t found = gni_msgq_find(q, pe), i = 0;
    struct gni_msgq_connection *c;

    if (found != GNI_MSGQ_NONE)
        return found;
    while (i < q->attrs.num_msgq_eps && atomic_load_explicit(&q->node->connection[i].state,
                                                             memory_order_relaxed) != GNI_MSGQ_FREE)
        i++;
    if (i == q->attrs.num_msgq_eps)
        return GNI_MSGQ_NONE;
    c = &q->node->connection[i];
    for (uint32_t s = 0; s < q->attrs.smsg_q_sz; s++)
        atomic_store_explicit(&gni_msgq_slot(q->node, &q->attrs, i, s)->word, 0,
                              memory_order_relaxed);
    c->pe = pe;
    c->generation++;
    atomic_store_explicit(&c->state, GNI_MSGQ_ASKED, memory_order_release);
    return i;
}

static void describe(const struct gni_msgq *q, uint32_t index, gni_msgq_ep_attr_t *attrs,
                     uint32_t *attrs_size)
{
    const struct gni_msgq_node *node = q->node;
    uint32_t instances =
        node->instances <= GNI_MSGQ_NODE_INSTS_MAX ? node->instances : GNI_MSGQ_NODE_INSTS_MAX;

    memset(attrs, 0, sizeof(*attrs));
    attrs->pe_addr = node->pe;
    attrs->max_msg_sz = q->attrs.max_msg_sz;
    attrs->smsg_q_sz = q->attrs.smsg_q_sz;
    attrs->num_insts = instances;
    for (uint32_t i = 0; i < instances; i++) {
        attrs->insts[i].id = node->instance[i];
        attrs->insts[i].mdh_off = index | (uint64_t)node->connection[index].generation << 32;
    }
    *attrs_size =
        (uint32_t)(offsetof(gni_msgq_ep_attr_t, insts) + instances * sizeof(gni_msgq_rem_inst_t));
}

/* The file's lock keeps other processes out, that of the NIC handle our other threads. */
static int lock_both(struct gni_msgq *q)
{
    gni_enter(&q->nic->lock);
    if (gni_msgq_node_lock(q) == 0)
        return 1;
    gni_leave(&q->nic->lock);
    return 0;
}

static void unlock_both(struct gni_msgq *q)
{
    gni_msgq_node_unlock(q);
    gni_leave(&q->nic->lock);
}

/* Under both locks. GNI_RC_NOT_DONE: not all instances of the node take part yet. */
static gni_return_t offer(struct gni_msgq *q, uint32_t pe, gni_msgq_ep_attr_t *attrs,
                          uint32_t *attrs_size)
{
    uint32_t index;

    if (q->node->instances < q->attrs.nloc_insts)
        return GNI_RC_NOT_DONE;
    index = find_or_make(q, pe);
    if (index == GNI_MSGQ_NONE)
        return GNI_RC_ERROR_RESOURCE;
    describe(q, index, attrs, attrs_size);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_MsgqGetConnAttrs(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr,
                                  gni_msgq_ep_attr_t *attrs, uint32_t *attrs_size)
{
    struct gni_msgq *q = gni_handle_find(msgq_hndl, GNI_KIND_MSGQ);
    const struct timespec pause = {.tv_nsec = 1000000};

    gni_forget_failure();
    if (q == NULL || attrs == NULL || attrs_size == NULL || pe_addr == q->nic->pe)
        return GNI_RC_INVALID_PARAM;
    for (int tries = 0; tries <= GATHER_TRIES; tries++) {
        gni_return_t code;

        if (!lock_both(q))
            return GNI_RC_ERROR_RESOURCE;
        code = offer(q, pe_addr, attrs, attrs_size);
        unlock_both(q);
        if (code != GNI_RC_NOT_DONE)
            return code;
        nanosleep(&pause, NULL);
    }
    gni_fail("GNI_MsgqGetConnAttrs: %u of %u instances of this node take part", q->node->instances,
             q->attrs.nloc_insts);
    return GNI_RC_INVALID_STATE;
}

gni_return_t GNI_MsgqConnect(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr,
                             gni_msgq_ep_attr_t *attrs)
{
    struct gni_msgq *q = gni_handle_find(msgq_hndl, GNI_KIND_MSGQ);
    uint32_t index;

    if (q == NULL || attrs == NULL || pe_addr == q->nic->pe || attrs->pe_addr != pe_addr ||
        attrs->num_insts == 0 || attrs->num_insts > GNI_MSGQ_NODE_INSTS_MAX ||
        attrs->max_msg_sz != q->attrs.max_msg_sz || attrs->smsg_q_sz != q->attrs.smsg_q_sz)
        return GNI_RC_INVALID_PARAM;
    if (!lock_both(q))
        return GNI_RC_ERROR_RESOURCE;
    index = gni_msgq_find(q, pe_addr);
    if (index != GNI_MSGQ_NONE) {
        struct gni_msgq_connection *c = &q->node->connection[index];

        c->remote_index = (uint32_t)attrs->insts[0].mdh_off;
        c->remote_generation = (uint32_t)(attrs->insts[0].mdh_off >> 32);
        atomic_store_explicit(&c->state, GNI_MSGQ_ACTIVE, memory_order_release);
    }
    unlock_both(q);
    return index == GNI_MSGQ_NONE ? GNI_RC_INVALID_STATE : GNI_RC_SUCCESS;
}

struct gni_msgq_remote *gni_msgq_far_side(struct gni_msgq *q, uint32_t index, uint32_t *there)
{
    const struct gni_msgq_connection *near = &q->node->connection[index], *far;
    struct gni_msgq_remote *remote = gni_msgq_remote(q, near->pe);
    uint32_t index_there = near->remote_index;

    *there = index_there;
    if (remote == NULL || index_there >= remote->attrs.num_msgq_eps)
        return NULL;
    far = &remote->node->connection[index_there];
    return atomic_load_explicit(&far->state, memory_order_acquire) != GNI_MSGQ_FREE &&
                   far->pe == q->nic->pe && far->generation == near->remote_generation
               ? remote
               : NULL;
}

/* 1: messages of this connection lie unread, here or there. `only_ours`: sent by us. */
static int is_busy(struct gni_msgq *q, uint32_t index, int only_ours)
{
    struct gni_msgq_remote *remote = NULL;
    uint32_t there = 0;

    if (atomic_load_explicit(&q->node->connection[index].state, memory_order_acquire) ==
        GNI_MSGQ_ACTIVE)
        remote = gni_msgq_far_side(q, index, &there);
    for (uint32_t i = 0; i < q->attrs.smsg_q_sz; i++) {
        const struct gni_msgq_slot *near = gni_msgq_slot(q->node, &q->attrs, index, i), *far;

        if (!only_ours && gni_msgq_state(atomic_load(&near->word)) != GNI_MSGQ_SLOT_FREE)
            return 1;
        if (remote == NULL)
            continue;
        far = gni_msgq_slot(remote->node, &remote->attrs, there, i);
        if (gni_msgq_state(atomic_load(&far->word)) != GNI_MSGQ_SLOT_FREE &&
            (!only_ours || far->from == q->nic->inst))
            return 1;
    }
    return 0;
}

gni_return_t GNI_MsgqConnRelease(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr)
{
    struct gni_msgq *q = gni_handle_find(msgq_hndl, GNI_KIND_MSGQ);
    gni_return_t code = GNI_RC_SUCCESS;
    uint32_t index;

    if (q == NULL)
        return GNI_RC_INVALID_PARAM;
    if (!lock_both(q))
        return GNI_RC_ERROR_RESOURCE;
    index = gni_msgq_find(q, pe_addr);
    if (index == GNI_MSGQ_NONE)
        code = GNI_RC_NO_MATCH;
    else if (is_busy(q, index, 0))
        code = GNI_RC_NOT_DONE;
    else
        atomic_store_explicit(&q->node->connection[index].state, GNI_MSGQ_FREE,
                              memory_order_release);
    unlock_both(q);
    return code;
}

gni_return_t GNI_MsgqIdle(gni_msgq_handle_t msgq_hndl)
{
    struct gni_msgq *q = gni_handle_find(msgq_hndl, GNI_KIND_MSGQ);
    int busy;

    if (q == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&q->nic->lock);
    busy = gni_msgq_for_us(q, NULL);
    for (uint32_t i = 0; i < q->attrs.num_msgq_eps && !busy; i++)
        busy = atomic_load_explicit(&q->node->connection[i].state, memory_order_acquire) !=
                   GNI_MSGQ_FREE &&
               is_busy(q, i, 1);
    gni_leave(&q->nic->lock);
    return busy ? GNI_RC_NOT_DONE : GNI_RC_SUCCESS;
}
