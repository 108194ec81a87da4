/*
 * Ranks of the run-time that come late, never, or leave early (assertion 99), and a wire with a
 * round trip of its own: what is sent waits, and no call does.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <time.h>

/* ---- 99 ---- */

static void serve(void)
{
    begin_program();
    memset(bytes, 0x77, 64);
    post(bytes, 64, PTL_MD_THRESH_INF, BOTH | PTL_MD_MANAGE_REMOTE, eq);
    CHECK_EQ(0x5a, next(PTL_EVENT_PUT_START).hdr_data);
    next(PTL_EVENT_PUT_END);
    next(PTL_EVENT_GET_START);
    next(PTL_EVENT_GET_END);
    CHECK_EQ(0, status(PTL_SR_DROP_COUNT));
}

/* Puts 1 byte and gets 8, at once; neither call may wait for the other rank. */
static void put_and_get(unsigned rank)
{
    ptl_handle_md_t put_md, get_md;
    uint64_t before = now_ms();

    own_bytes[0] = 0x5a;
    put_md = bind(own_bytes, 1, PTL_MD_THRESH_INF, PTL_RETAIN, eq);
    get_md = bind(own_bytes + 8, 8, PTL_MD_THRESH_INF, PTL_RETAIN, eq);
    OK(PtlPut(put_md, PTL_NO_ACK_REQ, rank_id(rank), PORTAL, 0, BITS, 0, 0x5a));
    OK(PtlGet(get_md, rank_id(rank), PORTAL, 0, BITS, 0));
    CHECK(now_ms() - before < 1000);
}

static void be_early(void)
{
    begin_program();
    put_and_get(1);
    set_flag(0, 1);
    CHECK_EQ(PTL_NI_OK, (next(PTL_EVENT_SEND_START), next(PTL_EVENT_SEND_END)).ni_fail_type);
    CHECK_EQ(PTL_NI_OK, (next(PTL_EVENT_REPLY_START), next(PTL_EVENT_REPLY_END)).ni_fail_type);
    CHECK_EQ(0x5a, own_bytes[8]);
    CHECK_EQ(0x77, own_bytes[9]);
}

static void late_rank(void)
{
    launch(0, be_early);
    await_flag(0, 1);
    sleep_ms(3000);
    launch(1, serve);
    join_all();
}

/* The interface is there, its entries are not yet. */
static void serve_late(void)
{
    int interfaces;

    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    set_flag(1, 1);
    await_flag(0, 1);
    sleep_ms(200);
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    OK(PtlEQAlloc(ni, 10, PTL_EQ_HANDLER_NONE, &eq));
    memset(bytes, 0x77, 64);
    post(bytes, 64, PTL_MD_THRESH_INF, BOTH | PTL_MD_MANAGE_REMOTE, eq);
    next(PTL_EVENT_PUT_START);
    next(PTL_EVENT_PUT_END);
    next(PTL_EVENT_GET_START);
    next(PTL_EVENT_GET_END);
    CHECK_EQ(0, status(PTL_SR_DROP_COUNT));
}

static void be_early_by_little(void)
{
    await_flag(1, 1);
    be_early();
}

static void late_entries(void)
{
    launch(0, be_early_by_little);
    launch(1, serve_late);
    join_all();
}

/* Nothing takes it: it is dropped and counted once, after the rank has been young. */
static void be_deaf(void)
{
    begin_program();
    set_flag(0, 1);
    await_flag(1, 1);
    CHECK_EQ(1, status(PTL_SR_DROP_COUNT));
}

static void put_to_the_deaf(void)
{
    begin_program();
    await_flag(0, 1);
    send_one(bind(own_bytes, 1, 1, PTL_RETAIN, eq), rank_id(1), 0);
    expect_sent();
    set_flag(1, 1);
}

static void drop_counts_once(void)
{
    launch(0, put_to_the_deaf);
    launch(1, be_deaf);
    join_all();
}

/* Long enough for the rank that does come, on a busy machine, too. */
#define RETRY_MS 4000

static void wait_for_nobody(void)
{
    uint64_t before = now_ms();
    ptl_event_t event;

    begin_program();
    put_and_get(3);
    next(PTL_EVENT_SEND_START);
    event = next(PTL_EVENT_SEND_END);
    CHECK(event.ni_fail_type != PTL_NI_OK);
    CHECK(now_ms() - before >= RETRY_MS);
    next(PTL_EVENT_REPLY_START);
    event = next(PTL_EVENT_REPLY_END);
    CHECK(event.ni_fail_type != PTL_NI_OK && event.mlength == 0);
    CHECK(now_ms() - before < 10 * RETRY_MS);
    /* Later operations work: to oneself, and to a rank that comes; the missing one is not waited
     * for again. */
    before = now_ms();
    put_and_get(3);
    next(PTL_EVENT_SEND_START);
    CHECK(next(PTL_EVENT_SEND_END).ni_fail_type != PTL_NI_OK);
    next(PTL_EVENT_REPLY_START);
    CHECK(next(PTL_EVENT_REPLY_END).ni_fail_type != PTL_NI_OK);
    CHECK(now_ms() - before < RETRY_MS);
    set_flag(0, 1);
    put_and_get(1);
    expect_sent();
    next(PTL_EVENT_REPLY_START);
    CHECK_EQ(PTL_NI_OK, next(PTL_EVENT_REPLY_END).ni_fail_type);
}

static void rank_never_comes(void)
{
    setenv("VERBENA_PORTALS_RETRY_MS", "4000", 1); /* RETRY_MS */
    launch(0, wait_for_nobody);
    await_flag(0, 1);
    launch(1, serve);
    join_all();
}

/* A getput and an unlink while the target is waited for. */
static void swap_early(void)
{
    ptl_handle_md_t put_md, get_md;

    begin_program();
    own_bytes[0] = 0x5a;
    put_md = bind(own_bytes, 8, 1, PTL_UNLINK, eq);
    get_md = bind(own_bytes + 8, 8, 1, PTL_UNLINK, eq);
    OK(PtlGetPut(get_md, put_md, rank_id(1), PORTAL, 0, BITS, 0, 0x5a));
    CHECK_EQ(PTL_MD_IN_USE, PtlMDUnlink(put_md));
    CHECK_EQ(PTL_MD_INVALID, PtlPut(put_md, PTL_NO_ACK_REQ, rank_id(1), PORTAL, 0, BITS, 0, 0));
    set_flag(0, 1);
    expect_sent();
    next(PTL_EVENT_UNLINK);
    next(PTL_EVENT_REPLY_START);
    next(PTL_EVENT_REPLY_END);
    next(PTL_EVENT_UNLINK);
    CHECK_EQ(0x77, own_bytes[8]);
    expect_sound();
}

static void be_swapped(void)
{
    begin_program();
    memset(bytes, 0x77, 8);
    post(bytes, 8, 1, BOTH, eq);
    next(PTL_EVENT_GETPUT_START);
    next(PTL_EVENT_GETPUT_END);
    next(PTL_EVENT_UNLINK);
    CHECK_EQ(0x5a, bytes[0]);
}

static void getput_to_a_late_rank(void)
{
    launch(0, swap_early);
    await_flag(0, 1);
    launch(1, be_swapped);
    join_all();
}

/* Closing while a rank is waited for does not wait for it. */
static void leave_early(void)
{
    uint64_t before;

    begin_program();
    put_and_get(1);
    before = now_ms();
    OK(PtlNIFini(ni));
    CHECK(now_ms() - before < 5000);
}

static void closing_waits_for_nobody(void)
{
    run_ranks(1, leave_early);
}

/* ---- the wire ---- */

#define WIRE_MS 40u

static void put_over_the_wire(void)
{
    ptl_handle_md_t md;
    uint64_t before;

    begin_program();
    await_flag(0, 1);
    md = bind(own_bytes, 8, PTL_MD_THRESH_INF, PTL_RETAIN, eq);
    before = now_ms();
    send_one(md, rank_id(1), 0);
    expect_sent();
    CHECK(now_ms() - before >= WIRE_MS - 1);
    for (uint64_t i = 1; i <= 8; i++)
        send_one(md, rank_id(1), i);
    for (uint64_t i = 1; i <= 8; i++)
        expect_sent();
    /* One after the other would be eight times as long. */
    CHECK(now_ms() - before < 7 * WIRE_MS);
    CHECK_EQ(0, status(PTL_SR_DROP_COUNT));
    /* What is on its way arrives although its sender ends. */
    send_one(md, rank_id(1), 9);
}

static void take_from_the_wire(void)
{
    begin_program();
    post_long();
    set_flag(0, 1);
    for (uint64_t i = 0; i <= 9; i++)
        expect_received(i);
}

static void wire_latency(void)
{
    number("VERBENA_PORTALS_WIRE_US", WIRE_MS * 1000);
    launch(0, put_over_the_wire);
    launch(1, take_from_the_wire);
    join_all();
}

/* A program that resets its descriptor's offset after each message: PtlMDUpdate finds the queue
 * empty because the next message needs a wire's time. */
#define MESSAGES 4
#define SLOW_WIRE_US 300000

static void send_when_acknowledged(void)
{
    ptl_handle_md_t md;

    begin_program();
    await_flag(0, 1);
    md = bind(own_bytes, 8, PTL_MD_THRESH_INF, PTL_RETAIN, eq);
    for (int i = 0; i < MESSAGES; i++) {
        OK(PtlPut(md, PTL_ACK_REQ, rank_id(1), PORTAL, 0, BITS, 0, 0));
        expect_sent();
        next(PTL_EVENT_ACK);
    }
}

static void update_after_each(void)
{
    ptl_md_t rules;
    ptl_handle_md_t md;

    begin_program();
    rules = make_md(bytes, 8, PTL_MD_THRESH_INF, PTL_MD_OP_PUT, eq);
    md = post_at(PORTAL, BITS, rules, PTL_RETAIN, NULL);
    set_flag(0, 1);
    for (int i = 0; i < MESSAGES; i++) {
        expect_received(0);
        OK(PtlMDUpdate(md, NULL, &rules, eq));
    }
}

static void updates_between_messages(void)
{
    number("VERBENA_PORTALS_WIRE_US", SLOW_WIRE_US);
    launch(0, send_when_acknowledged);
    launch(1, update_after_each);
    join_all();
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"99", "late_rank", late_rank},
        {"99", "late_entries", late_entries},
        {"99", "rank_never_comes", rank_never_comes},
        {"99", "getput_to_a_late_rank", getput_to_a_late_rank},
        {"", "drop_counts_once", drop_counts_once},
        {"", "closing_waits_for_nobody", closing_waits_for_nobody},
        {"", "wire_latency", wire_latency},
        {"", "updates_between_messages", updates_between_messages},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
