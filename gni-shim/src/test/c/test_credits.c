/* How the credits of short messages come back (assertion 120). */
#define _GNU_SOURCE
#include "smsg.h"

/* In the manner of a program that takes one message at each event, and answers it. `answers_first`:
 * releases it after that. */
static void serve(struct node *n, uint64_t exchanges, int begins, int answers_first)
{
    gni_cq_entry_t entry;
    void *message;
    uint64_t value;

    if (begins)
        send_one(n, 0);
    for (uint64_t i = 0; i < exchanges; i++) {
        OK(GNI_CqWaitEvent(n->dst, 60000, &entry));
        OK(GNI_SmsgGetNext(n->ep, &message));
        value = *(uint64_t *)message;
        CHECK_EQ(i, value);
        if (!answers_first)
            OK(GNI_SmsgRelease(n->ep));
        if (!begins || i + 1 < exchanges)
            send_one(n, begins ? i + 1 : i);
        if (answers_first)
            OK(GNI_SmsgRelease(n->ep));
    }
    expect_empty(n->dst);
}

static uint16_t few;
static uint64_t rounds;
static int is_answered_first;

static void answer(void)
{
    struct node n;

    open_end(&n, 2, few);
    serve(&n, rounds, 0, is_answered_first);
    __atomic_fetch_add((uint32_t *)&shared->flag[1], 1, __ATOMIC_RELEASE);
    await_flag(1, 2);
    expect_empty(n.dst);
    node_close(&n);
}

static void exchanges(uint16_t credits, uint64_t count, int answers_first)
{
    struct node n;
    pid_t pid;

    shared->flag[0] = shared->flag[1] = 0;
    few = credits;
    rounds = count;
    is_answered_first = answers_first;
    pid = start(answer);
    open_end(&n, 1, credits);
    serve(&n, count, 1, answers_first);
    __atomic_fetch_add((uint32_t *)&shared->flag[1], 1, __ATOMIC_RELEASE);
    await_flag(1, 2);
    expect_empty(n.dst);
    CHECK_EQ(0, join(pid));
    node_close(&n);
}

static void one_event_a_message(void)
{
    exchanges(2, 1000, 0);
    exchanges(1, 1000, 0);
    exchanges(2, 1000, 1);
    exchanges(9, 1000, 1);
}

/* In one process: the count is that of the assertion, the time that of calls. */
static void credits_with_messages(void)
{
    static const uint16_t credits[] = {1, 2, 8};
    gni_smsg_attr_t of_a, of_b;
    gni_cq_entry_t entry;

    for (int c = 0; c < 3; c++) {
        pair_open(&a, &b, 0, c != 1);
        of_a = mailbox(&a, credits[c], 64);
        of_b = mailbox(&b, credits[c], 64);
        OK(GNI_SmsgInit(a.ep, &of_a, &of_b));
        OK(GNI_SmsgInit(b.ep, &of_b, &of_a));
        for (uint64_t i = 0; i < (c == 1 ? 10000 : 100000); i++) {
            send_one(&a, i);
            OK(GNI_CqGetEvent(b.dst, &entry));
            take_one(&b, i);
            send_one(&b, i);
            OK(GNI_CqGetEvent(a.dst, &entry));
            take_one(&a, i);
        }
        expect_empty(a.dst);
        expect_empty(b.dst);
        node_close(&a);
        node_close(&b);
    }
}

/* They are in the message: neither side looks into, or writes to, the other's mailbox for them. */
static void credits_are_carried(void)
{
    uint64_t *words;

    connect_pair(1);
    words = (uint64_t *)(void *)(b.memory + 4096);
    for (uint64_t i = 0; i < 3 * CREDITS; i++) {
        send_one(&a, i);
        take_one(&b, i);
        send_one(&b, i);
        take_one(&a, i);
        words[64 / 8] = 0; /* what b has released is not to be found there */
    }
    CHECK_EQ(0, words[0]); /* and a has not written what it has */
}

#define STREAM 100000u

static void take_stream(void)
{
    struct node n;
    gni_cq_entry_t entry;
    void *message;
    uint64_t taken = 0;

    open_end(&n, 2, few);
    while (taken < STREAM) {
        gni_return_t code = GNI_CqWaitEvent(n.dst, 60000, &entry);

        CHECK(code == GNI_RC_SUCCESS || code == GNI_RC_ERROR_RESOURCE);
        for (; GNI_SmsgGetNext(n.ep, &message) == GNI_RC_SUCCESS; taken++) {
            CHECK_EQ(taken, *(uint64_t *)message);
            OK(GNI_SmsgRelease(n.ep));
        }
    }
    set_flag(1, 1);
    await_flag(2, 1);
    node_close(&n);
}

/* The sender does nothing but wait for its event when it has none left. */
static void credits_without_messages(void)
{
    pid_t pid;
    struct node n;
    gni_cq_entry_t entry;
    uint64_t events = 0;

    few = 4;
    pid = start(take_stream);
    open_end(&n, 1, few);
    for (uint64_t i = 0; i < STREAM; i++) {
        while (GNI_SmsgSend(n.ep, &i, 8, NULL, 0, 1) == GNI_RC_NOT_DONE) {
            OK(GNI_CqWaitEvent(n.dst, 60000, &entry));
            events++;
        }
        OK(GNI_CqGetEvent(n.cq, &entry));
    }
    await_flag(1, 1);
    printf("# %llu events for %u messages\n", (unsigned long long)events, STREAM);
    CHECK(events <= STREAM / (few / 2u));
    set_flag(2, 1);
    CHECK_EQ(0, join(pid));
    node_close(&n);
}

static const struct check_case cases[] = {
    {"120", "one_event_a_message", one_event_a_message},
    {"120", "credits_with_messages", credits_with_messages},
    {"120", "credits_are_carried", credits_are_carried},
    {"120", "credits_without_messages", credits_without_messages},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
