/* Stories of Portals in every order of their steps (step_schedule.h), with a target and initiators.
 */
#ifndef SCHEDULE_H
#define SCHEDULE_H
#define _GNU_SOURCE
#include "check.h"
#include "step_schedule.h"

/* ---- the stage: a target and initiators ---- */

static ptl_handle_ni_t target, from[ACTORS_MAX];
static ptl_handle_md_t source[ACTORS_MAX], posted;
static ptl_handle_eq_t queue;
static uint8_t memory[256], bytes[ACTORS_MAX][64];
static int outcome[ACTORS_MAX], code;

static void set_stage(void)
{
    check_lock_timeout_ms = CHECK_PATIENT_MS;
    for (int i = 0; i < ACTORS_MAX; i++) {
        open_interface(PTL_EXT_REF);
        from[i] = ni;
    }
    open_interface(PTL_EXT_REF);
    target = ni;
    target_id = own_id;
    queue = new_eq(64);
    for (int i = 0; i < ACTORS_MAX; i++) {
        memset(bytes[i], 1 + i, sizeof(bytes[i]));
        OK(PtlMDBind(from[i], make_md(bytes[i], 8, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &source[i]));
        /* Attaching takes steps only once: it is not part of the stories. */
        OK(put_to(source[i], PTL_NO_ACK_REQ, 0, 0, 0));
    }
}

static const struct story *told;

static void judge_and_check(void)
{
    char text[256];

    told->judge();
    if (PtlExtCheck(target, text, sizeof(text)) != 0)
        check_fail(__FILE__, __LINE__, "%s: %s", order_text, text);
}

static void explore_story(const struct story *s)
{
    struct story checked = *s;

    told = s;
    checked.judge = judge_and_check;
    set_stage();
    explore_orders(&checked, 300);
}

static inline void explore(void (*prepare)(void), void (*a)(void), void (*b)(void),
                           void (*judge)(void))
{
    explore_story(&(struct story){prepare, {a, b, NULL}, 2, judge, 1});
}

static void put_of(int which)
{
    OK(PtlPut(source[which], PTL_NO_ACK_REQ, target_id, PORTAL, 0, BITS, 0, (uint64_t)which));
    outcome[which] = PtlExtLastOutcome();
}

static inline void put_first(void)
{
    put_of(0);
}

static inline void put_second(void)
{
    put_of(1);
}

static inline void put_third(void)
{
    put_of(2);
}

/* ---- what the owner does against initiators ---- */

static inline void post_for_many(void)
{
    posted = post(memory, 64, -1, PTL_MD_OP_PUT, queue);
}

static inline void unlink_it(void)
{
    code = PtlMDUnlink(posted);
}

static inline void post_for_update(void)
{
    memset(memory, 0, sizeof(memory));
    posted = post(memory, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, queue);
}

static inline void update_it(void)
{
    ptl_md_t update =
        make_md(memory + 128, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, queue);

    code = PtlMDUpdate(posted, NULL, &update, queue);
}

static ptl_handle_eq_t tiny;
static ptl_event_t seen;

/* With a queue that is full: two events of puts by this initiator. */
static inline void post_full_by(int which)
{
    tiny = new_eq(2);
    posted = post(memory, 256, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, tiny);
    for (int i = 0; i < 2; i++)
        put_of(which);
}

static inline void read_one(void)
{
    code = PtlEQGet(tiny, &seen);
}

/* ---- swaps of one word ---- */

static ptl_handle_md_t landing[2];
static uint8_t landed[2][8];

static inline void post_word(int threshold)
{
    memset(memory, 9, 8);
    posted = post(memory, 8, threshold, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    for (int i = 0; i < 2; i++)
        OK(PtlMDBind(from[i], make_md(landed[i], 8, 1, 0, PTL_EQ_NONE), PTL_UNLINK, &landing[i]));
}

static inline void swap_of(int which)
{
    OK(PtlGetPut(landing[which], source[which], target_id, PORTAL, 0, BITS, 0, 0));
    outcome[which] = PtlExtLastOutcome();
}

static inline void swap_first(void)
{
    swap_of(0);
}

static inline void swap_second(void)
{
    swap_of(1);
}

#endif
