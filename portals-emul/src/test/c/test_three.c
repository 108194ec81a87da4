/*
 * Stories of three actors: two initiators and the target's own calls, or three initiators, in all
 * orders with one preemption and a share of those with two (all with VERBENA_LONG=1).
 */
#include "schedule.h"

#define EVERY 20

static int delivered(void)
{
    return (outcome[0] == PTL_EXT_DELIVERED) + (outcome[1] == PTL_EXT_DELIVERED);
}

/* ---- two puts against the owner's unlink ---- */

static void judge_unlink(void)
{
    int starts = 0, ends = 0;
    ptl_event_t event;

    CHECK(code == PTL_OK || code == PTL_MD_IN_USE);
    while (PtlEQGet(queue, &event) == PTL_OK) {
        starts += event.type == PTL_EVENT_PUT_START;
        ends += event.type == PTL_EVENT_PUT_END;
        CHECK_EQ(PTL_NI_OK, event.ni_fail_type);
    }
    CHECK_EQ(delivered(), starts);
    CHECK_EQ(delivered(), ends);
    CHECK(code == PTL_OK || delivered() > 0);
    CHECK_EQ(code == PTL_OK ? PTL_MD_INVALID : PTL_OK, PtlMDUnlink(posted));
}

static void puts_against_unlink(void)
{
    explore_story(
        &(struct story){post_for_many, {put_first, put_second, unlink_it}, 3, judge_unlink, EVERY});
}

/* ---- two puts against a conditional update ---- */

/* Updated: both lie in the new region. Refused: both in the old one, one behind the other. */
static void judge_update(void)
{
    uint8_t *region = memory + (code == PTL_OK ? 128 : 0);

    CHECK(code == PTL_OK || code == PTL_MD_NO_UPDATE);
    CHECK_EQ(2, delivered());
    for (int i = 0; i < 2; i++) {
        ptl_event_t event = take(queue, PTL_EVENT_PUT_END);

        CHECK_EQ((uintptr_t)region, (uintptr_t)event.md.start);
        CHECK_EQ(1 + event.hdr_data, region[event.offset]);
    }
    expect_empty(queue);
    CHECK_EQ(3, region[0] + region[8]);
    CHECK_EQ(0, memory[code == PTL_OK ? 0 : 128]);
    OK(PtlMDUnlink(posted));
}

static void puts_against_update(void)
{
    explore_story(&(struct story){
        post_for_update, {put_first, put_second, update_it}, 3, judge_update, EVERY});
}

/* ---- two puts against a reader of a queue that is full ---- */

static void post_full(void)
{
    post_full_by(2);
}

/* Four events were logged, with the sequences -2 to 1: what is read ascends, gaps are told. */
static void judge_full(void)
{
    int32_t last = (int32_t)seen.sequence;
    ptl_event_t event;
    int next;

    CHECK_EQ(2, delivered());
    if (code == PTL_EQ_EMPTY) {
        last = -3; /* overtaken throughout, as a reader may be */
    } else {
        CHECK(code == PTL_OK || code == PTL_EQ_DROPPED);
        CHECK_EQ(code == PTL_OK, last == -2);
    }
    while ((next = PtlEQGet(tiny, &event)) != PTL_EQ_EMPTY) {
        CHECK(next == PTL_OK || next == PTL_EQ_DROPPED);
        CHECK_EQ(next == PTL_OK, (int32_t)event.sequence == last + 1);
        CHECK((int32_t)event.sequence > last);
        last = (int32_t)event.sequence;
    }
    CHECK_EQ(1, last);
    OK(PtlMDUnlink(posted));
    OK(PtlEQFree(tiny));
}

static void puts_against_reader(void)
{
    explore_story(
        &(struct story){post_full, {put_first, put_second, read_one}, 3, judge_full, EVERY});
}

/* ---- two swaps and a put of one word ---- */

static void post_for_three(void)
{
    post_word(3);
}

/* 9, 1, 2 and 3 came to the word one after the other: what is in the three places differs, and the
 * put's 3, which no put overwrites, is among it. */
static void judge_three(void)
{
    int a = landed[0][0], b = landed[1][0], c = memory[0];

    CHECK_EQ(2, delivered());
    CHECK_EQ(PTL_EXT_DELIVERED, outcome[2]);
    CHECK(a != b && b != c && a != c);
    CHECK(a == 3 || b == 3 || c == 3);
    CHECK(a != 1 && b != 2);
}

static void swaps_against_put(void)
{
    explore_story(&(struct story){
        post_for_three, {swap_first, swap_second, put_third}, 3, judge_three, EVERY});
}

/* ---- a swap and a put against the owner's unlink ---- */

static void post_for_swap(void)
{
    memset(memory, 9, 8);
    posted = post(memory, 8, -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    memset(landed[0], 0, sizeof(landed[0]));
    OK(PtlMDBind(from[0], make_md(landed[0], 8, -1, 0, PTL_EQ_NONE), PTL_RETAIN, &landing[0]));
}

static void judge_swap_and_unlink(void)
{
    CHECK(code == PTL_OK || code == PTL_MD_IN_USE);
    if (outcome[0] == PTL_EXT_DELIVERED && outcome[1] == PTL_EXT_DELIVERED)
        CHECK(landed[0][0] == 9 ? memory[0] == 2 : landed[0][0] == 2 && memory[0] == 1);
    else if (outcome[0] == PTL_EXT_DELIVERED)
        CHECK(landed[0][0] == 9 && memory[0] == 1);
    else
        CHECK_EQ(outcome[1] == PTL_EXT_DELIVERED ? 2 : 9, memory[0]);
    OK(PtlMDUnlink(landing[0]));
    CHECK_EQ(code == PTL_OK ? PTL_MD_INVALID : PTL_OK, PtlMDUnlink(posted));
}

static void swap_against_unlink(void)
{
    explore_story(&(struct story){
        post_for_swap, {swap_first, put_second, unlink_it}, 3, judge_swap_and_unlink, EVERY});
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"90", "puts_against_unlink", puts_against_unlink},
        {"73", "puts_against_update", puts_against_update},
        {"81", "puts_against_reader", puts_against_reader},
        {"60", "swaps_against_put", swaps_against_put},
        {"60", "swap_against_unlink", swap_against_unlink},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
