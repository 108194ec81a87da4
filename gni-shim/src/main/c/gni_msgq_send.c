/* Message queues: sending. */
#include "gni_msgq.h"
#include <string.h>

#define RECLAIM_NS 50000000ull

/* The NIC handle's lock is held and we fill no slot: one that is claimed in our name is a dead
 * predecessor's. */
static int is_left(const struct gni_msgq *q, const struct gni_msgq_remote *remote, uint64_t word)
{
    uint32_t inst = gni_msgq_instance(word);

    if (gni_msgq_state(word) == GNI_MSGQ_SLOT_CLAIMED)
        return inst == q->nic->inst || !gni_msgq_is_alive(q->nic, q->nic->pe, inst);
    return gni_msgq_state(word) != GNI_MSGQ_SLOT_FREE &&
           !gni_msgq_is_alive(q->nic, remote->pe, inst);
}

/* What the dead claimed, or will never read, is free again. */
static void reclaim(struct gni_msgq *q, const struct gni_msgq_remote *remote, uint32_t there)
{
    uint64_t now = snic_coarse_ns();

    if (now - q->reclaimed_ns < RECLAIM_NS)
        return;
    q->reclaimed_ns = now;
    for (uint32_t i = 0; i < q->attrs.smsg_q_sz; i++) {
        struct gni_msgq_slot *slot = gni_msgq_slot(remote->node, &remote->attrs, there, i);
        uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

        if (is_left(q, remote, word))
            gni_msgq_free_slot(slot, word);
    }
}

/* A slot of ours there, or NULL. */
static struct gni_msgq_slot *claim(struct gni_msgq *q, const struct gni_msgq_remote *remote,
                                   uint32_t there)
{
    for (uint32_t i = 0; i < q->attrs.smsg_q_sz; i++) {
        struct gni_msgq_slot *slot = gni_msgq_slot(remote->node, &remote->attrs, there, i);
        uint64_t word = atomic_load_explicit(&slot->word, memory_order_relaxed);

        if (gni_msgq_state(word) != GNI_MSGQ_SLOT_FREE)
            continue;
        /* Acquire; partner: the release in gni_msgq_free_slot. */
        if (atomic_compare_exchange_strong_explicit(
                &slot->word, &word, gni_msgq_word(word, GNI_MSGQ_SLOT_CLAIMED, q->nic->inst),
                memory_order_acquire, memory_order_relaxed))
            return slot;
    }
    return NULL;
}

static int takes_part(const struct gni_msgq_node *node, uint32_t inst)
{
    for (uint32_t i = 0; i < node->instances && i < GNI_MSGQ_NODE_INSTS_MAX; i++)
        if (node->instance[i] == inst)
            return 1;
    return 0;
}

/* Into a slot of the other node; 0: no credit. */
static int deliver(struct gni_msgq *q, struct gni_ep *ep, struct gni_msgq_remote *remote,
                   uint32_t there, const struct gni_message *m)
{
    struct gni_msgq_slot *slot = claim(q, remote, there);
    uint64_t word;

    if (slot == NULL) {
        reclaim(q, remote, there);
        slot = claim(q, remote, there);
    }
    if (slot == NULL)
        return 0;
    SNIC_STEP("gni.msgq.claimed");
    slot->from = q->nic->inst;
    slot->tag = m->tag;
    if (m->header_length != 0)
        memcpy(slot->bytes, m->header, m->header_length);
    if (m->data_length != 0)
        memcpy(slot->bytes + m->header_length, m->data, m->data_length);
    slot->order =
        atomic_fetch_add_explicit(&remote->node->connection[there].order, 1, memory_order_relaxed);
    word = atomic_load_explicit(&slot->word, memory_order_relaxed);
    /* Release; partner: the acquire load in next_message. */
    atomic_store_explicit(&slot->word, gni_msgq_word(word, GNI_MSGQ_SLOT_FULL, ep->inst),
                          memory_order_release);
    SNIC_STEP("gni.msgq.full");
    if (ep->peer->snic != NULL) /* reclaim may have found it gone */
        snic_ring(ep->peer->snic);
    return 1;
}

/* The lock is held. */
static gni_return_t send_message(struct gni_msgq *q, struct gni_ep *ep, const struct gni_message *m)
{
    struct gni_cq *cq = ep->cq ? ep->cq : q->cq;
    uint32_t index = gni_msgq_find(q, ep->pe), there, status;
    struct gni_msgq_remote *remote;

    if (index == GNI_MSGQ_NONE)
        return GNI_RC_NO_MATCH;
    if (atomic_load_explicit(&q->node->connection[index].state, memory_order_acquire) !=
        GNI_MSGQ_ACTIVE)
        return GNI_RC_INVALID_STATE;
    if (cq != NULL && (gni_cq_source_prepare(cq) != 0 || cq->free_count == 0))
        return GNI_RC_NOT_DONE;
    status = gni_peer_ready(q->nic, ep->peer);
    if (status == GNI_STATUS_OK) {
        remote = gni_msgq_far_side(q, index, &there);
        if (remote == NULL)
            return GNI_RC_INVALID_STATE;
        if (!takes_part(remote->node, ep->inst))
            return GNI_RC_NO_MATCH;
        if (!deliver(q, ep, remote, there, m))
            return GNI_RC_NOT_DONE;
    } else {
        gni_errors_note(q->nic, status);
    }
    if (cq != NULL)
        gni_cq_tell_sender(ep, cq, status, GNI_CQ_EVENT_TYPE_MSGQ, m->id);
    return cq != NULL || status == GNI_STATUS_OK ? GNI_RC_SUCCESS : GNI_RC_TRANSACTION_ERROR;
}

gni_return_t GNI_MsgqSend(gni_msgq_handle_t msgq_hndl, gni_ep_handle_t ep_hndl, void *hdr,
                          uint32_t hdr_len, void *msg, uint32_t msg_len, uint32_t msg_id,
                          uint8_t msg_tag)
{
    struct gni_msgq *q = gni_handle_find(msgq_hndl, GNI_KIND_MSGQ);
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    const struct gni_message m = {hdr, msg, hdr_len, msg_len, msg_id, msg_tag};
    gni_return_t code;

    if (q == NULL || ep == NULL || ep->nic != q->nic || (hdr == NULL && hdr_len != 0) ||
        (msg == NULL && msg_len != 0))
        return GNI_RC_INVALID_PARAM;
    if ((uint64_t)hdr_len + msg_len > q->attrs.max_msg_sz)
        return GNI_RC_SIZE_ERROR;
    gni_enter(&q->nic->lock);
    code = !ep->is_bound || ep->pe == q->nic->pe ? GNI_RC_INVALID_PARAM : send_message(q, ep, &m);
    gni_leave(&q->nic->lock);
    return code;
}
