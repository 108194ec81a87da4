/*
 * Mailboxes of short messages. One is the receiver's registered memory, and everything about it
 * lies there, so that a sender needs nothing but its attributes:
 *
 *     0  messages of the other direction that the peer has released, written by the peer
 *    64  messages of this mailbox that were released, written by its owner, read by the sender
 *   128  1 + what a sender without credits knew to be released, written by the sender; 0: never
 *   256  one slot for each credit: sequence (8), length (2), tag (1), 0 (1), messages that the
 *        sender has released (4), header and data
 *
 * In one that is smaller than GNI_SmsgBufferSizeNeeded says, the words and the slots lie close
 * together (0, 8, 16, 24), and there are as many slots as fit. Where not even one of the longest
 * message does, the rest is one slot, and what does not fit into that is refused by the sender.
 */
#include "gni_library.h"

/* Whole cache lines: the two sides never write to one line, and a short message is one. */
static const struct gni_mailbox spacious = {.released_at = 64, .wanted_at = 128, .first = 256};
static const struct gni_mailbox narrow = {.released_at = 8, .wanted_at = 16, .first = 24};

static uint64_t round_up(uint64_t length, uint64_t to)
{
    return (length + to - 1) & ~(to - 1);
}

static struct gni_mailbox spacious_one(const gni_smsg_attr_t *attr)
{
    struct gni_mailbox m = spacious;

    m.credits = attr->mbox_maxcredit;
    m.longest = attr->msg_maxsize;
    m.stride = round_up(GNI_SMSG_SLOT_HEADER + (uint64_t)attr->msg_maxsize, 64);
    return m;
}

/* The mailbox that both sides find in its attributes, and where it begins: a narrow one at its
 * first aligned byte. A size of 0 says nothing. No credits: not one byte fits. */
static struct gni_mailbox mailbox_of(const gni_smsg_attr_t *attr, uint64_t *at)
{
    uint64_t size = attr->buff_size, before, rest;
    struct gni_mailbox m = spacious_one(attr);

    *at = (uint64_t)(uintptr_t)attr->msg_buffer + attr->mbox_offset;
    if (size == 0 || size >= gni_mailbox_bytes(&m))
        return m;
    m = narrow;
    before = m.first + (-*at & 7);
    *at = round_up(*at, 8);
    rest = size < before ? 0 : (size - before) & ~7ull;
    m.longest = attr->msg_maxsize;
    m.stride = round_up(GNI_SMSG_SLOT_HEADER + (uint64_t)m.longest, 8);
    if (rest > GNI_SMSG_SLOT_HEADER && rest < m.stride) {
        m.longest = (uint32_t)(rest - GNI_SMSG_SLOT_HEADER);
        m.stride = rest;
    }
    m.credits =
        rest / m.stride < attr->mbox_maxcredit ? (uint32_t)(rest / m.stride) : attr->mbox_maxcredit;
    return m;
}

static int is_type(gni_smsg_type_t type)
{
    return type == GNI_SMSG_TYPE_MBOX || type == GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
}

gni_return_t GNI_SmsgBufferSizeNeeded(gni_smsg_attr_t *smsg_attr, unsigned int *size)
{
    struct gni_mailbox m;

    if (smsg_attr == NULL || size == NULL || !is_type(smsg_attr->msg_type))
        return GNI_RC_INVALID_PARAM;
    m = spacious_one(smsg_attr);
    if (gni_mailbox_bytes(&m) > UINT32_MAX)
        return GNI_RC_INVALID_PARAM;
    *size = (unsigned int)gni_mailbox_bytes(&m);
    return GNI_RC_SUCCESS;
}

/* ---- making the two ends one ---- */

static gni_return_t check_attributes(const gni_smsg_attr_t *local, const gni_smsg_attr_t *remote)
{
    return !is_type(local->msg_type) || local->msg_type != remote->msg_type ||
                   local->mbox_maxcredit == 0 || local->mbox_maxcredit != remote->mbox_maxcredit ||
                   local->msg_maxsize == 0 || local->msg_maxsize != remote->msg_maxsize ||
                   local->msg_maxsize > GNI_SMSG_MAX_SIZE || !gni_handle_is_valid(&remote->mem_hndl)
               ? GNI_RC_INVALID_PARAM
               : GNI_RC_SUCCESS;
}

static gni_return_t connect(struct gni_ep *ep, const gni_smsg_attr_t *local,
                            const gni_smsg_attr_t *remote)
{
    uint64_t named, far, piece = 0;
    struct gni_mailbox in = mailbox_of(local, &named), out = mailbox_of(remote, &far);
    uint8_t *at = NULL;

    if (in.credits == 0 || out.credits == 0 ||
        gni_local_range(ep->nic, &local->mem_hndl, named, gni_mailbox_bytes(&in), &at, &piece) !=
            GNI_STATUS_OK ||
        piece < gni_mailbox_bytes(&in) || ((uintptr_t)at & 7) != 0) {
        gni_fail("GNI_SmsgInit: mailboxes of %u and %u bytes: one is too small for any message, or "
                 "the local one does not lie in its registration",
                 local->buff_size, remote->buff_size);
        return GNI_RC_INVALID_PARAM;
    }
    ep->smsg = (struct gni_smsg){.is_ready = 1,
                                 .in = in,
                                 .out = out,
                                 .local = at, /* of segments it is not what the attributes say */
                                 .send_slot = out.first,
                                 .receive_slot = in.first,
                                 .handle = remote->mem_hndl,
                                 .remote = far};
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_SmsgInit(gni_ep_handle_t ep_hndl, gni_smsg_attr_t *local_smsg_attr,
                          gni_smsg_attr_t *remote_smsg_attr)
{
    struct gni_ep *ep = gni_handle_find(ep_hndl, GNI_KIND_EP);
    gni_return_t code;

    gni_forget_failure();
    if (ep == NULL || local_smsg_attr == NULL || remote_smsg_attr == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&ep->nic->lock);
    code = !ep->is_bound || ep->smsg.is_ready ? GNI_RC_INVALID_STATE
                                              : check_attributes(local_smsg_attr, remote_smsg_attr);
    if (code == GNI_RC_SUCCESS)
        code = connect(ep, local_smsg_attr, remote_smsg_attr);
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
    (void)max_retrans; /* nothing is sent twice */
    return gni_handle_find(nic_handle, GNI_KIND_NIC) ? GNI_RC_SUCCESS : GNI_RC_INVALID_PARAM;
}
