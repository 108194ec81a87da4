/*
 * Short messages, through mailboxes (gni_mailbox.c).
 *
 * The sender writes length, tag and bytes, then the sequence number: the message is there whole or
 * not at all. Credits come back with messages. A receiver that has sent none when half of them are
 * due stores their number, and raises an event only for a sender that has said that it has none; a
 * sender that has none looks for itself, too.
 */
#include "gni_remote.h"
#include <string.h>

#define RETURNED_AT 0u

static _Atomic uint64_t *word(uint8_t *at)
{
    return (_Atomic uint64_t *)(void *)at;
}

/* The slot after this one; in a mailbox they lie one after the other, and then from the first. */
static uint64_t slot_after(const struct gni_mailbox *m, uint64_t slot)
{
    slot += m->stride;
    return slot == gni_mailbox_bytes(m) ? m->first : slot;
}

/* Between a store and a load of which the other side does the same in the other order: one of the
 * two sees what the other has stored. */
static void full_fence(void)
{
#ifdef SNIC_TSAN /* which knows no fences */
    static _Atomic uint32_t nothing;

    atomic_fetch_add_explicit(&nothing, 0, memory_order_seq_cst);
#else
    atomic_thread_fence(memory_order_seq_cst);
#endif
}

/* ---- sending ---- */

static uint32_t open_peer(struct gni_ep *ep, struct gni_target *target)
{
    return gni_target_open(ep, &ep->smsg.reach, &ep->smsg.handle, target);
}

static void look_for_released(struct gni_ep *ep)
{
    struct gni_smsg *s = &ep->smsg;
    uint64_t at = s->remote + s->out.released_at, released = 0;
    struct gni_target target;

    if (open_peer(ep, &target) == GNI_STATUS_OK &&
        gni_target_check(&target, at, 8, 0) == GNI_STATUS_OK &&
        gni_target_load(&target, at, &released) == GNI_STATUS_OK && released > s->returned)
        s->returned = released;
}

/* The peer has reported how many messages it has released. */
static void take_report(struct gni_smsg *s, uint64_t released)
{
    s->reported = released > s->reported ? released : s->reported;
    s->returned = released > s->returned ? released : s->returned;
}

static void look_for_returned(struct gni_smsg *s)
{
    take_report(s, atomic_load_explicit(word(s->local + RETURNED_AT), memory_order_acquire));
}

/* Asks for an event when there are credits again; not again before the peer has answered. */
static void ask_for_credits(struct gni_ep *ep)
{
    struct gni_smsg *s = &ep->smsg;
    uint64_t at = s->remote + s->out.wanted_at;
    struct gni_target target;

    if (s->wanted > s->reported || open_peer(ep, &target) != GNI_STATUS_OK ||
        gni_target_check(&target, at, 8, 1) != GNI_STATUS_OK ||
        gni_target_store(&target, at, s->wanted, s->returned + 1) != GNI_STATUS_OK)
        return;
    s->wanted = s->returned + 1;
    SNIC_STEP("gni.smsg.wanted");
    full_fence(); /* partner: return_credits */
    look_for_returned(s);
}

/* Messages that may still be sent; looks into the mailboxes when there seem to be none. */
static uint64_t credits_left(struct gni_ep *ep)
{
    struct gni_smsg *s = &ep->smsg;

    if (s->sent - s->returned >= s->out.credits) {
        look_for_returned(s);
        if (s->sent - s->returned >= s->out.credits)
            look_for_released(ep);
        if (s->sent - s->returned >= s->out.credits)
            ask_for_credits(ep);
        if (s->returned > s->sent)
            s->is_broken = 1; /* what was not sent cannot be released */
    }
    return s->is_broken ? 0 : s->out.credits - (s->sent - s->returned);
}

static void copy_message(uint8_t *to, const struct gni_message *m, uint64_t released)
{
    uint32_t words[2] = {(m->header_length + m->data_length) | (uint32_t)m->tag << 16,
                         (uint32_t)released};

    memcpy(to, words, sizeof(words));
    if (m->header_length == 8) /* a constant length: one load, one store */
        memcpy(to + 8, m->header, 8);
    else if (m->header_length != 0)
        memcpy(to + 8, m->header, m->header_length);
    if (m->data_length != 0)
        memcpy(to + 8 + m->header_length, m->data, m->data_length);
}

/* Into a mailbox that is mapped here: one copy, one store, one pin. */
static uint32_t write_mapped(struct gni_ep *ep, const struct gni_message *m,
                             struct gni_target *target)
{
    uint8_t *slot = gni_target_at(target, ep->smsg.remote + ep->smsg.send_slot);
    uint32_t status = gni_target_begin(target, SNIC_WRITE);

    if (status != GNI_STATUS_OK)
        return status;
    copy_message(slot + 8, m, ep->smsg.released);
    SNIC_STEP("gni.smsg.written");
    /* Release; partner: current() of the receiver. */
    atomic_store_explicit(word(slot), ep->smsg.sent + 1, memory_order_release);
    SNIC_STEP("gni.smsg.published");
    return gni_target_end(target);
}

static uint32_t write_any(struct gni_ep *ep, const struct gni_message *m, struct gni_target *target)
{
    struct gni_smsg *s = &ep->smsg;
    uint64_t slot = s->remote + s->send_slot, sequence = s->sent + 1;
    uint64_t length = 8 + (uint64_t)m->header_length + m->data_length;
    uint32_t status;

    copy_message(ep->nic->staging, m, s->released);
    status = gni_target_write(target, slot + 8, ep->nic->staging, length);
    SNIC_STEP("gni.smsg.written");
    if (status == GNI_STATUS_OK)
        status = gni_target_store(
            target, slot, s->sent < s->out.credits ? 0 : sequence - s->out.credits, sequence);
    SNIC_STEP("gni.smsg.published");
    return status;
}

static uint32_t send_message(struct gni_ep *ep, const struct gni_message *m)
{
    struct gni_smsg *s = &ep->smsg;
    struct gni_target target;
    uint32_t status = open_peer(ep, &target);

    if (status == GNI_STATUS_OK)
        status = gni_target_check(&target, s->remote + s->send_slot, s->out.stride, 1);
    if (status == GNI_STATUS_OK)
        status = target.reach->is_mapped && ((uintptr_t)gni_target_at(&target, s->remote) & 7) == 0
                     ? write_mapped(ep, m, &target)
                     : write_any(ep, m, &target);
    if (status != GNI_STATUS_OK)
        return status;
    s->sent++;
    s->send_slot = slot_after(&s->out, s->send_slot);
    s->stored = s->announced = s->released;
    gni_target_event(&target, (uint64_t)ep->remote_event | (uint64_t)GNI_SOURCE_REMOTE << 56);
    return GNI_STATUS_OK;
}

static gni_return_t send_checked(struct gni_ep *ep, const struct gni_message *m)
{
    struct gni_cq *cq = ep->cq;
    struct gni_target target;
    uint32_t status;

    if (cq != NULL &&
        ((cq->requests == NULL && gni_cq_source_prepare(cq) != 0) || cq->free_count == 0)) {
        ep->nic->statistics[GNI_STAT_SMSG_REQ_STALL]++;
        return GNI_RC_NOT_DONE;
    }
    if (credits_left(ep) == 0) {
        ep->nic->statistics[GNI_STAT_SMSG_MBOX_CREDITS_STALL]++;
        /* Of a peer that is gone no credit will ever come. */
        status = gni_target_open_slowly(ep, &ep->smsg.reach, &ep->smsg.handle, &target);
        if (!ep->smsg.is_broken && status == GNI_STATUS_OK)
            return GNI_RC_NOT_DONE;
        if (ep->smsg.is_broken)
            return GNI_RC_INVALID_STATE;
    } else {
        status = send_message(ep, m);
    }
    if (status != GNI_STATUS_OK)
        gni_errors_note(ep->nic, status);
    if (cq != NULL)
        gni_cq_tell_sender(ep, cq, status, GNI_CQ_EVENT_TYPE_SMSG, m->id);
    else if (status != GNI_STATUS_OK)
        return GNI_RC_TRANSACTION_ERROR;
    return GNI_RC_SUCCESS;
}

static int fits(const struct gni_smsg *s, const struct gni_message *m)
{
    uint64_t length = (uint64_t)m->header_length + m->data_length;

    if (length > s->out.longest)
        gni_fail("GNI_SmsgSend: %llu bytes; the peer's mailbox takes messages of at most %u",
                 (unsigned long long)length, s->out.longest);
    return length <= s->out.longest;
}

gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length,
                              void *data, uint32_t data_length, uint32_t msg_id, uint8_t tag)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    struct gni_message m = {header, data, header_length, data_length, msg_id, tag};
    gni_return_t code = GNI_RC_INVALID_PARAM;

    if (ep == NULL || (header == NULL && header_length != 0) || (data == NULL && data_length != 0))
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    if (ep->smsg.is_ready)
        code = fits(&ep->smsg, &m) ? send_checked(ep, &m) : GNI_RC_ERROR_RESOURCE;
    gni_leave(&ep->nic->lock);
    return code;
}

gni_return_t GNI_SmsgSend(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data,
                          uint32_t data_length, uint32_t msg_id)
{
    return GNI_SmsgSendWTag(ep_hndl, header, header_length, data, data_length, msg_id, 0);
}

/* ---- receiving ---- */

/* The message that is next, or NULL. */
static uint8_t *current(struct gni_smsg *s)
{
    uint8_t *slot = s->local + s->receive_slot;

    /* Acquire; partner: what the sender stores after the bytes. */
    return atomic_load_explicit(word(slot), memory_order_acquire) == s->received + 1 ? slot : NULL;
}

/* What a message says of ours: the lower half of their number, which may be older than what is
 * known. More than was sent cannot have been released. */
static void take_credits(struct gni_smsg *s, uint32_t released)
{
    int32_t more = (int32_t)(released - (uint32_t)s->returned);

    if (more <= (int64_t)(s->sent - s->returned) && -(int64_t)more <= (int64_t)s->returned)
        take_report(s, s->returned + (uint64_t)(int64_t)more);
}

gni_return_t GNI_SmsgGetNextWTag(gni_ep_handle_t ep_hndl, void **header, uint8_t *tag)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    gni_return_t code = GNI_RC_NOT_DONE;
    uint32_t words[2];
    uint8_t *slot;

    if (ep == NULL || header == NULL || tag == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    slot = ep->smsg.is_ready ? current(&ep->smsg) : NULL;
    if (!ep->smsg.is_ready) {
        code = GNI_RC_INVALID_PARAM;
    } else if (slot != NULL) {
        memcpy(words, slot + 8, sizeof(words));
        take_credits(&ep->smsg, words[1]);
        code = GNI_RC_SUCCESS;
        if ((words[0] & 0xffffu) > ep->smsg.in.longest || words[0] >> 24 != 0) {
            ep->smsg.is_broken = 1; /* no sender of ours writes that */
            code = GNI_RC_INVALID_STATE;
        } else if (*tag != GNI_SMSG_ANY_TAG && *tag != (uint8_t)(words[0] >> 16)) {
            code = GNI_RC_NO_MATCH;
        } else {
            *tag = (uint8_t)(words[0] >> 16);
            *header = slot + GNI_SMSG_SLOT_HEADER;
            ep->smsg.has_current = 1;
        }
    }
    gni_leave(&ep->nic->lock);
    return code;
}

gni_return_t GNI_SmsgGetNext(gni_ep_handle_t ep_hndl, void **header)
{
    uint8_t tag = GNI_SMSG_ANY_TAG;

    return GNI_SmsgGetNextWTag(ep_hndl, header, &tag);
}

/* No message has taken them along. The peer gets an event if it has reported that it has no
 * credits, and no event has followed since. */
static void return_credits(struct gni_ep *ep)
{
    struct gni_smsg *s = &ep->smsg;
    struct gni_target target;
    uint64_t wanted;

    if (open_peer(ep, &target) != GNI_STATUS_OK ||
        gni_target_check(&target, s->remote + RETURNED_AT, 8, 1) != GNI_STATUS_OK ||
        gni_target_store(&target, s->remote + RETURNED_AT, s->stored, s->released) != GNI_STATUS_OK)
        return; /* it is gone, or not there yet: it looks for itself */
    s->stored = s->released;
    SNIC_STEP("gni.smsg.returned");
    full_fence(); /* partner: ask_for_credits */
    wanted = atomic_load_explicit(word(s->local + s->in.wanted_at), memory_order_relaxed);
    if (wanted > s->announced && wanted <= s->released) {
        s->announced = s->released;
        gni_target_event(&target, (uint64_t)ep->remote_event | (uint64_t)GNI_SOURCE_REMOTE << 56);
    }
}

gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep_hndl)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    gni_return_t code = GNI_RC_SUCCESS;

    if (ep == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    struct gni_smsg *s = &ep->smsg;
    if (!s->is_ready) {
        code = GNI_RC_INVALID_PARAM;
    } else if (!s->has_current) {
        code = GNI_RC_NOT_DONE;
    } else {
        s->has_current = 0;
        s->received++;
        s->receive_slot = slot_after(&s->in, s->receive_slot);
        s->released++;
        /* Release: the process that reads this may write the slot again. Partner: credits_left. */
        atomic_store_explicit(word(s->local + s->in.released_at), s->released,
                              memory_order_release);
        SNIC_STEP("gni.smsg.released");
        if (s->released - s->stored >= (s->in.credits > 1 ? s->in.credits / 2 : 1))
            return_credits(ep);
    }
    gni_leave(&ep->nic->lock);
    return code;
}
