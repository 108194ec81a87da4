/* PtlMDUpdate (assertions 70 to 75). */
#include "deliver.h"

static void update_needs_an_empty_queue(void)
{
    ptl_handle_md_t md;
    ptl_md_t update, old = {0};

    begin();
    md = post(bytes, 64, 10, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    puts_of(1, 4);
    update = make_md(bytes, 64, 5, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    CHECK_EQ(PTL_MD_NO_UPDATE, PtlMDUpdate(md, &old, &update, eq));
    CHECK_EQ(9, old.threshold);
    CHECK_EQ(64, old.length);
    puts_of(1, 4);
    CHECK_EQ(0, take(eq, PTL_EVENT_PUT_END).offset);
    CHECK_EQ(4, take(eq, PTL_EVENT_PUT_END).offset);
    OK(PtlMDUpdate(md, NULL, &update, eq));
    puts_of(1, 4);
    CHECK_EQ(0, take(eq, PTL_EVENT_PUT_END).offset);
    OK(PtlMDUpdate(md, &old, NULL, PTL_EQ_NONE));
    CHECK_EQ(4, old.threshold);
}

static void update_without_a_queue(void)
{
    ptl_handle_md_t md;
    ptl_md_t update;

    begin();
    md = post(bytes, 64, -1, PTL_MD_OP_PUT, eq);
    puts_of(1, 4);
    update = make_md(bytes, 32, -1, PTL_MD_OP_PUT, PTL_EQ_NONE);
    OK(PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
    puts_of(1, 4);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    expect_empty(eq);
}

static void bad_updates(void)
{
    ptl_handle_md_t md;
    ptl_md_t update;

    begin();
    md = post(bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    update = make_md(NULL, 64, -1, PTL_MD_OP_PUT, eq);
    CHECK_EQ(PTL_MD_ILLEGAL, PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
    update = make_md(bytes, 64, -1, PTL_MD_OP_PUT, 0x00330001);
    CHECK_EQ(PTL_EQ_INVALID, PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
    update = make_md(bytes, 64, -1, PTL_MD_OP_PUT, eq);
    CHECK_EQ(PTL_EQ_INVALID, PtlMDUpdate(md, NULL, &update, 0x00330001));
    puts_of(1, 4);
    take(eq, PTL_EVENT_PUT_END);
    OK(PtlMDUnlink(md));
    CHECK_EQ(PTL_MD_INVALID, PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
}

static void i_until_told(void)
{
    ptl_handle_md_t md = bind(own_bytes, 4096, -1, PTL_RETAIN, PTL_EQ_NONE);

    for (uint64_t i = 1; shared->flag[0] == 0; i++) {
        memset(own_bytes, (int)(i % 255) + 1, 4096);
        OK(put_to(md, PTL_NO_ACK_REQ, BITS, 0, i));
    }
}

static void update_is_never_half(void)
{
    ptl_handle_md_t md;
    ptl_md_t update[2];
    ptl_event_t event;
    int updates = 0, at = 0;
    pid_t pid;

    begin();
    for (int i = 0; i < 2; i++)
        update[i] = make_md(bytes + i * 65536, 8192, -1,
                            PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE | PTL_MD_MANAGE_REMOTE, eq);
    OK(PtlEQFree(eq));
    eq = new_eq(8192);
    update[0].eq_handle = update[1].eq_handle = eq;
    md = post_at(PORTAL, BITS, update[0], PTL_RETAIN, NULL);
    pid = initiator_start(i_until_told);
    while (updates < 200) {
        int code = PtlEQGet(eq, &event);

        /* Some may be lost while this process waits for a processor. */
        if (code == PTL_OK || code == PTL_EQ_DROPPED) {
            CHECK_EQ((uintptr_t)update[at].start, (uintptr_t)event.md.start);
            CHECK_EQ(4096, event.mlength);
            continue;
        }
        CHECK_EQ(PTL_EQ_EMPTY, code);
        code = PtlMDUpdate(md, NULL, &update[1 - at], eq);
        CHECK(code == PTL_OK || code == PTL_MD_NO_UPDATE);
        if (code == PTL_OK) {
            /* From here on everything lands in the other region. */
            at = 1 - at;
            updates++;
        }
    }
    set_flag(0, 1);
    CHECK_EQ(0, initiator_join(pid));
    expect_sound();
}

#ifndef PORTALS_STANDARD
extern _Thread_local void (*snic_step_hook)(const char *label);

static ptl_handle_md_t quiet;
static ptl_handle_eq_t late;

static void give_a_queue(const char *label)
{
    ptl_md_t md = make_md(own_bytes, 64, -1, 0, late);

    if (strcmp(label, "ptl.put.copied") == 0)
        OK(PtlMDUpdate(quiet, NULL, &md, PTL_EQ_NONE));
}

static void i_put_and_get_a_queue(void)
{
    uint32_t seen;

    late = new_eq(4);
    quiet = bind(own_bytes, 64, -1, PTL_RETAIN, PTL_EQ_NONE);
    OK(PtlExtDoorbell(ni, &seen));
    snic_step_hook = give_a_queue;
    OK(put(quiet, PTL_ACK_REQ));
    snic_step_hook = NULL;
    OK(PtlExtWait(ni, seen, 300000000));
    CHECK_EQ(64, take(late, PTL_EVENT_ACK).mlength);
    expect_empty(late);
}

/* The acknowledgement is an event of the descriptor as it is when it arrives. */
static void queue_given_under_way_gets_the_ack(void)
{
    begin();
    post(bytes, 64, -1, PTL_MD_OP_PUT, eq);
    initiator_run(i_put_and_get_a_queue);
    expect_sound();
}
#endif

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"70,72", "update_needs_an_empty_queue", update_needs_an_empty_queue},
        {"71", "update_without_a_queue", update_without_a_queue},
        {"73", "update_is_never_half", update_is_never_half},
        {"74,75", "bad_updates", bad_updates},
#ifndef PORTALS_STANDARD
        {"", "queue_given_under_way_gets_the_ack", queue_given_under_way_gets_the_ack},
#endif
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
