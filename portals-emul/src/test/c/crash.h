/* Initiators that kill or stop themselves at a labelled step, and what their target must find. */
#ifndef CRASH_H
#define CRASH_H
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <time.h>

extern _Thread_local void (*snic_step_hook)(const char *label);

static uint8_t bytes[65536], own_bytes[65536];
static ptl_handle_eq_t eq;

/* Where the initiator kills or stops itself: at the n-th passage of a step. */
static const char *fatal_label;
static int fatal_passage;
static int fatal_signal = SIGKILL;

static inline void strike(const char *label)
{
    if (fatal_passage > 0 && strcmp(label, fatal_label) == 0 && --fatal_passage == 0) {
        set_flag(0, 1);
        raise(fatal_signal);
    }
}

static inline void await_quiet(void)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    /* The dead are found within a bounded number of looks; the case's time limit bounds it. */
    while (PtlExtReap(ni) > 0)
        nanosleep(&pause, NULL);
}

struct tally {
    int starts, ends, failures, unlinks, successes;
};

static inline struct tally drain(ptl_handle_eq_t queue)
{
    struct tally t = {0};
    uint64_t last = 0; /* match bits of the descriptor that was unlinked last */
    ptl_event_t event;
    int code;

    while ((code = PtlEQGet(queue, &event)) != PTL_EQ_EMPTY) {
        CHECK_EQ(PTL_OK, code);
        CHECK(t.unlinks == 0 || event.match_bits != last);
        last = event.type == PTL_EVENT_UNLINK ? event.match_bits : last;
        switch (event.type) {
        case PTL_EVENT_PUT_START:
        case PTL_EVENT_GET_START:
        case PTL_EVENT_GETPUT_START:
            CHECK_EQ(PTL_NI_OK, event.ni_fail_type);
            t.starts++;
            break;
        case PTL_EVENT_PUT_END:
        case PTL_EVENT_GET_END:
        case PTL_EVENT_GETPUT_END:
            t.ends++;
            t.failures += event.ni_fail_type == PTL_EXT_FAIL_INITIATOR_DIED;
            t.successes += event.ni_fail_type == PTL_NI_OK;
            break;
        default:
            CHECK_EQ(PTL_EVENT_UNLINK, event.type);
            t.unlinks++;
        }
    }
    return t;
}

/* Where the initiator's own events go: its steps are in another order with a queue than without. */
static int with_own_queue;

static inline ptl_handle_eq_t own_queue(void)
{
    return with_own_queue ? new_eq(16) : PTL_EQ_NONE;
}

/* The hook is the caller's. */
static inline void i_one_put_unhooked(void)
{
    ptl_handle_md_t md = bind(own_bytes, 1024, -1, PTL_RETAIN, own_queue());

    memset(own_bytes, 0x5a, sizeof(own_bytes));
    OK(put(md, PTL_ACK_REQ));
}

static inline void i_one_put(void)
{
    snic_step_hook = strike;
    i_one_put_unhooked();
}

/* Long enough that its START is logged when it is accepted. */
static inline void i_long_put(void)
{
    ptl_handle_md_t md = bind(own_bytes, 8192, -1, PTL_RETAIN, own_queue());

    snic_step_hook = strike;
    OK(put(md, PTL_ACK_REQ));
}

static inline void i_one_get(void)
{
    ptl_handle_md_t md = bind(own_bytes, 4096, -1, PTL_RETAIN, own_queue());

    snic_step_hook = strike;
    OK(get(md));
}

static inline void i_one_getput_unhooked(void)
{
    ptl_handle_md_t put_md = bind(own_bytes, 8, -1, PTL_RETAIN, own_queue());
    ptl_handle_md_t get_md = bind(own_bytes + 8, 8, -1, PTL_RETAIN, own_queue());

    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, 0, 0));
}

static inline void i_one_getput(void)
{
    snic_step_hook = strike;
    i_one_getput_unhooked();
}

static inline void i_clean_put(void)
{
    ptl_handle_md_t md = bind(own_bytes, 100, -1, PTL_RETAIN, PTL_EQ_NONE);

    memset(own_bytes, 0x11, 100);
    OK(put_to(md, PTL_ACK_REQ, BITS + 1, 0, 0));
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
}

/* One kill: the operation is the only one that its descriptor takes. Returns 0 when the step was
 * not passed. */
static inline int kill_at(void (*body)(void), const char *label, int passage, int other_first)
{
    ptl_handle_md_t md;
    ptl_handle_me_t me;
    struct tally t;
    int died;

    md = post_at(PORTAL, BITS, make_md(bytes, sizeof(bytes), 1, BOTH, eq), PTL_UNLINK, &me);
    fatal_label = label;
    fatal_passage = passage;
    died = initiator_join(initiator_start(body));
    if (other_first)
        initiator_run(i_clean_put); /* another initiator finds the dead one's lock */
    await_quiet();
    expect_sound();
    t = drain(eq);
    if (died && t.starts == 0) {
        /* Dead before its first visible effect: as if it had never been. */
        CHECK_EQ(0, t.ends + t.unlinks);
        OK(PtlMDUnlink(md));
    } else {
        CHECK_EQ(1, t.starts);
        CHECK_EQ(1, t.ends);
        CHECK_EQ(1, t.unlinks);
        CHECK_EQ(died ? 1 : t.successes, t.failures + t.successes);
        CHECK_EQ(PTL_MD_INVALID, PtlMDUnlink(md));
        CHECK_EQ(PTL_ME_INVALID, PtlMEUnlink(me));
    }
    expect_sound();
    return died != 0;
}

#endif
