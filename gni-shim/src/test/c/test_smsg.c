/* Short messages (assertions 69, 93 to 106, 119). */
#define _GNU_SOURCE
#include "smsg.h"

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
    {"119", "reckoned_mailboxes", reckoned_mailboxes},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
