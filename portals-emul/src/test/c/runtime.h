/*
 * What tests of the reference implementation's run-time share: processes that a launcher starts
 * with PTL_MY_RID, PTL_NIDMAP and PTL_PIDMAP, and that never call PtlSetRank.
 */
#ifndef RUNTIME_H
#define RUNTIME_H
#include "deliver.h"

#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "p3rt/p3rt.h"

#define SIZE 4
#define LAST (1ull << 63) /* of a number that a message carries */
#define FIRST_PID 20100u
#define NID 2130706433u /* such maps hold addresses of nodes */

/* ---- the launcher ---- */

static unsigned my_rank;

static inline void number(const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
    CHECK_EQ(0, setenv(name, text, 1));
}

static inline void launch(unsigned rank, void (*program)(void))
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
static inline void join_all(void)
{
    int state;

    while (wait(&state) > 0)
        CHECK_EQ(0, check_ended("a rank", state));
}

static inline void run_ranks(unsigned count, void (*program)(void))
{
    for (unsigned i = 0; i < count; i++)
        launch(i, program);
    join_all();
}

/* ---- what every program does ---- */

static inline void sleep_ms(unsigned ms)
{
    usleep(ms * 1000);
}

static inline ptl_process_id_t rank_id(unsigned rank)
{
    ptl_process_id_t id;

    OK(PtlGetRankId(PTL_INVALID_HANDLE, rank, &id));
    return id;
}

static inline void begin_program(void)
{
    int interfaces;

    OK(PtlInit(&interfaces));
    OK(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni));
    OK(PtlEQAlloc(ni, 10, PTL_EQ_HANDLER_NONE, &eq));
}

/* The next event, at once or later; a lost one is a failure. */
static inline ptl_event_t next(ptl_event_kind_t kind)
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

static inline ptl_handle_md_t post_long(void)
{
    return post(bytes, 64, PTL_MD_THRESH_INF, PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE, eq);
}

static inline void send_one(ptl_handle_md_t md, ptl_process_id_t to, uint64_t turn)
{
    OK(PtlPut(md, PTL_NO_ACK_REQ, to, PORTAL, 0, BITS, 0, turn));
}

static inline void expect_sent(void)
{
    next(PTL_EVENT_SEND_START);
    CHECK_EQ(PTL_NI_OK, next(PTL_EVENT_SEND_END).ni_fail_type);
}

/* Answers the number as it was sent. */
static inline uint64_t expect_received(uint64_t turn)
{
    uint64_t number = next(PTL_EVENT_PUT_START).hdr_data;

    CHECK_EQ(turn, number & ~LAST);
    CHECK_EQ(number, next(PTL_EVENT_PUT_END).hdr_data);
    return number;
}
#endif
