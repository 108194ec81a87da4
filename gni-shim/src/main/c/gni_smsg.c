/*
 * Short messages. A mailbox is the receiver's registered memory, and everything about it lies
 * there, so that a sender needs nothing but its attributes:
 *
 *     0  messages of the other direction that the peer has released, written by the peer
 *    64  messages of this mailbox that were released, written by its owner, read by the sender
 *   256  one slot for each credit: sequence (8), length (4), tag (4), header and data
 *
 * The sender writes length, tag and bytes, then the sequence number: the message is there whole or
 * not at all. Credits come back at half of them; a sender who has none left looks for himself.
 */
#include "gni_library.h"
#include <string.h>

#define MAILBOX_HEADER 256u
#define SLOT_HEADER 16u
#define RETURNED_AT 0u
#define RELEASED_AT 64u

/* Whole cache lines: the two sides never write to one line, and a short message is one. */
static uint64_t stride_of(uint32_t maxsize)
{
    return (SLOT_HEADER + (uint64_t)maxsize + 63) & ~63ull;
}

static uint64_t size_of(const gni_smsg_attr_t *attr)
{
    return (MAILBOX_HEADER + attr->mbox_maxcredit * stride_of(attr->msg_maxsize) + 63) & ~63ull;
}

static int is_type(gni_smsg_type_t type)
{
    return type == GNI_SMSG_TYPE_MBOX || type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
}

gni_return_t GNI_SmsgBufferSizeNeeded(gni_smsg_attr_t *smsg_attr, unsigned int *size)
{
    if (smsg_attr == NULL || size == NULL || !is_type(smsg_attr->msg_type) ||
        size_of(smsg_attr) > UINT32_MAX)
        return GNI_RC_INVALID_PARAM;
    *size = (unsigned int)size_of(smsg_attr);
    return GNI_RC_SUCCESS;
}

/* ---- making the two ends one ---- */

static gni_return_t check_attributes(struct gni_nic *nic, const gni_smsg_attr_t *local,
                                     const gni_smsg_attr_t *remote, uint8_t **at)
{
    uint64_t mailbox = (uint64_t)(uintptr_t)local->msg_buffer + local->mbox_offset, piece = 0;

    if (!is_type(local->msg_type) || local->msg_type != remote->msg_type ||
        local->mbox_maxcredit == 0 || local->mbox_maxcredit != remote->mbox_maxcredit ||
        local->msg_maxsize == 0 || local->msg_maxsize != remote->msg_maxsize ||
        local->msg_maxsize > GNI_SMSG_MAX_SIZE)
        return GNI_RC_INVALID_PARAM;
    if (gni_local_range(nic, &local->mem_hndl, mailbox, size_of(local), at, &piece) !=
            GNI_STATUS_OK ||
        piece < size_of(local) || ((uintptr_t)*at & 7) != 0 ||
        !gni_handle_is_valid(&remote->mem_hndl)) {
        gni_fail("GNI_SmsgInit: the mailbox of %llu bytes does not lie in its registration",
                 (unsigned long long)size_of(local));
        return GNI_RC_INVALID_PARAM;
    }
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_SmsgInit(gni_ep_handle_t ep_hndl, gni_smsg_attr_t *local_smsg_attr,
                          gni_smsg_attr_t *remote_smsg_attr)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    uint8_t *at = NULL;
    gni_return_t code;

    if (ep == NULL || local_smsg_attr == NULL || remote_smsg_attr == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    code = !ep->is_bound || ep->smsg.is_ready
               ? GNI_RC_INVALID_STATE
               : check_attributes(ep->nic, local_smsg_attr, remote_smsg_attr, &at);
    if (code == GNI_RC_SUCCESS)
        ep->smsg =
            (struct gni_smsg){.is_ready = 1,
                              .credits = local_smsg_attr->mbox_maxcredit,
                              .maxsize = local_smsg_attr->msg_maxsize,
                              .stride = stride_of(local_smsg_attr->msg_maxsize),
                              .local = at, /* of segments it is not what the attributes say */
                              .send_slot = MAILBOX_HEADER,
                              .receive_slot = MAILBOX_HEADER,
                              .handle = remote_smsg_attr->mem_hndl,
                              .remote = (uint64_t)(uintptr_t)remote_smsg_attr->msg_buffer +
                                        remote_smsg_attr->mbox_offset};
    gni_leave(&ep->nic->lock);
    return code;
}

static _Atomic uint64_t *word(uint8_t *at)
{
    return (_Atomic uint64_t *)(void *)at;
}

/* The slot after this one; in a mailbox they lie one after the other, and then from the first. */
static uint64_t slot_after(const struct gni_smsg *s, uint64_t slot)
{
    slot += s->stride;
    return slot == MAILBOX_HEADER + s->credits * s->stride ? MAILBOX_HEADER : slot;
}

/* ---- sending ---- */

struct message {
    const void *header, *data;
    uint32_t header_length, data_length;
    uint32_t msg_id;
    uint8_t tag;
};

static uint32_t open_peer(struct gni_ep *ep, struct gni_target *target)
{
    return gni_target_open(ep, &ep->smsg.reach, &ep->smsg.handle, target);
}

static void look_for_released(struct gni_ep *ep)
{
    struct gni_smsg *s = &ep->smsg;
    struct gni_target target;
    uint64_t released = 0;

    if (open_peer(ep, &target) == GNI_STATUS_OK &&
        gni_target_check(&target, s->remote + RELEASED_AT, 8, 0) == GNI_STATUS_OK &&
        gni_target_load(&target, s->remote + RELEASED_AT, &released) == GNI_STATUS_OK &&
        released > s->returned)
        s->returned = released;
}

/* Messages that may still be sent; looks into the peer's mailbox when there seem to be none. */
static uint64_t credits_left(struct gni_ep *ep)
{
    struct gni_smsg *s = &ep->smsg;

    if (s->sent - s->returned >= s->credits) {
        uint64_t returned =
            atomic_load_explicit(word(s->local + RETURNED_AT), memory_order_acquire);

        s->returned = returned > s->returned ? returned : s->returned;
        if (s->sent - s->returned >= s->credits)
            look_for_released(ep);
        if (s->returned > s->sent)
            s->is_broken = 1; /* nobody can release what was not sent */
    }
    if (snic_planted("gni-credits-ignored"))
        return 1;
    return s->is_broken ? 0 : s->credits - (s->sent - s->returned);
}

static void copy_message(uint8_t *to, const struct message *m)
{
    uint32_t words[2] = {m->header_length + m->data_length, m->tag};

    memcpy(to, words, sizeof(words));
    if (m->header_length == 8) /* a constant length: one load, one store */
        memcpy(to + 8, m->header, 8);
    else if (m->header_length != 0)
        memcpy(to + 8, m->header, m->header_length);
    if (m->data_length != 0)
        memcpy(to + 8 + m->header_length, m->data, m->data_length);
}

/* Into a mailbox that is mapped here: one copy, one store, one pin. */
static uint32_t write_mapped(struct gni_ep *ep, const struct message *m, struct gni_target *target)
{
    uint8_t *slot = gni_target_at(target, ep->smsg.remote + ep->smsg.send_slot);
    uint32_t status = gni_target_begin(target, SNIC_WRITE);

    if (status != GNI_STATUS_OK)
        return status;
    copy_message(slot + 8, m);
    SNIC_STEP("gni.smsg.written");
    /* Release; partner: current() of the receiver. */
    atomic_store_explicit(word(slot), ep->smsg.sent + 1, memory_order_release);
    SNIC_STEP("gni.smsg.published");
    gni_target_end(target);
    return GNI_STATUS_OK;
}

static uint32_t write_any(struct gni_ep *ep, const struct message *m, struct gni_target *target)
{
    struct gni_smsg *s = &ep->smsg;
    uint64_t slot = s->remote + s->send_slot, sequence = s->sent + 1;
    uint64_t length = 8 + (uint64_t)m->header_length + m->data_length;
    uint32_t status;

    copy_message(ep->nic->staging, m);
    status = gni_target_write(target, slot + 8, ep->nic->staging, length);
    SNIC_STEP("gni.smsg.written");
    if (status == GNI_STATUS_OK)
        status = gni_target_store(target, slot, s->sent < s->credits ? 0 : sequence - s->credits,
                                  sequence);
    SNIC_STEP("gni.smsg.published");
    return status;
}

static uint32_t send_message(struct gni_ep *ep, const struct message *m)
{
    struct gni_smsg *s = &ep->smsg;
    struct gni_target target;
    uint32_t status = open_peer(ep, &target);

    if (status == GNI_STATUS_OK)
        status = gni_target_check(&target, s->remote + s->send_slot, s->stride, 1);
    if (status == GNI_STATUS_OK)
        status = target.reach->is_mapped && ((uintptr_t)gni_target_at(&target, s->remote) & 7) == 0
                     ? write_mapped(ep, m, &target)
                     : write_any(ep, m, &target);
    if (status != GNI_STATUS_OK)
        return status;
    s->sent++;
    s->send_slot = slot_after(s, s->send_slot);
    gni_target_event(&target, (uint64_t)ep->remote_event | (uint64_t)GNI_SOURCE_REMOTE << 56);
    return GNI_STATUS_OK;
}

static void tell_sender(struct gni_ep *ep, uint32_t status, uint32_t msg_id)
{
    struct gni_request *request = gni_cq_request(ep->cq, GNI_REQUEST_SMSG, 1);

    request->status = (uint8_t)status;
    request->msg_id = msg_id;
    request->ep = ep;
    ep->outstanding++;
    gni_cq_push(ep->cq, GNI_ENTRY(GNI_SOURCE_SREQ, status, GNI_CQ_EVENT_TYPE_SMSG,
                                  gni_cq_tid(request), msg_id));
}

static gni_return_t send_checked(struct gni_ep *ep, const struct message *m)
{
    struct gni_cq *cq = ep->cq;
    uint32_t status;

    if (cq != NULL &&
        ((cq->requests == NULL && gni_cq_source_prepare(cq) != 0) || cq->free_count == 0)) {
        ep->nic->statistics[GNI_STAT_SMSG_REQ_STALL]++;
        return GNI_RC_NOT_DONE;
    }
    if (credits_left(ep) == 0) {
        ep->nic->statistics[GNI_STAT_SMSG_MBOX_CREDITS_STALL]++;
        /* Of a peer that is gone no credit will ever come. */
        status = gni_peer_ready(ep->nic, ep->peer);
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
        tell_sender(ep, status, m->msg_id);
    else if (status != GNI_STATUS_OK)
        return GNI_RC_TRANSACTION_ERROR;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length,
                              void *data, uint32_t data_length, uint32_t msg_id, uint8_t tag)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    struct message m = {header, data, header_length, data_length, msg_id, tag};
    gni_return_t code = GNI_RC_INVALID_PARAM;

    if (ep == NULL || (header == NULL && header_length != 0) || (data == NULL && data_length != 0))
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    if (ep->smsg.is_ready)
        code = (uint64_t)header_length + data_length > ep->smsg.maxsize ? GNI_RC_ERROR_RESOURCE
                                                                        : send_checked(ep, &m);
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
        code = GNI_RC_SUCCESS;
        if (words[0] > ep->smsg.maxsize) { /* no sender of ours writes that */
            ep->smsg.is_broken = 1;
            code = GNI_RC_INVALID_STATE;
        } else if (*tag != GNI_SMSG_ANY_TAG && *tag != (uint8_t)words[1]) {
            code = GNI_RC_NO_MATCH;
        } else {
            *tag = (uint8_t)words[1];
            *header = slot + SLOT_HEADER;
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

/* The peer hears of what was released, and gets an event: it may be waiting to send. */
static void return_credits(struct gni_ep *ep)
{
    struct gni_smsg *s = &ep->smsg;
    struct gni_target target;

    if (open_peer(ep, &target) != GNI_STATUS_OK ||
        gni_target_check(&target, s->remote + RETURNED_AT, 8, 1) != GNI_STATUS_OK ||
        gni_target_store(&target, s->remote + RETURNED_AT, s->told, s->released) != GNI_STATUS_OK)
        return; /* it is gone, or not there yet: it looks for itself */
    s->told = s->released;
    gni_target_event(&target, (uint64_t)ep->remote_event | (uint64_t)GNI_SOURCE_REMOTE << 56);
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
        s->receive_slot = slot_after(s, s->receive_slot);
        s->released++;
        /* Release: whoever reads this may write the slot again. Partner: credits_left. */
        atomic_store_explicit(word(s->local + RELEASED_AT), s->released, memory_order_release);
        SNIC_STEP("gni.smsg.released");
        if (s->released - s->told >= (s->credits > 1 ? s->credits / 2 : 1))
            return_credits(ep);
    }
    gni_leave(&ep->nic->lock);
    return code;
}

/* ---- settings ---- */

gni_return_t GNI_SmsgSetDeliveryMode(gni_nic_handle_t nic_handle, uint16_t dlvr_mode)
{
    return gni_handle_find(nic_handle, GNI_KIND_NIC) && !(dlvr_mode & ~0x01ffu)
               ? GNI_RC_SUCCESS
               : GNI_RC_INVALID_PARAM;
}

gni_return_t GNI_SmsgSetMaxRetrans(gni_nic_handle_t nic_handle, uint16_t max_retrans)
{
    struct gni_nic *nic = gni_handle_find(nic_handle, GNI_KIND_NIC);

    if (nic == NULL)
        return GNI_RC_INVALID_PARAM;
    nic->max_retrans = max_retrans;
    return GNI_RC_SUCCESS;
}
