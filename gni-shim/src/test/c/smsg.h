/* What tests of short messages share: two ends in one process, or one in each of two. */
#ifndef SMSG_H
#define SMSG_H
#include "mailbox.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define CREDITS 8
#define MAXSIZE 256

static struct node a, b;

static inline gni_smsg_attr_t mailbox(const struct node *n, uint16_t credits, uint32_t maxsize)
{
    return mailbox_at(n, GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, 4096, credits, maxsize);
}

static inline void connect_pair(int mapped)
{
    gni_smsg_attr_t of_a, of_b;

    pair_open(&a, &b, 0, mapped);
    of_a = mailbox(&a, CREDITS, MAXSIZE);
    of_b = mailbox(&b, CREDITS, MAXSIZE);
    OK(GNI_SmsgInit(a.ep, &of_a, &of_b));
    OK(GNI_SmsgInit(b.ep, &of_b, &of_a));
}

static inline void send_one(struct node *n, uint64_t value)
{
    gni_cq_entry_t entry;

    OK(GNI_SmsgSend(n->ep, &value, 8, NULL, 0, (uint32_t)value));
    OK(GNI_CqGetEvent(n->cq, &entry));
}

static inline void take_one(struct node *n, uint64_t value)
{
    void *message;

    OK(GNI_SmsgGetNext(n->ep, &message));
    CHECK(*(uint64_t *)message == value);
    OK(GNI_SmsgRelease(n->ep));
}

static inline void open_end(struct node *n, uint32_t inst, uint16_t credits)
{
    node_open(n, inst, 0, 1);
    OK(GNI_EpBind(n->ep, n->pe, 3 - inst));
    shared->attr[inst] = mailbox(n, credits, 64);
    __atomic_fetch_add((uint32_t *)&shared->flag[0], 1, __ATOMIC_RELEASE);
    await_flag(0, 2);
    OK(GNI_SmsgInit(n->ep, &shared->attr[inst], &shared->attr[3 - inst]));
}

static inline void receive_one(struct node *n, uint64_t value)
{
    gni_cq_entry_t entry;
    void *message;

    while (GNI_SmsgGetNext(n->ep, &message) == GNI_RC_NOT_DONE)
        GNI_CqWaitEvent(n->dst, 20, &entry);
    take_one(n, value);
}
#endif
