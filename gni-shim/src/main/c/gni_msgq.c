/* Message queues shared by the instances of a node: their life, and receiving. */
#include "gni_msgq.h"
#include <stdlib.h>

#define FOREVER_MS 0xffffffffu

/* ---- the queue ---- */

gni_return_t GNI_MsgqSize(gni_msgq_attr_t *attrs, uint32_t *size)
{
    if (attrs == NULL || size == NULL || gni_msgq_bytes(attrs) == 0)
        return GNI_RC_INVALID_PARAM;
    *size = (uint32_t)gni_msgq_bytes(attrs);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_MsgqInit(gni_nic_handle_t nic_hndl, gni_msgq_rcv_cb_func *rcv_cb, void *cb_data,
                          gni_cq_handle_t snd_cq, gni_msgq_attr_t *attrs,
                          gni_msgq_handle_t *msgq_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_cq *cq = gni_handle_find(snd_cq, GNI_KIND_CQ);
    struct gni_msgq *q;
    gni_return_t code;

    gni_forget_failure();
    if (nic == NULL || rcv_cb == NULL || attrs == NULL || msgq_hndl == NULL ||
        gni_msgq_bytes(attrs) == 0 ||
        (snd_cq != NULL && (cq == NULL || cq->nic != nic || cq->memories != 0)))
        return GNI_RC_INVALID_PARAM;
    q = calloc(1, sizeof(*q));
    if (q == NULL)
        return GNI_RC_ERROR_NOMEM;
    *q = (struct gni_msgq){.nic = nic,
                           .callback = rcv_cb,
                           .data = cb_data,
                           .cq = cq,
                           .attrs = *attrs,
                           .fd = -1,
                           .bytes = gni_msgq_bytes(attrs)};
    gni_enter(&nic->lock);
    code = nic->msgq != NULL ? GNI_RC_INVALID_STATE : gni_msgq_node_join(q);
    if (code == GNI_RC_SUCCESS) {
        q->handle = gni_handle_give(GNI_KIND_MSGQ, q);
        if (q->handle == NULL) {
            gni_msgq_node_leave(q);
            code = GNI_RC_ERROR_RESOURCE;
        }
    }
    if (code == GNI_RC_SUCCESS) {
        nic->msgq = q;
        if (cq != NULL)
            cq->eps++; /* it must outlive us */
        *msgq_hndl = (gni_msgq_handle_t)q->handle;
    }
    gni_leave(&nic->lock);
    if (code != GNI_RC_SUCCESS)
        free(q);
    return code;
}

int gni_msgq_for_us(struct gni_msgq *q, void (*look)(struct gni_msgq_slot *, uint64_t))
{
    int found = 0;

    for (uint32_t c = 0; c < q->attrs.num_msgq_eps; c++) {
        if (atomic_load_explicit(&q->node->connection[c].state, memory_order_acquire) ==
            GNI_MSGQ_FREE)
            continue;
        for (uint32_t i = 0; i < q->attrs.smsg_q_sz; i++) {
            struct gni_msgq_slot *slot = gni_msgq_slot(q->node, &q->attrs, c, i);
            uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

            if (gni_msgq_state(word) < GNI_MSGQ_SLOT_FULL ||
                gni_msgq_instance(word) != q->nic->inst)
                continue;
            found = 1;
            if (look != NULL)
                look(slot, word);
        }
    }
    return found;
}

void gni_msgq_free_slot(struct gni_msgq_slot *slot, uint64_t word)
{
    atomic_compare_exchange_strong_explicit(&slot->word, &word,
                                            gni_msgq_word(word, GNI_MSGQ_SLOT_FREE, 0),
                                            memory_order_release, memory_order_relaxed);
}

/* The lock is held, or no other thread is there. */
void gni_msgq_close(struct gni_nic *nic)
{
    struct gni_msgq *q = nic->msgq;

    if (q == NULL)
        return;
    gni_msgq_for_us(
        q, gni_msgq_free_slot); /* no process reads them any more: their senders want them back */
    gni_msgq_node_leave(q);
    if (q->cq != NULL)
        q->cq->eps--;
    gni_handle_take(q->handle);
    nic->msgq = NULL;
    free(q);
}

gni_return_t GNI_MsgqRelease(gni_msgq_handle_t msgq_hndl)
{
    struct gni_msgq *q = gni_handle_find(msgq_hndl, GNI_KIND_MSGQ);
    struct gni_nic *nic;

    if (q == NULL)
        return GNI_RC_INVALID_PARAM;
    nic = q->nic;
    gni_enter(&nic->lock);
    gni_msgq_close(nic);
    gni_leave(&nic->lock);
    return GNI_RC_SUCCESS;
}

/* ---- receiving ---- */

/* One look at the slots of connection `c`: the oldest message for us that was there, or NULL. */
static struct gni_msgq_slot *look(struct gni_msgq *q, uint32_t c)
{
    struct gni_msgq_slot *found = NULL;

    for (uint32_t i = 0; i < q->attrs.smsg_q_sz; i++) {
        struct gni_msgq_slot *slot = gni_msgq_slot(q->node, &q->attrs, c, i);
        uint64_t word = atomic_load_explicit(&slot->word, memory_order_acquire);

        SNIC_STEP("gni.msgq.looked");
        if (gni_msgq_state(word) == GNI_MSGQ_SLOT_FULL && gni_msgq_instance(word) == q->nic->inst &&
            (found == NULL || slot->order < found->order))
            found = slot;
    }
    return found;
}

/* The oldest message for us of connection `c`, or NULL. A sender may have put one behind a look and
 * its next before it: only of one that was there when the look began is nothing older missing. */
static struct gni_msgq_slot *oldest(struct gni_msgq *q, uint32_t c)
{
    struct gni_msgq_slot *found = NULL, *before;

    if (atomic_load_explicit(&q->node->connection[c].state, memory_order_acquire) == GNI_MSGQ_FREE)
        return NULL;
    do {
        before = found;
        found = look(q, c);
    } while (found != before && found != NULL);
    return found;
}

/* Of the connections in turn; its address is answered, too. NULL: none. */
static struct gni_msgq_slot *next_message(struct gni_msgq *q, uint32_t *pe)
{
    for (uint32_t i = 0; i < q->attrs.num_msgq_eps; i++) {
        uint32_t c = (q->first + i) % q->attrs.num_msgq_eps;
        struct gni_msgq_slot *slot = oldest(q, c);
        uint64_t word;

        if (slot == NULL)
            continue;
        word = atomic_load_explicit(&slot->word, memory_order_acquire);
        if (gni_msgq_state(word) != GNI_MSGQ_SLOT_FULL ||
            !atomic_compare_exchange_strong_explicit(
                &slot->word, &word, gni_msgq_word(word, GNI_MSGQ_SLOT_READING, q->nic->inst),
                memory_order_acquire, memory_order_relaxed))
            continue;
        q->first = c + 1;
        *pe = q->node->connection[c].pe;
        return slot;
    }
    return NULL;
}

/* One message goes to its callback: 1 go on, 0 the callback wants a pause, -1 there was none. */
static int hand_over(struct gni_msgq *q)
{
    uint32_t pe;
    struct gni_msgq_slot *slot = next_message(q, &pe);
    int goes_on;

    if (slot == NULL)
        return -1;
    goes_on = q->callback(slot->from, pe, slot->bytes, (uint8_t)slot->tag, q->data) != 0;
    gni_msgq_free_slot(slot, atomic_load_explicit(&slot->word, memory_order_relaxed));
    return goes_on;
}

gni_return_t GNI_MsgqProgress(gni_msgq_handle_t msgq_hndl, uint32_t timeout)
{
    struct gni_msgq *q = gni_handle_find(msgq_hndl, GNI_KIND_MSGQ);
    uint64_t last, now;
    int any = 0;

    if (q == NULL)
        return GNI_RC_INVALID_PARAM;
    for (last = snic_now_ns();;) {
        uint32_t bell = snic_doorbell(q->nic->snic);
        int goes_on = hand_over(q);

        if (goes_on == 0)
            return GNI_RC_NOT_DONE;
        if (goes_on > 0) {
            any = 1;
            last = snic_now_ns();
            continue;
        }
        if (!(q->attrs.modes & GNI_MSGQ_MODE_BLOCKING) || timeout == 0)
            return GNI_RC_SUCCESS;
        now = snic_now_ns();
        if (timeout != FOREVER_MS && now - last >= timeout * 1000000ull)
            return any ? GNI_RC_SUCCESS : GNI_RC_TIMEOUT;
        if (timeout != FOREVER_MS && timeout * 1000000ull - (now - last) < GNI_SLICE_NS)
            snic_wait(q->nic->snic, bell, (int64_t)(timeout * 1000000ull - (now - last)));
        else
            snic_wait(q->nic->snic, bell, GNI_SLICE_NS);
    }
}
