/* Short messages (assertions 69, 93 to 106, 119, 120), and peers that die (113). */
#define _GNU_SOURCE
#include "check.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define CREDITS 8
#define MAXSIZE 256

static struct node a, b;

static gni_smsg_attr_t mailbox(const struct node *n, uint16_t credits, uint32_t maxsize)
{
    gni_smsg_attr_t attr;

    memset(&attr, 0, sizeof(attr));
    attr.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
    attr.msg_buffer = n->memory;
    attr.buff_size = MEMORY_BYTES;
    attr.mem_hndl = n->handle;
    attr.mbox_offset = 4096;
    attr.mbox_maxcredit = credits;
    attr.msg_maxsize = maxsize;
    return attr;
}

static void connect_pair(int mapped)
{
    gni_smsg_attr_t of_a, of_b;

    pair_open(&a, &b, 0, mapped);
    of_a = mailbox(&a, CREDITS, MAXSIZE);
    of_b = mailbox(&b, CREDITS, MAXSIZE);
    OK(GNI_SmsgInit(a.ep, &of_a, &of_b));
    OK(GNI_SmsgInit(b.ep, &of_b, &of_a));
}

static void buffer_size(void)
{
    gni_smsg_attr_t attr;
    unsigned last = 0, size = 0;

    memset(&attr, 0, sizeof(attr));
    attr.msg_type = GNI_SMSG_TYPE_MBOX;
    attr.msg_maxsize = 100;
    for (attr.mbox_maxcredit = 1; attr.mbox_maxcredit < 200; attr.mbox_maxcredit++) {
        OK(GNI_SmsgBufferSizeNeeded(&attr, &size));
        CHECK(size >= last && size >= attr.mbox_maxcredit * 100u);
        last = size;
    }
    for (; attr.msg_maxsize < 5000; attr.msg_maxsize++) {
        OK(GNI_SmsgBufferSizeNeeded(&attr, &size));
        CHECK(size >= last);
        last = size;
    }
    attr.msg_type = GNI_SMSG_TYPE_INVALID;
    CODE(GNI_RC_INVALID_PARAM, GNI_SmsgBufferSizeNeeded(&attr, &size));
}

static void before_init(void)
{
    gni_smsg_attr_t attr;
    void *header;

    node_open(&a, 1, 0, 0);
    attr = mailbox(&a, CREDITS, MAXSIZE);
    CODE(GNI_RC_INVALID_STATE, GNI_SmsgInit(a.ep, &attr, &attr));
    OK(GNI_EpBind(a.ep, a.pe, 2));
    CODE(GNI_RC_INVALID_PARAM, GNI_SmsgSend(a.ep, &attr, 8, NULL, 0, 1));
    CODE(GNI_RC_INVALID_PARAM, GNI_SmsgGetNext(a.ep, &header));
    CODE(GNI_RC_INVALID_PARAM, GNI_SmsgRelease(a.ep));
    attr.mbox_offset = MEMORY_BYTES - 64; /* outside its registration */
    CODE(GNI_RC_INVALID_PARAM, GNI_SmsgInit(a.ep, &attr, &attr));
}

/* Fetches the send's event. */
static void sent(uint32_t msg_id)
{
    gni_post_descriptor_t *done = (gni_post_descriptor_t *)8;
    gni_cq_entry_t entry;

    OK(next_event(a.cq, &entry));
    CHECK_EQ(GNI_CQ_EVENT_TYPE_SMSG, GNI_CQ_GET_TYPE(entry));
    CHECK_EQ(msg_id, GNI_CQ_GET_MSG_ID(entry));
    CODE(GNI_RC_DESCRIPTOR_ERROR, GNI_GetCompleted(a.cq, entry, &done));
    CHECK(done == NULL);
}

static void all_splits(int mapped)
{
    uint8_t bytes[MAXSIZE];
    uint32_t id = 0;
    void *message;

    connect_pair(mapped);
    fill(bytes, sizeof(bytes), 4);
    for (uint32_t header = 0; header <= MAXSIZE; header += 7)
        for (uint32_t data = 0; header + data <= MAXSIZE; data += 11) {
            OK(GNI_SmsgSend(a.ep, bytes, header, bytes + header, data, ++id));
            sent(id);
            OK(GNI_SmsgGetNext(b.ep, &message));
            CHECK(((uintptr_t)message & 7) == 0);
            CHECK(memcmp(message, bytes, header + data) == 0);
            OK(GNI_SmsgRelease(b.ep));
        }
    CODE(GNI_RC_ERROR_RESOURCE, GNI_SmsgSend(a.ep, bytes, MAXSIZE, bytes, 1, 1));
    CODE(GNI_RC_NOT_DONE, GNI_SmsgGetNext(b.ep, &message));
}

static void splits_foreign(void)
{
    all_splits(0);
}

static void splits_mapped(void)
{
    all_splits(1);
}

static void credits(void)
{
    uint8_t bytes[MAXSIZE];
    void *message;
    gni_return_t code = GNI_RC_NOT_DONE;

    connect_pair(0);
    for (uint32_t i = 0; i < CREDITS; i++) {
        memset(bytes, (int)i + 1, sizeof(bytes));
        OK(GNI_SmsgSend(a.ep, bytes, MAXSIZE, NULL, 0, i));
        sent(i);
    }
    memset(bytes, 0x77, sizeof(bytes));
    for (int i = 0; i < 3; i++)
        CODE(GNI_RC_NOT_DONE, GNI_SmsgSend(a.ep, bytes, MAXSIZE, NULL, 0, 99));
    expect_empty(a.cq);
    for (uint32_t i = 0; i < CREDITS; i++) {
        OK(GNI_SmsgGetNext(b.ep, &message));
        CHECK_EQ(i + 1, *(uint8_t *)message);
        OK(GNI_SmsgRelease(b.ep));
        if (i == 0) { /* one release is enough for one more */
            code = GNI_SmsgSend(a.ep, bytes, MAXSIZE, NULL, 0, 100);
            for (int k = 0; k < 100 && code == GNI_RC_NOT_DONE; k++) {
                expect_empty(a.cq);
                code = GNI_SmsgSend(a.ep, bytes, MAXSIZE, NULL, 0, 100);
            }
            OK(code);
            sent(100);
            CODE(GNI_RC_NOT_DONE, GNI_SmsgSend(a.ep, bytes, MAXSIZE, NULL, 0, 99));
        }
    }
    OK(GNI_SmsgGetNext(b.ep, &message));
    CHECK_EQ(0x77, *(uint8_t *)message);
    OK(GNI_SmsgRelease(b.ep));
    CODE(GNI_RC_NOT_DONE, GNI_SmsgGetNext(b.ep, &message));
}

static void arrival_events(void)
{
    gni_cq_entry_t entry;
    void *message;

    connect_pair(0);
    OK(GNI_EpSetEventData(a.ep, 5, 4321));
    for (uint32_t i = 0; i < 4; i++) {
        OK(GNI_SmsgSend(a.ep, &i, 4, NULL, 0, i));
        sent(i);
        OK(next_event(b.dst, &entry));
        CHECK_EQ(4321, GNI_CQ_GET_INST_ID(entry));
        OK(GNI_SmsgGetNext(b.ep, &message));
        CODE(GNI_RC_SUCCESS, GNI_SmsgGetNext(b.ep, &message)); /* the same one */
        CHECK_EQ(i, *(uint32_t *)message);
        OK(GNI_SmsgRelease(b.ep));
        CODE(GNI_RC_NOT_DONE, GNI_SmsgGetNext(b.ep, &message));
    }
    expect_empty(a.dst); /* credits came back to one who had some left */
}

static void tags(void)
{
    uint8_t tag = 5;
    void *message;

    connect_pair(0);
    CODE(GNI_RC_NOT_DONE, GNI_SmsgRelease(b.ep));
    OK(GNI_SmsgSendWTag(a.ep, "tagged", 7, NULL, 0, 1, 9));
    CODE(GNI_RC_NO_MATCH, GNI_SmsgGetNextWTag(b.ep, &message, &tag));
    CODE(GNI_RC_NOT_DONE, GNI_SmsgRelease(b.ep));
    tag = GNI_SMSG_ANY_TAG;
    OK(GNI_SmsgGetNextWTag(b.ep, &message, &tag));
    CHECK_EQ(9, tag);
    CHECK(strcmp(message, "tagged") == 0);
    OK(GNI_SmsgRelease(b.ep));
    CODE(GNI_RC_NOT_DONE, GNI_SmsgRelease(b.ep));
}

static void early_message(void)
{
    gni_smsg_attr_t of_a, of_b;
    gni_cq_entry_t entry;
    void *message;

    pair_open(&a, &b, 0, 0);
    of_a = mailbox(&a, CREDITS, MAXSIZE);
    of_b = mailbox(&b, CREDITS, MAXSIZE);
    OK(GNI_SmsgInit(a.ep, &of_a, &of_b));
    OK(GNI_SmsgSend(a.ep, "early", 6, NULL, 0, 1));
    OK(next_event(b.dst, &entry));
    OK(GNI_SmsgInit(b.ep, &of_b, &of_a));
    CODE(GNI_RC_INVALID_STATE, GNI_SmsgInit(b.ep, &of_b, &of_a));
    OK(GNI_SmsgGetNext(b.ep, &message));
    CHECK(strcmp(message, "early") == 0);
}

static void after_overrun(void)
{
    gni_cq_entry_t entry;
    uint32_t got = 0, overruns = 0;
    void *message;

    setenv("GNI_SHIM_CQ_EXACT", "1", 1);
    pair_open(&a, &b, 0, 0);
    gni_smsg_attr_t of_a = mailbox(&a, 100, 16), of_b = mailbox(&b, 100, 16);
    OK(GNI_SmsgInit(a.ep, &of_a, &of_b));
    OK(GNI_SmsgInit(b.ep, &of_b, &of_a));
    for (uint32_t i = 0; i < 100; i++) {
        OK(GNI_SmsgSend(a.ep, &i, 4, NULL, 0, i));
        sent(i);
    }
    for (gni_return_t code = GNI_RC_SUCCESS; code != GNI_RC_NOT_DONE;) {
        code = GNI_CqGetEvent(b.dst, &entry);
        overruns += code == GNI_RC_ERROR_RESOURCE;
    }
    CHECK_EQ(1, overruns);
    for (; GNI_SmsgGetNext(b.ep, &message) == GNI_RC_SUCCESS; got++) {
        CHECK_EQ(got, *(uint32_t *)message);
        OK(GNI_SmsgRelease(b.ep));
    }
    CHECK_EQ(100, got);
}

static void message_stays(void)
{
    uint8_t bytes[MAXSIZE];
    void *message, *again;

    connect_pair(0);
    fill(bytes, MAXSIZE, 1);
    OK(GNI_SmsgSend(a.ep, bytes, MAXSIZE, NULL, 0, 1));
    OK(GNI_SmsgGetNext(b.ep, &message));
    for (uint32_t i = 0; i < 20; i++) {
        fill(bytes, MAXSIZE, 2 + i);
        GNI_SmsgSend(a.ep, bytes, MAXSIZE, NULL, 0, 1);
        CHECK(is_filled(message, MAXSIZE, 1));
        OK(GNI_SmsgGetNext(b.ep, &again));
        CHECK(message == again);
    }
}

#define MESSAGES 1000000u
#define PINGS 3000u

static void send_one(struct node *n, uint64_t value)
{
    gni_cq_entry_t entry;

    OK(GNI_SmsgSend(n->ep, &value, 8, NULL, 0, (uint32_t)value));
    OK(GNI_CqGetEvent(n->cq, &entry));
}

static void take_one(struct node *n, uint64_t value)
{
    void *message;

    OK(GNI_SmsgGetNext(n->ep, &message));
    CHECK(*(uint64_t *)message == value);
    OK(GNI_SmsgRelease(n->ep));
}

/* In one process, so that a million turns are a matter of calls, not of the scheduler. */
static void million(void)
{
    gni_smsg_attr_t of_a, of_b;
    void *message;

    pair_open(&a, &b, 0, 1);
    of_a = mailbox(&a, 2, 64);
    of_b = mailbox(&b, 2, 64);
    OK(GNI_SmsgInit(a.ep, &of_a, &of_b));
    OK(GNI_SmsgInit(b.ep, &of_b, &of_a));
    for (uint64_t i = 0; i < MESSAGES / 2; i++) {
        send_one(&a, i);
        take_one(&b, i);
        send_one(&b, i);
        take_one(&a, i);
    }
    CODE(GNI_RC_NOT_DONE, GNI_SmsgGetNext(a.ep, &message));
    CODE(GNI_RC_NOT_DONE, GNI_SmsgGetNext(b.ep, &message));
}

/* ---- two processes ---- */

static void open_end(struct node *n, uint32_t inst, uint16_t credits)
{
    node_open(n, inst, 0, 1);
    OK(GNI_EpBind(n->ep, n->pe, 3 - inst));
    shared->attr[inst] = mailbox(n, credits, 64);
    __atomic_fetch_add((uint32_t *)&shared->flag[0], 1, __ATOMIC_RELEASE);
    await_flag(0, 2);
    OK(GNI_SmsgInit(n->ep, &shared->attr[inst], &shared->attr[3 - inst]));
}

static void receive_one(struct node *n, uint64_t value)
{
    gni_cq_entry_t entry;
    void *message;

    while (GNI_SmsgGetNext(n->ep, &message) == GNI_RC_NOT_DONE)
        GNI_CqWaitEvent(n->dst, 20, &entry);
    take_one(n, value);
}

static void pong(void)
{
    struct node n;

    open_end(&n, 2, 2);
    for (uint64_t i = 0; i < PINGS; i++) {
        receive_one(&n, i);
        send_one(&n, i);
    }
    await_flag(1, 1);
    node_close(&n);
}

static void ping_pong(void)
{
    struct node n;
    pid_t pid = start(pong);

    open_end(&n, 1, 2);
    for (uint64_t i = 0; i < PINGS; i++) {
        send_one(&n, i);
        receive_one(&n, i);
    }
    set_flag(1, 1);
    CHECK_EQ(0, join(pid));
    node_close(&n);
}

/* ---- how credits come back ---- */

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

/* ---- mailboxes as programs reckon that do not ask for their size ---- */

/* So many messages fit, the longest of which has so many bytes. */
static void small_mailboxes(uint16_t credits, uint32_t maxsize, unsigned expected, uint32_t longest)
{
    uint32_t size = credits * maxsize, offset;
    gni_smsg_attr_t of_a, of_b;
    uint8_t *bytes = malloc(maxsize);
    gni_cq_entry_t entry;
    unsigned fit = 0;
    void *message;

    CHECK(bytes != NULL);
    pair_open(&a, &b, 0, maxsize & 1);
    offset = 4096 + size; /* a neighbour lies on each side */
    of_a = mailbox(&a, credits, maxsize);
    of_b = mailbox(&b, credits, maxsize);
    of_a.mbox_offset = offset;
    of_b.mbox_offset = 7 * size;
    of_a.buff_size = of_b.buff_size = size;
    OK(GNI_SmsgInit(a.ep, &of_a, &of_b));
    OK(GNI_SmsgInit(b.ep, &of_b, &of_a));
    fill(bytes, longest, 3);
    CODE(GNI_RC_ERROR_RESOURCE, GNI_SmsgSend(a.ep, bytes, longest - 1, bytes, 2, 1));
    CHECK(strstr(GNI_ExtError(), "messages of at most") != NULL);
    for (;; fit++) {
        gni_return_t code = GNI_SmsgSend(a.ep, bytes, longest, NULL, 0, 1);

        if (code == GNI_RC_NOT_DONE)
            break;
        OK(code);
        OK(GNI_CqGetEvent(a.cq, &entry));
    }
    CHECK_EQ(expected, fit);
    for (uint32_t i = 0; i < 5u * credits; i++) {
        OK(GNI_SmsgGetNext(b.ep, &message));
        CHECK(is_filled(message, longest, 3));
        OK(GNI_SmsgRelease(b.ep));
        OK(GNI_SmsgSend(b.ep, bytes, 8, bytes + 8, longest - 8, 1));
        OK(GNI_SmsgGetNext(a.ep, &message));
        CHECK(is_filled(message, longest, 3));
        OK(GNI_SmsgRelease(a.ep));
        OK(GNI_SmsgSend(a.ep, bytes, longest, NULL, 0, 1));
        OK(GNI_CqGetEvent(a.cq, &entry));
        OK(GNI_CqGetEvent(b.cq, &entry));
    }
    CHECK(is_zero(a.memory, offset) && is_zero(b.memory, 7u * size));
    CHECK(is_zero(a.memory + offset + size, 65536) && is_zero(b.memory + 8u * size, 65536));
    node_close(&a);
    node_close(&b);
    free(bytes);
}

/* What fits beside 24 bytes for the mailbox and 16 for each message; of one that is longer than the
 * mailbox, what is left. */
static void reckoned_mailboxes(void)
{
    gni_smsg_attr_t attr;

    small_mailboxes(2, 40, 1, 40);
    small_mailboxes(4, 64, 2, 64);
    small_mailboxes(5, 77, 3, 77); /* at an address of any kind */
    small_mailboxes(16, 256, 14, 256);
    small_mailboxes(128, 1024, 126, 1024);
    small_mailboxes(1, 64, 1, 24);
    small_mailboxes(1, 65528, 1, 65488);
    node_open(&a, 1, 0, 0);
    OK(GNI_EpBind(a.ep, a.pe, 2));
    attr = mailbox(&a, 1, 64);
    attr.buff_size = 40; /* nothing is left for a byte */
    CODE(GNI_RC_INVALID_PARAM, GNI_SmsgInit(a.ep, &attr, &attr));
    CHECK(strstr(GNI_ExtError(), "too small for any message") != NULL);
    attr.buff_size = 48;
    OK(GNI_SmsgInit(a.ep, &attr, &attr));
}

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
    {"93", "buffer_size", buffer_size},
    {"94", "before_init", before_init},
    {"69,95,96,99", "splits_foreign", splits_foreign},
    {"69,95,96,99", "splits_mapped", splits_mapped},
    {"97,98", "credits", credits},
    {"100", "arrival_events", arrival_events},
    {"101,102", "tags", tags},
    {"103", "early_message", early_message},
    {"104", "million", million},
    {"104", "ping_pong", ping_pong},
    {"105", "after_overrun", after_overrun},
    {"106", "message_stays", message_stays},
    {"113", "peer_is_killed", peer_is_killed},
    {"119", "reckoned_mailboxes", reckoned_mailboxes},
    {"120", "one_event_a_message", one_event_a_message},
    {"120", "credits_with_messages", credits_with_messages},
    {"120", "credits_are_carried", credits_are_carried},
    {"120", "credits_without_messages", credits_without_messages},
    {"113", "outstanding_when_killed", outstanding_when_killed},
    {"113", "outstanding_mapped_when_killed", outstanding_mapped_when_killed},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
