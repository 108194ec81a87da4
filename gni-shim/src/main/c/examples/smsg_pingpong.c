/*
 * Ranks 0 and 1 play ping-pong by short messages, with two credits; each end is polled. Mailboxes
 * are made known by the keys and values of PMI, as text.
 *
 *     cc smsg_pingpong.c -lugni -lpmi -o smsg_pingpong && gni-run -n 2 ./smsg_pingpong
 */
#include "example.h"

#define ROUNDS 1000

static void publish(int rank, const void *bytes, size_t length)
{
    char key[32], value[512], name[32];

    snprintf(key, sizeof(key), "mailbox-%d", rank);
    for (size_t i = 0; i < length; i++)
        snprintf(value + 2 * i, 3, "%02x", ((const unsigned char *)bytes)[i]);
    PMI_KVS_Get_my_name(name, sizeof(name));
    PMI_KVS_Put(name, key, value);
    PMI_KVS_Commit(name);
    PMI_Barrier();
}

static void look_up(int rank, void *bytes, size_t length)
{
    char key[32], value[512], name[32];

    snprintf(key, sizeof(key), "mailbox-%d", rank);
    PMI_KVS_Get_my_name(name, sizeof(name));
    if (PMI_KVS_Get(name, key, value, sizeof(value)) != PMI_SUCCESS)
        PMI_Abort(1, "no mailbox");
    for (size_t i = 0; i < length; i++) {
        unsigned byte;

        sscanf(value + 2 * i, "%2x", &byte);
        ((unsigned char *)bytes)[i] = (unsigned char)byte;
    }
}

static void send_ball(gni_ep_handle_t ep, gni_cq_handle_t sent, int ball)
{
    gni_cq_entry_t entry;
    gni_return_t code;

    while ((code = GNI_SmsgSendWTag(ep, &ball, sizeof(ball), NULL, 0, (uint32_t)ball & 0xffffff,
                                    7)) == GNI_RC_NOT_DONE)
        ; /* no credit: the other end has not released enough */
    check(code, "GNI_SmsgSendWTag");
    while ((code = GNI_CqGetEvent(sent, &entry)) == GNI_RC_NOT_DONE)
        ;
    check(code, "GNI_CqGetEvent");
    if (GNI_CQ_GET_TYPE(entry) != GNI_CQ_EVENT_TYPE_SMSG)
        PMI_Abort(1, "an event of something else");
}

static int receive_ball(gni_ep_handle_t ep)
{
    uint8_t tag = GNI_SMSG_ANY_TAG;
    void *message;
    gni_return_t code;
    int ball;

    while ((code = GNI_SmsgGetNextWTag(ep, &message, &tag)) == GNI_RC_NOT_DONE)
        tag = GNI_SMSG_ANY_TAG;
    check(code, "GNI_SmsgGetNextWTag");
    memcpy(&ball, message, sizeof(ball));
    CHECK(GNI_SmsgRelease(ep));
    if (tag != 7)
        PMI_Abort(1, "another tag");
    return ball;
}

int main(void)
{
    struct job job;
    gni_cq_handle_t sent;
    gni_ep_handle_t ep;
    gni_smsg_attr_t mine, theirs;

    open_job(&job);
    if (job.size != 2)
        PMI_Abort(2, "two processes play");
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &sent));
    mine = make_mailbox(&job, 2, NULL);
    publish(job.rank, &mine, sizeof(mine));
    look_up(1 - job.rank, &theirs, sizeof(theirs));
    ep = bind_to(&job, sent, job.address, (uint32_t)(1 - job.rank));
    CHECK(GNI_SmsgInit(ep, &mine, &theirs));
    for (int round = 0; round < ROUNDS; round++) {
        if (job.rank == 0)
            send_ball(ep, sent, round);
        if (receive_ball(ep) != round)
            PMI_Abort(1, "another ball");
        if (job.rank == 1)
            send_ball(ep, sent, round);
    }
    if (job.rank == 0)
        printf("%d rounds\n", ROUNDS);
    close_job(&job);
    free(mine.msg_buffer);
    return 0;
}
