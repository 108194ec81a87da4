/*
 * Programs of the reference implementation's run-time (assertions 96 to 98): ranks without
 * PtlSetRank, pids of the map, round trips of two processes and of two interfaces in one; queues of
 * ten. What concerns ranks that come late is in test_late.
 */
#define _GNU_SOURCE
#include "runtime.h"

#include <pthread.h>
#include <time.h>

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

/* ---- queues of ten ---- */

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
        {"", "queues_of_ten", queues_of_ten},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
