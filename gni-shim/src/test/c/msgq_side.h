/* Nodes and instances for the tests of message queues: nodes are addresses, and each process, or
 * each handle, is given one. */
#ifndef MSGQ_SIDE_H
#define MSGQ_SIDE_H

#include "check.h"
#include <stdlib.h>

#define SIZE 64u
#define CREDITS 8u
#define NODE_A 0x100u
#define NODE_B 0x200u

struct side {
    uint32_t pe, inst;
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    gni_cq_handle_t cq;
    gni_msgq_handle_t q;
    gni_ep_handle_t ep[2]; /* of the other node's instances 1 and 2 */
    int received;
    int stop_after;   /* the callback wants a pause then; 0: never */
    uint32_t next[4]; /* expected of each sender */
};

static inline gni_msgq_attr_t attributes(uint32_t instances, uint8_t modes)
{
    gni_msgq_attr_t a;

    memset(&a, 0, sizeof(a));
    a.max_msg_sz = SIZE;
    a.smsg_q_sz = CREDITS;
    a.rcv_pool_sz = 4096;
    a.num_msgq_eps = 4;
    a.nloc_insts = instances;
    a.modes = modes;
    a.rcv_cq_sz = 64;
    return a;
}

/* A message: number, sender, then bytes made of both. */
static inline void compose(uint8_t bytes[SIZE], uint32_t number, uint32_t sender)
{
    memcpy(bytes, &number, 4);
    memcpy(bytes + 4, &sender, 4);
    fill(bytes + 8, SIZE - 8, number * 3 + sender);
}

static inline int on_message(uint32_t snd_id, uint32_t snd_pe, void *msg, uint8_t msg_tag,
                             void *cb_data)
{
    struct side *s = cb_data;
    uint32_t number, sender;

    memcpy(&number, msg, 4);
    memcpy(&sender, (uint8_t *)msg + 4, 4);
    CHECK_EQ(snd_id, sender);
    CHECK_EQ(s->pe == NODE_A ? NODE_B : NODE_A, snd_pe);
    CHECK_EQ((uint8_t)number, msg_tag);
    CHECK(is_filled((uint8_t *)msg + 8, SIZE - 8, number * 3 + sender));
    CHECK_EQ(s->next[sender & 3]++, number);
    s->received++;
    return s->stop_after == 0 || s->received < s->stop_after;
}

static inline void open_side(struct side *s, uint32_t pe, uint32_t inst)
{
    char text[16];
    uint32_t told;

    memset(s, 0, sizeof(*s));
    s->pe = pe;
    s->inst = inst;
    snprintf(text, sizeof(text), "%u", pe);
    setenv("GNI_SHIM_NIC_ADDR", text, 1);
    OK(GNI_CdmCreate(inst, PTAG, COOKIE, 0, &s->cdm));
    OK(GNI_CdmAttach(s->cdm, 0, &told, &s->nic));
    CHECK_EQ(pe, told);
    OK(GNI_CqCreate(s->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &s->cq));
    for (uint32_t i = 0; i < 2; i++) {
        OK(GNI_EpCreate(s->nic, s->cq, &s->ep[i]));
        OK(GNI_EpBind(s->ep[i], pe == NODE_A ? NODE_B : NODE_A, i + 1));
    }
}

static inline void init(struct side *s, uint32_t instances, uint8_t modes)
{
    gni_msgq_attr_t a = attributes(instances, modes);

    OK(GNI_MsgqInit(s->nic, on_message, s, s->cq, &a, &s->q));
}

/* By one instance of each node. */
static inline void join_nodes(struct side *a, struct side *b)
{
    gni_msgq_ep_attr_t of_a, of_b;
    uint32_t size;

    OK(GNI_MsgqGetConnAttrs(a->q, NODE_B, &of_a, &size));
    OK(GNI_MsgqGetConnAttrs(b->q, NODE_A, &of_b, &size));
    OK(GNI_MsgqConnect(a->q, NODE_B, &of_b));
    OK(GNI_MsgqConnect(b->q, NODE_A, &of_a));
}

static inline void two_sides(struct side *a, struct side *b, uint8_t modes)
{
    open_side(a, NODE_A, 1);
    open_side(b, NODE_B, 1);
    init(a, 1, modes);
    init(b, 1, modes);
    join_nodes(a, b);
}

static inline gni_return_t send_number(struct side *s, uint32_t to, uint32_t number)
{
    uint8_t bytes[SIZE];

    compose(bytes, number, s->inst);
    return GNI_MsgqSend(s->q, s->ep[to - 1], bytes, 12, bytes + 12, SIZE - 12, number,
                        (uint8_t)number);
}

static inline void fetch_sent(struct side *s, uint32_t number)
{
    gni_cq_entry_t entry;

    OK(next_event(s->cq, &entry));
    CHECK_EQ(GNI_CQ_EVENT_TYPE_MSGQ, GNI_CQ_GET_TYPE(entry));
    CHECK_EQ(number, GNI_CQ_GET_MSG_ID(entry));
}

static inline void close_sides(struct side *a, struct side *b)
{
    OK(GNI_MsgqRelease(a->q));
    CODE(GNI_RC_INVALID_PARAM, GNI_MsgqRelease(a->q));
    OK(GNI_MsgqRelease(b->q));
    OK(GNI_CdmDestroy(a->cdm));
    OK(GNI_CdmDestroy(b->cdm));
}

static inline int files_left(void)
{
    char command[512];

    snprintf(command, sizeof(command), "ls %s | grep -c gni-msgq", getenv("GNI_SHIM_DIR"));
    FILE *pipe = popen(command, "r");
    int count = -1;

    CHECK(pipe != NULL && fscanf(pipe, "%d", &count) == 1);
    pclose(pipe);
    return count;
}

#endif
