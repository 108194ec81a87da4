/*
 * Programs of the reference implementation's run-time (assertions 96 to 99): processes that a
 * launcher starts with PTL_MY_RID, PTL_NIDMAP and PTL_PIDMAP, that never call PtlSetRank, take
 * their pid from the map, count on a wire's round trip and use queues of ten.
 */
#define _GNU_SOURCE
#include "deliver.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "p3rt/p3rt.h"

#define SIZE 4
#define FIRST_PID 20100u
#define NID 2130706433u /* such maps hold addresses of nodes */

/* ---- the launcher ---- */

static unsigned my_rank;

static void number(const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    CHECK_EQ(0, setenv(name, text, 1));
}

static void launch(unsigned rank, void (*program)(void))
{
    char nids[SIZE * 12] = "", pids[SIZE * 8] = "";
    pid_t pid = fork();

    CHECK(pid >= 0);
    if (pid != 0)
        return;
    alarm(CHECK_CASE_SECONDS);
    for (unsigned i = 0; i < SIZE; i++) {
        snprintf(nids + strlen(nids), 12, "%s%u", i ? ":" : "", NID);
        snprintf(pids + strlen(pids), 8, "%s%u", i ? ":" : "", FIRST_PID + i);
    }
    number("PTL_MY_RID", rank);
    setenv("PTL_NIDMAP", nids, 1);
    setenv("PTL_PIDMAP", pids, 1);
    my_rank = rank;
    program();
    PtlFini();
    _exit(0);
}

/* All that were launched. The first that fails ends the case: others may wait for it. */
static void join_all(void)
{
    int state;

    while (wait(&state) > 0)
        CHECK_EQ(0, check_ended("a rank", state));
}

static void run_ranks(unsigned count, void (*program)(void))
{
    for (unsigned i = 0; i < count; i++)
        launch(i, program);
    join_all();
}

/* ---- what every program does ---- */

static void sleep_ms(unsigned ms)
{
    usleep(ms * 1000);
}

static ptl_process_id_t rank_id(unsigned rank)
{
    ptl_process_id_t id;

    OK(PtlGetRankId(PTL_INVALID_HANDLE, rank, &id));
    return id;
}

static void begin_program(void)
{
    int interfaces;

    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    OK(PtlEQAlloc(ni, 10, PTL_EQ_HANDLER_NONE, &eq));
}

/* The next event, at once or later; a lost one is a failure. */
static ptl_event_t next(ptl_event_kind_t kind)
{
    ptl_event_t event;
    int code;

    while ((code = PtlEQGet(eq, &event)) == PTL_EQ_EMPTY)
        sched_yield();
    OK(code);
    if (event.type != kind)
        check_fail(__FILE__, __LINE__, "rank %u: expected %s, got %s", my_rank,
                   PtlEventKindStr(kind), PtlEventKindStr(event.type));
    return event;
}

/* ---- 96 ---- */

static void who_am_i(void)
{
    unsigned rank = 99, size = 99;
    ptl_pid_t pids[SIZE];

    OK(PtlGetRank(PTL_INVALID_HANDLE, &rank, &size));
    CHECK_EQ(my_rank, rank);
    CHECK_EQ(SIZE, size);
    OK(PtlGetPIDMap(PTL_INVALID_HANDLE, pids, SIZE));
    for (unsigned i = 0; i < SIZE; i++) {
        CHECK_EQ(NID, rank_id(i).nid);
        CHECK_EQ(FIRST_PID + i, rank_id(i).pid);
        CHECK_EQ(FIRST_PID + i, pids[i]);
    }
}

/* The question for the place of a rank is answered without the one for one's own, too. */
static void where_are_they(void)
{
    CHECK_EQ(FIRST_PID + 2, rank_id(2).pid);
    who_am_i();
}

/* What the program sets is not replaced. */
static void own_map(void)
{
    ptl_pid_t pids[] = {7, 8, 9};

    OK(PtlSetPIDMap(PTL_INVALID_HANDLE, pids, 3));
    CHECK_EQ(9, rank_id(2).pid);
    CHECK_EQ(NID, rank_id(2).nid);
}

static void ranks_without_set_rank(void)
{
    run_ranks(SIZE, who_am_i);
    run_ranks(SIZE, where_are_they);
    run_ranks(1, own_map);
}

/* ---- 97 ---- */

static void take_my_pid(void)
{
    ptl_ext_options_t options = {0}, there = {.nid = NID, .pid = FIRST_PID + my_rank};
    ptl_process_id_t id;
    ptl_handle_ni_t again, other;

    begin_program();
    OK(PtlGetId(ni, &id));
    CHECK_EQ(NID, id.nid);
    CHECK_EQ(FIRST_PID + my_rank, id.pid);
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &again));
    CHECK_EQ(ni, again);
    OK(PtlExtNIOpen(&options, NULL, NULL, &other, NULL, 0));
    OK(PtlGetId(other, &id));
    CHECK(id.pid < FIRST_PID || id.pid >= FIRST_PID + SIZE);
    OK(PtlNIFini(ni));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    OK(PtlGetId(ni, &id));
    CHECK_EQ(FIRST_PID + my_rank, id.pid);
    OK(PtlNIFini(ni));
    /* Taken by this process's other interface: any other pid. */
    OK(PtlExtNIOpen(&there, NULL, NULL, &other, NULL, 0));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    OK(PtlGetId(ni, &id));
    CHECK(id.pid < FIRST_PID || id.pid >= FIRST_PID + SIZE);
}

static void pid_of_the_map(void)
{
    run_ranks(SIZE, take_my_pid);
}

/* Taken by another process: the peers would talk to a stranger. */
static void find_it_taken(void)
{
    int interfaces;

    OK(PtlInit(&interfaces));
    CHECK_EQ(PTL_PID_INVALID, PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    set_flag(1, 1);
}

static void hold_the_pid(void)
{
    begin_program();
    set_flag(0, 1);
    await_flag(1, 1);
}

static void pid_is_taken(void)
{
    launch(2, hold_the_pid);
    await_flag(0, 1);
    launch(2, find_it_taken);
    join_all();
}

/* ---- 98 ---- */

#define TURNS 100000u

/*
 * Beside other work a turn may cost each side a time slice. After so long, and so many turns, the
 * side that begins marks its next turn as the last.
 */
#define ENOUGH_SECONDS 45
#define TURNS_MIN 500u
#define LAST (1ull << 63)

static time_t seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static uint64_t numbered(uint64_t turn, time_t began)
{
    if (turn + 1 == TURNS)
        return turn | LAST;
    if (turn % 64 != 0 || turn < TURNS_MIN)
        return turn;
    return seconds_now() - began > ENOUGH_SECONDS ? turn | LAST : turn;
}

static ptl_handle_md_t post_long(void)
{
    return post(bytes, 64, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE, eq);
}

static void send_one(ptl_handle_md_t md, ptl_process_id_t to, uint64_t turn)
{
    OK(PtlPut(md, PTL_NO_ACK_REQ, to, PORTAL, 0, BITS, 0, turn));
}

static void expect_sent(void)
{
    next(PTL_EVENT_SEND_START);
    CHECK_EQ(PTL_NI_OK, next(PTL_EVENT_SEND_END).ni_fail_type);
}

/* Answers the number as it was sent. */
static uint64_t expect_received(uint64_t turn)
{
    uint64_t number = next(PTL_EVENT_PUT_START).hdr_data;

    CHECK_EQ(turn, number & ~LAST);
    CHECK_EQ(number, next(PTL_EVENT_PUT_END).hdr_data);
    return number;
}

static void play(ptl_process_id_t peer, unsigned side)
{
    ptl_handle_md_t md;
    time_t began = seconds_now();

    OK(PtlMDBind(ni, make_md(own_bytes, 8, PTL_MD_THRESH_INF, 0, eq), PTL_RETAIN, &md));
    for (uint64_t turn = 0, number = 0; (number & LAST) == 0; turn++) {
        number = side == 1 ? expect_received(turn) : numbered(turn, began);
        send_one(md, peer, number);
        expect_sent();
        if (side == 0)
            CHECK_EQ(number, expect_received(turn));
    }
}

static void ping_pong(void)
{
    begin_program();
    post_long();
    set_flag((int)my_rank, 1);
    await_flag(1 - (int)my_rank, 1);
    play(rank_id(1 - my_rank), my_rank);
}

static void round_trips(void)
{
    run_ranks(2, ping_pong);
}

/* The same of a process with itself: its own event first, then the target's, in one queue. */
static void talk_to_myself(void)
{
    ptl_handle_md_t md;

    begin_program();
    post_long();
    OK(PtlMDBind(ni, make_md(own_bytes, 8, PTL_MD_THRESH_INF, 0, eq), PTL_RETAIN, &md));
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        send_one(md, rank_id(my_rank), turn);
        expect_sent();
        expect_received(turn);
    }
}

static void round_trips_within_one(void)
{
    run_ranks(1, talk_to_myself);
}

/* Two threads of one process, each with an interface of its own. */
static ptl_process_id_t ids[2];
static pthread_barrier_t both;
static ptl_handle_ni_t nis[2];
static ptl_handle_eq_t eqs[2];

static void *thread_plays(void *side_of)
{
    unsigned side = *(unsigned *)side_of;
    ptl_handle_md_t md;
    ptl_event_t event;
    time_t began = seconds_now();

    OK(PtlMDBind(nis[side], make_md(own_bytes, 8, PTL_MD_THRESH_INF, 0, eqs[side]), PTL_RETAIN,
                 &md));
    pthread_barrier_wait(&both);
    for (uint64_t turn = 0, number = 0; (number & LAST) == 0; turn++) {
        static const ptl_event_kind_t order[2][4] = {
            {PTL_EVENT_SEND_START, PTL_EVENT_SEND_END, PTL_EVENT_PUT_START, PTL_EVENT_PUT_END},
            {PTL_EVENT_PUT_START, PTL_EVENT_PUT_END, PTL_EVENT_SEND_START, PTL_EVENT_SEND_END}};

        if (side == 0) {
            number = numbered(turn, began);
            send_one(md, ids[1], number);
        }
        for (int i = 0; i < 4; i++) {
            int code;

            while ((code = PtlEQGet(eqs[side], &event)) == PTL_EQ_EMPTY)
                sched_yield();
            OK(code);
            CHECK_EQ(order[side][i], event.type);
            if (side == 1 && i == 1) {
                number = event.hdr_data;
                CHECK_EQ(turn, number & ~LAST);
                send_one(md, ids[0], number);
            }
        }
    }
    return NULL;
}

static void open_two(void)
{
    for (int i = 0; i < 2; i++) {
        open_interface(PTL_EXT_REF);
        eq = new_eq(16);
        post(bytes, 8192, PTL_MD_THRESH_INF, BOTH | PTL_MD_MANAGE_REMOTE, eq);
        nis[i] = ni;
        eqs[i] = eq;
        ids[i] = own_id;
    }
}

static void round_trips_of_threads(void)
{
    static unsigned sides[2] = {0, 1};
    pthread_t threads[2];

    pthread_barrier_init(&both, NULL, 2);
    open_two();
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, pthread_create(&threads[i], NULL, thread_plays, &sides[i]));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
}

/* In the middle of an operation, when the initiator has logged its events: what can the target
 * see? */
extern _Thread_local void (*snic_step_hook)(const char *label);
static int looks, own_ends, target_events;

static int take_whatever(int side)
{
    ptl_event_t event;
    int count = 0;

    while (PtlEQGet(eqs[side], &event) == PTL_OK) {
        count++;
        own_ends +=
            side == 0 && (event.type == PTL_EVENT_SEND_END || event.type == PTL_EVENT_REPLY_END);
    }
    return count;
}

static void look_into_queues(const char *label)
{
    if (strcmp(label, "ptl.finish.told") != 0 && strcmp(label, "ptl.getput.told") != 0)
        return;
    looks++;
    own_ends = 0;
    take_whatever(0);
    target_events = take_whatever(1);
}

/* After an operation: that moment came, with these events, and nothing but the target's later. */
static void expect_seen(int ends, int at_target)
{
    CHECK_EQ(1, looks);
    CHECK_EQ(ends, own_ends);
    CHECK_EQ(at_target, target_events);
    CHECK_EQ(0, take_whatever(0));
    CHECK_EQ(2 - at_target, take_whatever(1));
    looks = 0;
}

static void initiator_is_told_first(void)
{
    ptl_handle_md_t md, get_md;

    open_two();
    OK(PtlMDBind(nis[0], make_md(own_bytes, 8192, -1, 0, eqs[0]), PTL_RETAIN, &md));
    OK(PtlMDBind(nis[0], make_md(own_bytes + 8192, 8, -1, 0, eqs[0]), PTL_RETAIN, &get_md));
    snic_step_hook = look_into_queues;
    OK(PtlPutRegion(md, 0, 4095, PTL_ACK_REQ, ids[1], PORTAL, 0, BITS, 0, 0));
    expect_seen(1, 0);
    OK(PtlPutRegion(md, 0, 4096, PTL_NO_ACK_REQ, ids[1], PORTAL, 0, BITS, 0, 0));
    expect_seen(1, 1); /* PUT_START: a long copy has begun */
    OK(PtlGetRegion(md, 0, 8, ids[1], PORTAL, 0, BITS, 0));
    expect_seen(1, 1);
    OK(PtlMDUnlink(md));
    OK(PtlMDBind(nis[0], make_md(own_bytes, 8, -1, 0, eqs[0]), PTL_RETAIN, &md));
    OK(PtlGetPut(get_md, md, ids[1], PORTAL, 0, BITS, 0, 0));
    expect_seen(2, 0);
}

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

/* Ranks that put to each other at once, each into a queue of ten: ten messages are 20 events. */
static void burst(void)
{
    ptl_handle_md_t md;

    begin_program();
    post_long();
    set_flag((int)my_rank, 1);
    await_flag(1 - (int)my_rank, 1);
    md = bind(own_bytes, 8, PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);
    for (uint64_t i = 0; i < 20; i++)
        send_one(md, rank_id(1 - my_rank), i);
    set_flag(2 + (int)my_rank, 1);
    await_flag(3 - (int)my_rank, 1);
    for (uint64_t i = 0; i < 20; i++)
        expect_received(i);
}

static void queues_of_ten(void)
{
    run_ranks(2, burst);
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"96", "ranks_without_set_rank", ranks_without_set_rank},
        {"97", "pid_of_the_map", pid_of_the_map},
        {"97", "pid_is_taken", pid_is_taken},
        {"98", "round_trips", round_trips},
        {"98", "round_trips_within_one", round_trips_within_one},
        {"98", "round_trips_of_threads", round_trips_of_threads},
        {"98", "initiator_is_told_first", initiator_is_told_first},
        {"99", "late_rank", late_rank},
        {"99", "late_entries", late_entries},
        {"99", "rank_never_comes", rank_never_comes},
        {"99", "getput_to_a_late_rank", getput_to_a_late_rank},
        {"", "drop_counts_once", drop_counts_once},
        {"", "closing_waits_for_nobody", closing_waits_for_nobody},
        {"", "wire_latency", wire_latency},
        {"", "updates_between_messages", updates_between_messages},
        {"", "queues_of_ten", queues_of_ten},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
