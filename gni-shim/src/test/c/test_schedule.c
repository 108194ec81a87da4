/* Small stories in every order of their labelled steps: a put against the end of a registration, a
 * message against the release of one, events against their fetching, atomics against atomics. */
#include "schedule.h"
#include "mailbox.h"

#define CREDITS 2

static gni_mem_handle_t second;
static uint8_t kept[64];
static gni_post_descriptor_t descriptor[3];

/* ---- a put, and the end of the registration that it is for ---- */

static void register_second(void)
{
    OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)b.memory, 4096, b.dst, 0, (uint32_t)-1,
                       &second));
    memset(b.memory, 0, 64);
    memset(a.memory, 7, 64);
}

static void put_into_second(void)
{
    gni_cq_entry_t entry;
    gni_post_descriptor_t *done;

    descriptor[0] = transaction(GNI_POST_FMA_PUT, &a, &b, 64);
    descriptor[0].remote_mem_hndl = second;
    descriptor[0].cq_mode |= GNI_CQMODE_REMOTE_EVENT;
    OK(GNI_PostFma(a.ep, &descriptor[0]));
    outcome[0] = GNI_CqGetEvent(a.cq, &entry);
    CODE(outcome[0], GNI_GetCompleted(a.cq, entry, &done));
}

static void deregister_second(void)
{
    OK(GNI_MemDeregister(b.nic, &second));
    memcpy(kept, b.memory, sizeof(kept)); /* from here on nobody writes there */
}

static void judge_put(void)
{
    gni_cq_entry_t entry;
    int events = 0;

    while (GNI_CqGetEvent(b.dst, &entry) == GNI_RC_SUCCESS)
        events++;
    JUDGE(memcmp(kept, b.memory, sizeof(kept)) == 0);
    JUDGE(outcome[0] == GNI_RC_SUCCESS || outcome[0] == GNI_RC_TRANSACTION_ERROR);
    JUDGE(events == (outcome[0] == GNI_RC_SUCCESS));
    JUDGE(outcome[0] == GNI_RC_SUCCESS ? kept[0] == 7 && kept[63] == 7 : is_zero(kept, 64));
    expect_sound(&a);
    expect_sound(&b);
}

static void put_and_deregister(int mapped)
{
    const struct story s = {register_second, {put_into_second, deregister_second}, 2, judge_put, 1};

    pair_open(&a, &b, 0, mapped);
    explore(&s);
}

static void put_and_deregister_mapped(void)
{
    put_and_deregister(1);
}

static void put_and_deregister_foreign(void)
{
    put_and_deregister(0);
}

/* ---- messages, and the credits that come back ---- */

static uint64_t sent, received;

static void drain(const struct node *n)
{
    gni_cq_entry_t entry;

    while (GNI_CqGetEvent(n->cq, &entry) != GNI_RC_NOT_DONE)
        ;
    while (GNI_CqGetEvent(n->dst, &entry) != GNI_RC_NOT_DONE)
        ;
}

static void connect_again(void)
{
    gni_smsg_attr_t near = mailbox_at(&a, GNI_SMSG_TYPE_MBOX, 0, CREDITS, 64);
    gni_smsg_attr_t far = mailbox_at(&b, GNI_SMSG_TYPE_MBOX, 0, CREDITS, 64);

    drain(&a);
    drain(&b);
    OK(GNI_EpUnbind(a.ep));
    OK(GNI_EpUnbind(b.ep));
    memset(a.memory, 0, 1024);
    memset(b.memory, 0, 1024);
    OK(GNI_EpBind(a.ep, b.pe, b.inst));
    OK(GNI_EpBind(b.ep, a.pe, a.inst));
    OK(GNI_SmsgInit(a.ep, &near, &far));
    OK(GNI_SmsgInit(b.ep, &far, &near));
    sent = received = 0;
}

static void send_one(void)
{
    uint8_t text[64];
    gni_return_t code;

    memset(text, (int)(sent + 1), sizeof(text));
    code = GNI_SmsgSend(a.ep, text, sizeof(text), NULL, 0, 1);
    if (code == GNI_RC_SUCCESS)
        sent++;
    else
        CODE(GNI_RC_NOT_DONE, code);
}

static void send_some(void)
{
    for (int i = 0; i < CREDITS + 2; i++)
        send_one();
}

static void receive_one(void)
{
    void *message;

    if (GNI_SmsgGetNext(b.ep, &message) != GNI_RC_SUCCESS)
        return;
    received++;
    for (int i = 0; i < 64; i++)
        JUDGE(((uint8_t *)message)[i] == received);
    OK(GNI_SmsgRelease(b.ep));
}

static void receive_some(void)
{
    for (int i = 0; i < CREDITS + 1; i++)
        receive_one();
}

/* Everything that was sent arrives, and no credit was lost or made. */
static void judge_messages(void)
{
    JUDGE(received <= sent && sent - received <= CREDITS);
    expect_sound(&a);
    expect_sound(&b);
    for (int i = 0; i < CREDITS; i++)
        receive_one();
    JUDGE(received == sent);
    for (int i = 0; i < CREDITS + 1; i++)
        send_one();
    JUDGE(sent == received + CREDITS);
    for (int i = 0; i < CREDITS; i++)
        receive_one();
    JUDGE(received == sent);
}

static gni_return_t last_send;

static void connect_and_fill(void)
{
    connect_again();
    for (int i = 0; i < CREDITS; i++)
        send_one();
}

static void send_one_more(void)
{
    uint8_t text[64];

    memset(text, (int)(sent + 1), sizeof(text));
    last_send = GNI_SmsgSend(a.ep, text, sizeof(text), NULL, 0, 1);
    sent += last_send == GNI_RC_SUCCESS;
}

static void take_all(void)
{
    for (int i = 0; i < CREDITS; i++)
        receive_one();
}

/* Who could not send has an event to wait for. */
static void judge_stalled(void)
{
    gni_cq_entry_t entry;

    JUDGE(last_send == GNI_RC_SUCCESS || GNI_CqGetEvent(a.dst, &entry) == GNI_RC_SUCCESS);
    judge_messages();
}

static void stalled_sender(int mapped)
{
    const struct story s = {connect_and_fill, {send_one_more, take_all}, 2, judge_stalled, 3};

    pair_open(&a, &b, 0, mapped);
    explore(&s);
}

static void stalled_sender_mapped(void)
{
    stalled_sender(1);
}

static void stalled_sender_foreign(void)
{
    stalled_sender(0);
}

static void messages(int mapped)
{
    const struct story s = {connect_again, {send_some, receive_some}, 2, judge_messages, 3};

    pair_open(&a, &b, 0, mapped);
    explore(&s);
}

static void messages_mapped(void)
{
    messages(1);
}

static void messages_foreign(void)
{
    messages(0);
}

/* ---- events, and their fetching: a ring of four ---- */

static uint64_t fetched[32];
static int fetches, overruns;

static void fetch(int most)
{
    for (int i = 0; i < most; i++) {
        gni_cq_entry_t entry;
        gni_return_t code = GNI_CqGetEvent(b.dst, &entry);

        if (code == GNI_RC_ERROR_RESOURCE)
            overruns++;
        else if (code == GNI_RC_SUCCESS)
            fetched[fetches++] = gni_cq_get_data(entry);
        else
            return;
    }
}

static void write_word(struct node *from, uint64_t value)
{
    gni_post_descriptor_t d = transaction(GNI_POST_CQWRITE, from, &b, 0);

    d.cq_mode = GNI_CQMODE_SILENT;
    d.cqwrite_value = value;
    OK(GNI_PostCqWrite(from->ep, &d));
}

static void begin_nearly_full(void)
{
    fetches = overruns = 0;
    fetch(8);
    fetches = overruns = 0;
    write_word(&a, 1);
    write_word(&a, 2);
}

static void write_three(void)
{
    for (uint64_t i = 3; i < 6; i++)
        write_word(&a, i);
}

static void write_three_more(void)
{
    for (uint64_t i = 103; i < 106; i++)
        write_word(&c, i);
}

static void fetch_some(void)
{
    fetch(4);
}

/* Of each writer in its order, none twice, and what is missing was told. */
static void judge_events(int written)
{
    uint64_t last[2] = {0, 100};

    expect_sound(&b);
    fetch(16);
    for (int i = 0; i < fetches; i++) {
        int who = fetched[i] > 100;

        JUDGE(fetched[i] > last[who]);
        last[who] = fetched[i];
    }
    JUDGE(fetches >= 4 && fetches <= written);
    JUDGE(overruns == 0 ? fetches == written : fetches < written);
    expect_sound(&b);
}

static void judge_one_writer(void)
{
    judge_events(5);
}

static void judge_two_writers(void)
{
    judge_events(8);
}

static void open_small_queue(int mapped)
{
    setenv("GNI_SHIM_CQ_EXACT", "1", 1);
    pair_open(&a, &b, 0, mapped);
    OK(GNI_MemDeregister(b.nic, &b.handle));
    OK(GNI_CqDestroy(b.dst));
    OK(GNI_CqCreate(b.nic, 4, 0, GNI_CQ_NOBLOCK, NULL, NULL, &b.dst));
    OK(GNI_MemRegister(b.nic, (uint64_t)(uintptr_t)b.memory, MEMORY_BYTES, b.dst, 0, (uint32_t)-1,
                       &b.handle));
}

static void events_and_fetching(void)
{
    const struct story s = {begin_nearly_full, {write_three, fetch_some}, 2, judge_one_writer, 1};

    open_small_queue(1);
    explore(&s);
}

static void two_writers_and_fetching(void)
{
    const struct story s = {
        begin_nearly_full, {write_three, write_three_more, fetch_some}, 3, judge_two_writers, 4};

    open_small_queue(0);
    node_open(&c, 3, 0, 0);
    OK(GNI_EpBind(c.ep, b.pe, b.inst));
    write_word(&c, 50); /* attaching takes steps only once */
    explore(&s);
}

/* ---- atomics ---- */

static void add(int which)
{
    descriptor[which] = transaction(GNI_POST_AMO, nodes[which], &b, 8);
    descriptor[which].amo_cmd = GNI_FMA_ATOMIC_ADD;
    descriptor[which].first_operand = which == 0 ? 1 : 16;
    outcome[which] = post_and_wait(nodes[which], &descriptor[which]);
}

static void add_one(void)
{
    add(0);
    add(0);
}

static void add_sixteen(void)
{
    add(2);
    add(2);
}

static void begin_at_zero(void)
{
    memset(b.memory, 0, 8);
}

static void judge_sum(void)
{
    JUDGE(outcome[0] == GNI_RC_SUCCESS && outcome[2] == GNI_RC_SUCCESS);
    JUDGE(*(uint64_t *)(void *)b.memory == 34);
}

static void atomics(int mapped)
{
    const struct story s = {begin_at_zero, {add_one, add_sixteen}, 2, judge_sum, 1};

    pair_open(&a, &b, 0, mapped);
    node_open(&c, 3, 0, 0);
    OK(GNI_EpBind(c.ep, b.pe, b.inst));
    add_one();
    add_sixteen();
    explore(&s);
}

static void atomics_mapped(void)
{
    atomics(1);
}

static void atomics_foreign(void)
{
    atomics(0);
}

static const struct check_case cases[] = {
    {"", "put_and_deregister_mapped", put_and_deregister_mapped},
    {"", "put_and_deregister_foreign", put_and_deregister_foreign},
    {"", "messages_mapped", messages_mapped},
    {"", "messages_foreign", messages_foreign},
    {"120", "stalled_sender_mapped", stalled_sender_mapped},
    {"120", "stalled_sender_foreign", stalled_sender_foreign},
    {"", "events_and_fetching", events_and_fetching},
    {"", "two_writers_and_fetching", two_writers_and_fetching},
    {"", "atomics_mapped", atomics_mapped},
    {"", "atomics_foreign", atomics_foreign},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
