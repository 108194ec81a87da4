/* Calls with flat arguments: message queues of nodes, the collective engine. */
#include "gni_call.h"

#include <string.h>

#define MSGQ(value) HANDLE(gni_msgq_handle_t, value)
#define CE(value) HANDLE(gni_ce_handle_t, value)

_Static_assert(sizeof(gni_msgq_attr_t) == VGN_MSGQ_BYTES, "gni_msgq_attr_t");
_Static_assert(sizeof(gni_msgq_ep_attr_t) == VGN_MSGQ_PEER_BYTES, "gni_msgq_ep_attr_t");
_Static_assert(sizeof(gni_ce_result_t) == VGN_CE_RESULT_BYTES, "gni_ce_result_t");

/* ---- message queues ---- */

/* Java's memory for the message that was taken last; `length` is that of all messages. */
struct message {
    uint32_t from, node, tag, count;
    uint8_t bytes[GNI_MSGQ_MSG_SZ_MAX];
    uint32_t length;
};

_Static_assert(offsetof(struct message, bytes) == VGN_MESSAGE_BYTES, "message");

static int keep(uint32_t snd_id, uint32_t snd_pe, void *msg, uint8_t msg_tag, void *cb_data)
{
    struct message *m = cb_data;

    m->from = snd_id;
    m->node = snd_pe;
    m->tag = msg_tag;
    m->count++;
    memcpy(m->bytes, msg, m->length);
    return 0;
}

int64_t vgn_msgq_init(uint64_t nic, uint64_t cq, uint64_t attributes, uint64_t message)
{
    const uint32_t *numbers = AT(const uint32_t, attributes);
    gni_msgq_attr_t attrs = {.max_msg_sz = numbers[0],
                             .smsg_q_sz = numbers[1],
                             .rcv_pool_sz = numbers[2],
                             .num_msgq_eps = numbers[3],
                             .nloc_insts = numbers[4],
                             .modes = (uint8_t)numbers[5],
                             .rcv_cq_sz = numbers[6]};
    gni_msgq_handle_t msgq = NULL;
    int32_t code;

    if (attrs.max_msg_sz > GNI_MSGQ_MSG_SZ_MAX)
        return -(int64_t)GNI_RC_INVALID_PARAM;
    AT(struct message, message)->length = attrs.max_msg_sz;
    code = CALL(GNI_MsgqInit, NIC(nic), keep, AT(void, message), CQ(cq), &attrs, &msgq);
    return result(code, msgq);
}

DOES(vgn_msgq_release, (uint64_t msgq), CALL(GNI_MsgqRelease, MSGQ(msgq)))
TELLS(vgn_msgq_attributes, (uint64_t msgq, uint32_t address, uint64_t attributes), uint32_t,
      CALL(GNI_MsgqGetConnAttrs, MSGQ(msgq), address, AT(gni_msgq_ep_attr_t, attributes), &value))
DOES(vgn_msgq_connect, (uint64_t msgq, uint32_t address, uint64_t attributes),
     CALL(GNI_MsgqConnect, MSGQ(msgq), address, AT(gni_msgq_ep_attr_t, attributes)))
DOES(vgn_msgq_disconnect, (uint64_t msgq, uint32_t address),
     CALL(GNI_MsgqConnRelease, MSGQ(msgq), address))
DOES(vgn_msgq_send,
     (uint64_t msgq, uint64_t ep, uint64_t header, uint32_t header_length, uint64_t data,
      uint32_t data_length, uint32_t id, uint32_t tag),
     CALL(GNI_MsgqSend, MSGQ(msgq), EP(ep), AT(void, header), header_length, AT(void, data),
          data_length, id, (uint8_t)tag))
DOES(vgn_msgq_progress, (uint64_t msgq, uint32_t timeout_ms),
     CALL(GNI_MsgqProgress, MSGQ(msgq), timeout_ms))

/* ---- the collective engine ---- */

MAKES(vgn_ce_create, (uint64_t nic), gni_ce_handle_t, CALL(GNI_CeCreate, NIC(nic), &value))
TELLS(vgn_ce_id, (uint64_t ce), uint32_t, CALL(GNI_CeGetId, CE(ce), &value))
DOES(vgn_ep_ce, (uint64_t ep, uint32_t ce_id, uint32_t child_id, uint32_t type),
     CALL(GNI_EpSetCeAttr, EP(ep), ce_id, child_id, (gni_ce_child_t)type))
DOES(vgn_ce_configure,
     (uint64_t ce, uint64_t children, uint32_t count, uint64_t parent, uint64_t cq, uint32_t modes),
     CALL(GNI_CeConfigure, CE(ce), AT(gni_ep_handle_t, children), count, EP(parent), CQ(cq), modes))
DOES(vgn_ce_check, (uint64_t ce_result), CALL(GNI_CeCheckResult, AT(gni_ce_result_t, ce_result), 1))
DOES(vgn_ce_destroy, (uint64_t ce), CALL(GNI_CeDestroy, CE(ce)))
