/* Message queues shared by the instances of a node (specification, section 5.10; nothing numbered
 * there): messages, credits, waiting. */
#define _GNU_SOURCE
#include "msgq_side.h"
#include <sched.h>
#include <unistd.h>
#ifdef SNIC_TEST
#include "softnic.h"
#endif

/* ---- two nodes of two processes each: everybody sends to everybody over there ---- */

#define EACH 500u

static void meet(int index, uint32_t count)
{
    __atomic_fetch_add((uint32_t *)&shared->flag[index], 1, __ATOMIC_ACQ_REL);
    await_flag(index, count);
}

static void body(int rank)
{
    gni_msgq_ep_attr_t *told = (gni_msgq_ep_attr_t *)(void *)shared->bytes, mine;
    uint32_t pe = rank < 2 ? NODE_A : NODE_B, sent[2] = {0, 0}, size;
    struct side s;

    open_side(&s, pe, (uint32_t)rank % 2 + 1);
    init(&s, 2, 0);
    if (rank % 2 == 0) { /* one for the node */
        OK(GNI_MsgqGetConnAttrs(s.q, pe == NODE_A ? NODE_B : NODE_A, &mine, &size));
        CHECK_EQ(16 + 2 * sizeof(gni_msgq_rem_inst_t), size);
        CHECK_EQ(2, mine.num_insts);
        memcpy(&told[rank / 2], &mine, size);
    }
    meet(0, 4);
    if (rank % 2 == 0)
        OK(GNI_MsgqConnect(s.q, pe == NODE_A ? NODE_B : NODE_A, &told[1 - rank / 2]));
    meet(1, 4);
    while (sent[0] < EACH || sent[1] < EACH || s.received < (int)(2 * EACH)) {
        gni_return_t code;

        for (uint32_t to = 0; to < 2; to++) {
            if (sent[to] == EACH)
                continue;
            code = send_number(&s, to + 1, sent[to]);
            CHECK(code == GNI_RC_SUCCESS || code == GNI_RC_NOT_DONE);
            if (code == GNI_RC_SUCCESS)
                fetch_sent(&s, sent[to]++);
        }
        OK(GNI_MsgqProgress(s.q, 0xffffffffu));
        sched_yield();
    }
    expect_empty(s.cq);
    meet(2, 4);
    OK(GNI_MsgqIdle(s.q));
    OK(GNI_MsgqRelease(s.q));
    OK(GNI_CdmDestroy(s.cdm));
}

static void two_nodes(void)
{
    pid_t pid[4];

    for (int rank = 0; rank < 4; rank++) {
        pid[rank] = fork();
        if (pid[rank] == 0) {
            end_with_parent();
            body(rank);
            _Exit(0);
        }
    }
    for (int rank = 0; rank < 4; rank++)
        join(pid[rank]);
    CHECK_EQ(0, files_left());
}

/* ---- credits ---- */

/* With nobody reading, a connection takes what it has slots for, of all instances together, and a
 * refused message leaves nothing. */
static void credits(void)
{
    struct side a, other, b;
    uint32_t by_first = 0, by_other = 0;

    open_side(&a, NODE_A, 1);
    open_side(&other, NODE_A, 2);
    open_side(&b, NODE_B, 1);
    init(&a, 2, 0);
    init(&other, 2, 0);
    init(&b, 1, 0);
    join_nodes(&a, &b);
    while (by_first < 5 && send_number(&a, 1, by_first) == GNI_RC_SUCCESS)
        by_first++;
    while (by_other < 100 && send_number(&other, 1, by_other) == GNI_RC_SUCCESS)
        by_other++;
    CHECK_EQ(CREDITS, by_first + by_other);
    CODE(GNI_RC_NOT_DONE, send_number(&a, 1, by_first));
    CODE(GNI_RC_NOT_DONE, GNI_MsgqIdle(a.q));
    CODE(GNI_RC_NOT_DONE, GNI_MsgqIdle(b.q));
    CODE(GNI_RC_NOT_DONE, GNI_MsgqConnRelease(a.q, NODE_B));
    OK(GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(CREDITS, b.received);
    OK(send_number(&a, 1, by_first));
    OK(GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(CREDITS + 1, b.received);
    OK(GNI_MsgqIdle(a.q));
    OK(GNI_MsgqRelease(other.q));
    OK(GNI_CdmDestroy(other.cdm));
    close_sides(&a, &b);
}

static void pause_of_callback(void)
{
    struct side a, b;

    two_sides(&a, &b, 0);
    for (uint32_t i = 0; i < 6; i++)
        OK(send_number(&a, 1, i));
    b.stop_after = 2;
    CODE(GNI_RC_NOT_DONE, GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(2, b.received);
    b.stop_after = 0;
    OK(GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(6, b.received);
    close_sides(&a, &b);
}

/* ---- waiting ---- */

static void timeout(void)
{
    uint64_t began = now_ms();
    struct side b;

    open_side(&b, NODE_B, 1);
    init(&b, 1, GNI_MSGQ_MODE_BLOCKING);
    CODE(GNI_RC_TIMEOUT, GNI_MsgqProgress(b.q, 40));
    CHECK(now_ms() - began >= 40);
    OK(GNI_MsgqProgress(b.q, 0));
    OK(GNI_MsgqRelease(b.q));
    OK(GNI_CdmDestroy(b.cdm));
}

static void waking_sender(void)
{
    gni_msgq_ep_attr_t *told = (gni_msgq_ep_attr_t *)(void *)shared->bytes;
    struct side a;
    uint32_t size;

    open_side(&a, NODE_A, 1);
    init(&a, 1, GNI_MSGQ_MODE_BLOCKING);
    OK(GNI_MsgqGetConnAttrs(a.q, NODE_B, &told[0], &size));
    set_flag(0, 1);
    await_flag(1, 1);
    OK(GNI_MsgqConnect(a.q, NODE_B, &told[1]));
    sleep_ms(30);
    OK(send_number(&a, 1, 0));
    await_flag(2, 1);
    OK(GNI_MsgqRelease(a.q));
    OK(GNI_CdmDestroy(a.cdm));
}

static void woken(void)
{
    gni_msgq_ep_attr_t *told = (gni_msgq_ep_attr_t *)(void *)shared->bytes;
    struct side b;
    uint32_t size;
    pid_t pid = start(waking_sender);

    open_side(&b, NODE_B, 1);
    init(&b, 1, GNI_MSGQ_MODE_BLOCKING);
    OK(GNI_MsgqGetConnAttrs(b.q, NODE_A, &told[1], &size));
    await_flag(0, 1);
    OK(GNI_MsgqConnect(b.q, NODE_A, &told[0]));
    set_flag(1, 1);
    b.stop_after = 1;
    CODE(GNI_RC_NOT_DONE, GNI_MsgqProgress(b.q, 0xffffffffu));
    CHECK_EQ(1, b.received);
    set_flag(2, 1);
    CHECK_EQ(0, join(pid));
    OK(GNI_MsgqRelease(b.q));
    OK(GNI_CdmDestroy(b.cdm));
}

#ifdef SNIC_TEST
static struct side *beside;

/* When the first slot has been looked at: into it, and into the second. */
static void send_two(const char *label)
{
    if (beside == NULL || strcmp(label, "gni.msgq.looked") != 0)
        return;
    struct side *a = beside;
    beside = NULL;
    OK(send_number(a, 1, 0));
    OK(send_number(a, 1, 1));
}

/* on_message() expects them one after the other. */
static void sent_while_looked_for(void)
{
    struct side a, b;

    two_sides(&a, &b, 0);
    beside = &a;
    snic_step_hook = send_two;
    OK(GNI_MsgqProgress(b.q, 0));
    snic_step_hook = NULL;
    CHECK(beside == NULL);
    OK(GNI_MsgqProgress(b.q, 0));
    CHECK_EQ(2, b.received);
    close_sides(&a, &b);
}
#endif

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"", "two_nodes", two_nodes},
        {"", "credits", credits},
        {"", "pause_of_callback", pause_of_callback},
        {"", "timeout", timeout},
        {"", "woken", woken},
#ifdef SNIC_TEST
        {"", "sent_while_looked_for", sent_while_looked_for},
#endif
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
