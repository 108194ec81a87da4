/* Small stories of two actors in every order (schedule.h). */
#include "schedule.h"

/* ---- two puts into a descriptor for two: one UNLINK, after both ENDs ---- */

static void post_for_two(void)
{
    memset(memory, 0, sizeof(memory));
    posted = post(memory, 64, 2, PTL_MD_OP_PUT, queue);
}

static void judge_two(void)
{
    int starts = 0, ends = 0;
    ptl_event_t event = {0};

    while (starts + ends < 4) {
        OK(PtlEQGet(queue, &event));
        starts += event.type == PTL_EVENT_PUT_START;
        ends += event.type == PTL_EVENT_PUT_END;
        CHECK(ends <= starts);
        CHECK_EQ(PTL_NI_OK, event.ni_fail_type);
        if (event.type == PTL_EVENT_PUT_END)
            CHECK_EQ(1 + (int)event.hdr_data, memory[event.offset]);
    }
    CHECK_EQ(event.sequence, take(queue, PTL_EVENT_UNLINK).link);
    expect_empty(queue);
    CHECK(memory[0] != 0 && memory[8] != 0 && memory[0] != memory[8] && memory[16] == 0);
    CHECK_EQ(PTL_MD_INVALID, PtlMDUnlink(posted));
}

static void two_puts(void)
{
    explore(post_for_two, put_first, put_second, judge_two);
}

/* ---- two puts, one place: the other is dropped ---- */

static uint64_t drops;

static void post_for_one(void)
{
    drops = status(PTL_SR_DROP_COUNT);
    posted = post(memory, 64, 1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, queue);
}

static void judge_one(void)
{
    CHECK_EQ(PTL_EXT_DELIVERED + PTL_EXT_DROPPED, outcome[0] + outcome[1]);
    CHECK_EQ(outcome[0] == PTL_EXT_DELIVERED ? 0 : 1, take(queue, PTL_EVENT_PUT_END).hdr_data);
    take(queue, PTL_EVENT_UNLINK);
    expect_empty(queue);
    CHECK_EQ(drops + 1, status(PTL_SR_DROP_COUNT));
}

static void one_place(void)
{
    explore(post_for_one, put_first, put_second, judge_one);
}

/* ---- a put against the owner's unlink ---- */

static void judge_unlink(void)
{
    CHECK(code == PTL_OK || code == PTL_MD_IN_USE);
    if (outcome[0] == PTL_EXT_DELIVERED) {
        take(queue, PTL_EVENT_PUT_START);
        take(queue, PTL_EVENT_PUT_END);
    } else {
        CHECK_EQ(PTL_OK, code);
    }
    expect_empty(queue);
    CHECK_EQ(code == PTL_OK ? PTL_MD_INVALID : PTL_OK, PtlMDUnlink(posted));
}

static void put_against_unlink(void)
{
    explore(post_for_many, put_first, unlink_it, judge_unlink);
}

/* ---- a put against a conditional update: wholly before it, or wholly after ---- */

static void judge_update(void)
{
    ptl_event_t event = take(queue, PTL_EVENT_PUT_END);

    CHECK(code == PTL_OK || code == PTL_MD_NO_UPDATE);
    CHECK_EQ((uintptr_t)memory + (code == PTL_OK ? 128 : 0), (uintptr_t)event.md.start);
    CHECK_EQ(1, memory[code == PTL_OK ? 128 : 0]);
    CHECK_EQ(0, memory[code == PTL_OK ? 0 : 128]);
    expect_empty(queue);
    OK(PtlMDUnlink(posted));
}

static void put_against_update(void)
{
    explore(post_for_update, put_first, update_it, judge_update);
}

/* ---- a put against a reader of a queue that overflows ---- */

static void post_full(void)
{
    post_full_by(0);
}

static void judge_overflow(void)
{
    ptl_event_t event;
    uint32_t last = seen.sequence;
    int next;

    CHECK(code == PTL_OK || code == PTL_EQ_DROPPED);
    CHECK_EQ(code == PTL_OK ? UINT32_MAX - 1 : UINT32_MAX, last);
    while ((next = PtlEQGet(tiny, &event)) == PTL_OK) {
        CHECK_EQ((uint32_t)(last + 1), event.sequence);
        last = event.sequence;
    }
    CHECK_EQ(PTL_EQ_EMPTY, next);
    CHECK_EQ(0, last); /* the third event was not lost */
    CHECK_EQ(1, event.hdr_data);
    OK(PtlMDUnlink(posted));
    OK(PtlEQFree(tiny));
}

static void put_against_reader(void)
{
    explore(post_full, put_second, read_one, judge_overflow);
}

/* ---- two swaps of one word; a swap against a put ---- */

static void post_for_swaps(void)
{
    post_word(2);
}

static void judge_swap(void)
{
    CHECK_EQ(PTL_EXT_DELIVERED, outcome[0]);
    CHECK_EQ(PTL_EXT_DELIVERED, outcome[1]);
    /* 9, 1 and 2 sit in three places, and one of the two saw the 9. */
    CHECK_EQ(9 + 1 + 2, landed[0][0] + landed[1][0] + memory[0]);
    CHECK(landed[0][0] == 9 || landed[1][0] == 9);
    CHECK(memory[0] == 1 || memory[0] == 2);
}

static void two_swaps(void)
{
    explore(post_for_swaps, swap_first, swap_second, judge_swap);
}

/* Either the swap finds the put, or the put comes behind the swap: nothing is lost between. */
static void post_for_swap_and_put(void)
{
    post_word(2);
    OK(PtlMDUnlink(landing[1]));
}

static void judge_swap_and_put(void)
{
    CHECK_EQ(PTL_EXT_DELIVERED, outcome[0]);
    CHECK_EQ(PTL_EXT_DELIVERED, outcome[1]);
    CHECK(landed[0][0] == 9 || landed[0][0] == 2);
    CHECK_EQ(landed[0][0] == 9 ? 2 : 1, memory[0]);
}

static void getput_against_put(void)
{
    explore(post_for_swap_and_put, swap_first, put_second, judge_swap_and_put);
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"65", "two_puts", two_puts},
        {"", "one_place", one_place},
        {"90", "put_against_unlink", put_against_unlink},
        {"73", "put_against_update", put_against_update},
        {"81", "put_against_reader", put_against_reader},
        {"60", "two_swaps", two_swaps},
        {"60", "getput_against_put", getput_against_put},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
