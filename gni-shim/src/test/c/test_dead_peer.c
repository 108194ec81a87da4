/* A peer that is killed: transactions and messages to it end in errors (assertion 113). */
#define _GNU_SOURCE
#include "smsg.h"

static void be_killed(void)
{
    struct node n;

    open_end(&n, 2, 4);
    shared->handle[0] = n.handle;
    shared->number[0] = (uint64_t)(uintptr_t)n.memory;
    set_flag(1, 1);
    for (;;)
        pause();
}

static void peer_is_killed(void)
{
    struct node n, far = {0};
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t entry;
    pid_t pid = start(be_killed);
    int errors = 0;

    open_end(&n, 1, 4);
    await_flag(1, 1);
    far.handle = shared->handle[0];
    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    d = transaction(GNI_POST_RDMA_PUT, &n, &far, 4096);
    OK(post_and_wait(&n, &d));
    kill(pid, SIGKILL);
    CHECK_EQ(SIGKILL, join(pid));
    for (uint64_t end = now_ms() + 20000; errors == 0 && now_ms() < end; sleep_ms(5)) {
        OK(GNI_PostRdma(n.ep, &d));
        if (next_event(n.cq, &entry) == GNI_RC_TRANSACTION_ERROR) {
            CHECK_EQ(11, GNI_CQ_GET_STATUS(entry));
            errors++;
        }
        GNI_GetCompleted(n.cq, entry, &done);
        CHECK(done == &d);
    }
    CHECK_EQ(1, errors);
    CODE(GNI_RC_SUCCESS, GNI_SmsgSend(n.ep, "x", 1, NULL, 0, 7));
    CODE(GNI_RC_TRANSACTION_ERROR, next_event(n.cq, &entry));
    CHECK_EQ(7, GNI_CQ_GET_MSG_ID(entry));
    node_close(&n);
}

#define OUTSTANDING 8
static int is_mapped;

static void be_killed_as_target(void)
{
    struct node n;

    node_open(&n, 2, 0, is_mapped);
    shared->handle[0] = n.handle;
    shared->number[0] = (uint64_t)(uintptr_t)n.memory;
    set_flag(1, 1);
    for (;;)
        pause();
}

/* Puts and gets that were accepted and not begun when their target dies. */
static void outstanding_when_killed(void)
{
    struct node n, far = {0};
    gni_post_descriptor_t d[OUTSTANDING], *done;
    gni_cq_entry_t entry;
    uint64_t killed_ms;
    pid_t pid = start(be_killed_as_target);

    setenv("GNI_SHIM_DEFER", "1", 1);
    await_flag(1, 1);
    node_open(&n, 1, 0, is_mapped);
    OK(GNI_EpBind(n.ep, n.pe, 2));
    far.handle = shared->handle[0];
    far.memory = (uint8_t *)(uintptr_t)shared->number[0];
    for (int i = 0; i < OUTSTANDING; i++) {
        d[i] = transaction(i % 2 ? GNI_POST_RDMA_GET : GNI_POST_RDMA_PUT, &n, &far, 4096);
        OK(GNI_PostRdma(n.ep, &d[i]));
        CHECK_EQ(GNI_RC_NOT_DONE, d[i].status);
    }
    kill(pid, SIGKILL);
    CHECK_EQ(SIGKILL, join(pid));
    killed_ms = now_ms();
    for (int i = 0; i < OUTSTANDING; i++) {
        CODE(GNI_RC_TRANSACTION_ERROR, next_event(n.cq, &entry));
        CHECK_EQ(11, GNI_CQ_GET_STATUS(entry));
        CODE(GNI_RC_TRANSACTION_ERROR, GNI_GetCompleted(n.cq, entry, &done));
        CHECK(done == &d[i]);
        CHECK_EQ(GNI_RC_TRANSACTION_ERROR, d[i].status);
    }
    CHECK(now_ms() - killed_ms < 5000);
    expect_empty(n.cq);
    node_close(&n);
}

static void outstanding_mapped_when_killed(void)
{
    is_mapped = 1;
    outstanding_when_killed();
}

static const struct check_case cases[] = {
    {"113", "peer_is_killed", peer_is_killed},
    {"113", "outstanding_when_killed", outstanding_when_killed},
    {"113", "outstanding_mapped_when_killed", outstanding_mapped_when_killed},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
