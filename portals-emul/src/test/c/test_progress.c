/* Progress and robustness (assertions 61, 86 to 92). */
#include "deliver.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void i_against_the_idle(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 64, -1, PTL_RETAIN, own);
    ptl_event_t event;
    uint64_t before = now_ms();

    OK(put(md, PTL_ACK_REQ));
    do
        OK(PtlEQWait(own, &event));
    while (event.type != PTL_EVENT_ACK);
    OK(get(md));
    do
        OK(PtlEQWait(own, &event));
    while (event.type != PTL_EVENT_REPLY_END);
    CHECK(now_ms() - before < 1000);
}

static void application_bypass(void)
{
    begin();
    post(bytes, 64, -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    initiator_run(i_against_the_idle); /* the target only sits in waitpid */
}

static void unreachable_target(void)
{
    ptl_event_t event;
    ptl_handle_md_t md;

    begin();
    target_id = own_id;
    target_id.pid = own_id.pid == 40000 ? 40001 : 40000;
    md = bind(own_bytes, 64, -1, PTL_RETAIN, eq);
    OK(put(md, PTL_ACK_REQ));
    take(eq, PTL_EVENT_SEND_START);
    event = take(eq, PTL_EVENT_SEND_END);
    OURS(CHECK_EQ(PTL_EXT_FAIL_UNREACHABLE, event.ni_fail_type));
    (void)event;
    OK(get(md));
    expect_empty(eq);
    post(bytes, 64, -1, BOTH, eq);
    target_id = own_id;
    OK(put(md, PTL_NO_ACK_REQ));
    take(eq, PTL_EVENT_SEND_START);
    take(eq, PTL_EVENT_SEND_END);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    target_id.pid = PTL_PID_ANY;
    OURS(CHECK_EQ(PTL_PROCESS_INVALID, put(md, PTL_NO_ACK_REQ)));
}

#ifdef PORTALS_STANDARD
#define PUTS_TO_THE_DEAD 100
#else
#define PUTS_TO_THE_DEAD 10000
#endif

/* The roles are swapped: the forked process is the target, and is killed. */
static void be_killed(void)
{
    post(bytes, sizeof(bytes), -1, PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    shared->id[1] = own_id;
    set_flag(0, 1);
    for (;;)
        pause();
}

static void target_dies(void)
{
    ptl_handle_md_t md;
    ptl_event_t event;
    pid_t pid;
    int failed = 0;

    begin();
    pid = initiator_start(be_killed);
    await_flag(0, 1);
    target_id = shared->id[1];
    md = bind(own_bytes, sizeof(own_bytes), -1, PTL_RETAIN, eq);
    for (int i = 0; i < PUTS_TO_THE_DEAD && !failed; i++) {
        if (i == 20)
            kill(pid, SIGKILL);
        OK(put(md, PTL_NO_ACK_REQ));
        take(eq, PTL_EVENT_SEND_START);
        event = take(eq, PTL_EVENT_SEND_END);
        failed = event.ni_fail_type != PTL_NI_OK;
    }
    OURS(CHECK(failed));
    CHECK_EQ(SIGKILL, initiator_join(pid));
    expect_sound();
}

static void i_put_ones(void)
{
    memset(own_bytes, 1, 8);
    i_puts();
}

static void many_initiators(void)
{
    pid_t pids[64];

    begin();
    post(bytes, 64 * 1000 * 8, -1, PTL_MD_OP_PUT, PTL_EQ_NONE);
    shared->number[0] = 1000;
    shared->number[1] = 8;
    for (int i = 0; i < 64; i++)
        pids[i] = initiator_start(i_put_ones);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(0, initiator_join(pids[i]));
    for (int i = 0; i < 64 * 1000 * 8; i++)
        CHECK_EQ(1, bytes[i]);
    CHECK_EQ(0, bytes[64 * 1000 * 8]);
    expect_status(PTL_SR_RECV_COUNT, 64000);
    CHECK_EQ(0, status(PTL_SR_DROP_COUNT));
    expect_sound();
}

#ifdef PORTALS_STANDARD
/* Nobody can hold a put in its middle here: puts of 16 MiB go on until one is caught. */
static uint8_t large[16 << 20];

static void i_large_puts(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(large, sizeof(large), -1, PTL_RETAIN, own);

    for (uint32_t round = 1;; round++) {
        await_flag(1, round);
        if (shared->flag[2] == 1)
            break;
        OK(put(md, PTL_NO_ACK_REQ));
        take(own, PTL_EVENT_SEND_START);
        take(own, PTL_EVENT_SEND_END);
        set_flag(0, round);
    }
}

/* One put; whether its descriptor was busy. */
static int is_caught(uint32_t round)
{
    ptl_handle_md_t md = post(large, sizeof(large), -1, PTL_MD_OP_PUT, eq);
    int code;

    set_flag(1, round);
    take(eq, PTL_EVENT_PUT_START);
    code = PtlMDUnlink(md);
    if (code == PTL_OK) { /* too late: it had ended */
        await_flag(0, round);
        take(eq, PTL_EVENT_PUT_END);
        return 0;
    }
    CHECK_EQ(PTL_MD_IN_USE, code);
    take(eq, PTL_EVENT_PUT_END);
    OK(PtlMDUnlink(md));
    return 1;
}

static void busy_descriptor_stays(void)
{
    pid_t pid;
    uint32_t round = 1;

    begin();
    pid = initiator_start(i_large_puts);
    while (!is_caught(round))
        CHECK(++round < 500);
    set_flag(2, 1);
    set_flag(1, round + 1);
    CHECK_EQ(0, initiator_join(pid));
}
#else
extern _Thread_local void (*snic_step_hook)(const char *label);

static void wait_at_copy(const char *label)
{
    if (strcmp(label, "ptl.put.copy") == 0) {
        set_flag(0, 1);
        await_flag(1, 1);
    }
}

static void i_slow_put(void)
{
    snic_step_hook = wait_at_copy;
    shared->number[0] = 1;
    shared->number[1] = 4096;
    i_puts();
}

static void busy_descriptor_stays(void)
{
    ptl_handle_me_t me;
    ptl_handle_md_t md;
    ptl_md_t update;
    pid_t pid;

    begin();
    md = post_at(PORTAL, BITS, make_md(bytes, 8192, -1, PTL_MD_OP_PUT, eq), PTL_UNLINK, &me);
    pid = initiator_start(i_slow_put);
    await_flag(0, 1);
    CHECK_EQ(PTL_MD_IN_USE, PtlMDUnlink(md));
    CHECK_EQ(PTL_ME_IN_USE, PtlMEUnlink(me));
    take(eq, PTL_EVENT_PUT_START);
    update = make_md(bytes, 64, -1, PTL_MD_OP_PUT, eq);
    CHECK_EQ(PTL_MD_NO_UPDATE, PtlMDUpdate(md, NULL, &update, eq)); /* its END is still to come */
    set_flag(1, 1);
    CHECK_EQ(0, initiator_join(pid));
    take(eq, PTL_EVENT_PUT_END);
    OK(PtlMDUnlink(md));
    expect_sound();
}

/* Between the request and the reply of a get its descriptor is not busy. */
static ptl_handle_md_t get_descriptor, replacement;
static uint8_t replacement_bytes[64];

static void unlink_before_reply(const char *label)
{
    if (strcmp(label, "ptl.get.reply") != 0)
        return;
    snic_step_hook = NULL;
    OK(PtlMDUnlink(get_descriptor));
    replacement = bind(replacement_bytes, 64, -1, PTL_RETAIN, PTL_EQ_NONE);
}

static void i_get_and_unlink(void)
{
    get_descriptor = bind(own_bytes, 64, -1, PTL_RETAIN, PTL_EQ_NONE);
    snic_step_hook = unlink_before_reply;
    OK(get(get_descriptor));
    CHECK_EQ(PTL_EXT_REPLY_DROPPED, PtlExtLastOutcome());
    CHECK_EQ(1, status(PTL_SR_DROP_COUNT));
    for (int i = 0; i < 64; i++)
        CHECK(own_bytes[i] == 0 && replacement_bytes[i] == 0);
    expect_sound();
}

static void late_reply_is_dropped(void)
{
    ptl_ni_limits_t one = {10, 1, 10, 7, 9, 5, 50, 32};
    ptl_ext_options_t options = {0};

    begin();
    memset(bytes, 0x77, 64);
    post(bytes, 64, -1, PTL_MD_OP_GET | PTL_MD_MANAGE_REMOTE, eq);
    initiator_run(i_get_and_unlink);
    take(eq, PTL_EVENT_GET_START);
    take(eq, PTL_EVENT_GET_END);
    /* With one descriptor in all, the new one certainly sits in the old one's place. */
    target_id = own_id;
    OK(PtlExtNIOpen(&options, &one, NULL, &ni, NULL, 0));
    i_get_and_unlink();
}

#endif

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
#ifndef PORTALS_STANDARD
        {"61,92", "late_reply_is_dropped", late_reply_is_dropped},
#endif
        {"86", "application_bypass", application_bypass},
        {"87", "unreachable_target", unreachable_target},
        {"88", "target_dies", target_dies},
        {"89", "many_initiators", many_initiators},
        {"90", "busy_descriptor_stays", busy_descriptor_stays},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
