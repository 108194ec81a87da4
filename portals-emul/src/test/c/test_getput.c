/* The atomic swap (assertions 57 to 60). */
#include "deliver.h"

#include <sched.h>
#include <stdlib.h>

static void i_getput(void)
{
    ptl_handle_eq_t own = new_eq(16);
    uint8_t new_bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, old_bytes[8] = {0}, long_bytes[65];
    ptl_handle_md_t put_md = bind(new_bytes, 8, -1, PTL_RETAIN, own);
    ptl_handle_md_t get_md = bind(old_bytes, 8, 1, PTL_UNLINK, own);
    ptl_handle_md_t too_long = bind(long_bytes, 65, -1, PTL_RETAIN, own);

    CHECK_EQ(PTL_MD_ILLEGAL, PtlGetPut(get_md, too_long, target_id, PORTAL, 0, BITS, 0, 0));
    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS + 1, 0, 0));
    EXPECT_OUTCOME(PTL_EXT_DROPPED);
    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS + 2, 0, 0));
    EXPECT_OUTCOME(PTL_EXT_DROPPED);
    for (int i = 0; i < 2; i++) {
        take(own, PTL_EVENT_SEND_START);
        take(own, PTL_EVENT_SEND_END);
    }
    expect_empty(own);
    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, 0, 77));
    take(own, PTL_EVENT_SEND_START);
    take(own, PTL_EVENT_SEND_END);
    take(own, PTL_EVENT_REPLY_START);
    CHECK_EQ(8, take(own, PTL_EVENT_REPLY_END).mlength);
    take(own, PTL_EVENT_UNLINK);
    expect_empty(own);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(0x55, old_bytes[i]);
}

static void getput_swaps(void)
{
    begin();
    memset(bytes, 0x55, 64);
    post_at(PORTAL, BITS + 1, make_md(bytes, 64, -1, PTL_MD_OP_PUT, eq), PTL_UNLINK, NULL);
    post_at(PORTAL, BITS + 2, make_md(bytes, 64, -1, PTL_MD_OP_GET, eq), PTL_UNLINK, NULL);
    post(bytes, 64, -1, BOTH, eq);
    initiator_run(i_getput);
    take(eq, PTL_EVENT_GETPUT_START);
    CHECK_EQ(77, take(eq, PTL_EVENT_GETPUT_END).hdr_data);
    expect_empty(eq);
    CHECK_EQ(2, status(PTL_SR_DROP_COUNT));
    for (int i = 0; i < 8; i++)
        CHECK_EQ(i + 1, bytes[i]);
    CHECK_EQ(0x55, bytes[8]);
    expect_sound();
}

/* Bound quietly: of a swap only its REPLY_END is told. */
static ptl_handle_md_t bind_result(void *start, ptl_handle_eq_t own)
{
    ptl_md_t md = make_md(start, 8, -1, PTL_MD_EVENT_START_DISABLE, own);
    ptl_handle_md_t handle;

    OK(PtlMDBind(ni, md, PTL_RETAIN, &handle));
    return handle;
}

/* Takes the token (non-zero) out of the word by swapping in 0, increments a count, puts it back. */
static void i_lock_rounds(void)
{
    uint64_t zero = 0, token = 0;
    ptl_handle_md_t put_md = bind(&zero, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t get_md = bind_result(&token, own);
    ptl_handle_md_t token_md = bind(&token, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t scrap_md = bind_result(own_bytes, own);

    for (int i = 0; i < 2500; i++) {
        for (;;) {
            OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, 0, 0));
            take(own, PTL_EVENT_REPLY_END);
            if (token != 0)
                break;
            sched_yield(); /* who has the token may need this processor */
        }
        shared->number[0]++; /* not atomic: the token protects it */
        OK(PtlGetPut(scrap_md, token_md, target_id, PORTAL, 0, BITS, 0, 0));
        take(own, PTL_EVENT_REPLY_END);
    }
}

static void getput_is_a_lock(void)
{
    pid_t pids[4];
    uint64_t *word = (uint64_t *)(void *)bytes;

    check_lock_timeout_ms = CHECK_PATIENT_MS;
    begin();
    *word = 42;
    post(bytes, 8, -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    for (int i = 0; i < 4; i++)
        pids[i] = initiator_start(i_lock_rounds);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(0, initiator_join(pids[i]));
    CHECK_EQ(10000, shared->number[0]);
    CHECK_EQ(42, *word);
}

#ifndef PORTALS_STANDARD /* atomic against puts and gets: a promise of this library */

#define HANDED_ON 2000
#define WORDS 8

/* Puts 64 bytes that all say k, and the next only when the swapper has seen these. */
static void i_hand_on(void)
{
    uint64_t words[WORDS];
    ptl_handle_md_t md = bind(words, sizeof(words), -1, PTL_RETAIN, PTL_EQ_NONE);

    for (uint32_t k = 1; k <= HANDED_ON; k++) {
        for (int i = 0; i < WORDS; i++)
            words[i] = k;
        OK(put(md, PTL_NO_ACK_REQ));
        set_flag(0, k);
        await_flag(1, k);
    }
}

/* Swaps zeros in all the time. What it gets is whole, and no put gets lost between its reading and
 * its writing. */
static void i_swap_out(void)
{
    uint64_t zeros[WORDS] = {0}, got[WORDS] = {0};
    ptl_handle_md_t put_md = bind(zeros, sizeof(zeros), -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t get_md = bind(got, sizeof(got), -1, PTL_RETAIN, PTL_EQ_NONE);

    for (uint32_t k = 1; k <= HANDED_ON;) {
        int is_there = __atomic_load_n((uint32_t *)&shared->flag[0], __ATOMIC_ACQUIRE) == k;

        OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, 0, 0));
        for (int i = 1; i < WORDS; i++)
            CHECK_EQ(got[0], got[i]);
        if (got[0] == 0) {
            if (is_there)
                check_fail(__FILE__, __LINE__, "put %u was overwritten unseen", k);
            continue;
        }
        CHECK_EQ(k, got[0]);
        set_flag(1, k++);
    }
    set_flag(2, 1);
}

/* A get sees what is there before a swap or after it, never some of both. */
static void i_get_whole(void)
{
    uint64_t got[WORDS];
    ptl_handle_md_t md = bind(got, sizeof(got), -1, PTL_RETAIN, PTL_EQ_NONE);

    while (shared->flag[2] == 0) {
        OK(get(md));
        for (int i = 1; i < WORDS; i++)
            CHECK_EQ(got[0], got[i]);
        sched_yield();
    }
}

static void against_puts(void)
{
    pid_t pids[2];

    check_lock_timeout_ms = CHECK_PATIENT_MS;
    begin();
    post(bytes, WORDS * 8, -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    pids[0] = initiator_start(i_swap_out);
    pids[1] = initiator_start(i_hand_on);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, initiator_join(pids[i]));
    for (int i = 0; i < WORDS * 8; i++)
        CHECK_EQ(0, bytes[i]);
    expect_sound();
}

/* The put also races with other gets; puts and gets are not atomic towards each other, so only the
 * swapper writes here. */
static void i_swap_often(void)
{
    uint64_t words[WORDS], got[WORDS] = {0};
    ptl_handle_md_t put_md = bind(words, sizeof(words), -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t get_md = bind(got, sizeof(got), -1, PTL_RETAIN, PTL_EQ_NONE);

    for (uint64_t k = 1; k <= 5000; k++) {
        for (int i = 0; i < WORDS; i++)
            words[i] = k;
        OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, 0, 0));
        for (int i = 0; i < WORDS; i++)
            CHECK_EQ(k - 1, got[i]);
    }
    set_flag(2, 1);
}

static void against_gets(void)
{
    pid_t pids[2];

    check_lock_timeout_ms = CHECK_PATIENT_MS;
    begin();
    post(bytes, WORDS * 8, -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    pids[0] = initiator_start(i_get_whole);
    pids[1] = initiator_start(i_swap_often);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(0, initiator_join(pids[i]));
    expect_sound();
}

#endif

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"57,58,59", "getput_swaps", getput_swaps},
        {"60", "getput_is_a_lock", getput_is_a_lock},
#ifndef PORTALS_STANDARD
        {"60", "against_puts", against_puts},
        {"60", "against_gets", against_gets},
#endif
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
