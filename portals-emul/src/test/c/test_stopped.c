/*
 * Processes that are stopped (SIGSTOP). A target that is stopped anywhere outside a lock is served
 * as if it ran: nothing depends on its calling anything. Whoever is stopped inside a lock costs the
 * others a bounded time, then an answer, and nothing hangs.
 */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

extern _Thread_local void (*snic_step_hook)(const char *label);

#define LENGTH 64

static uint8_t bytes[4096], own_bytes[4096];

/* ---- the target, in a process of its own ---- */

static const char *stop_label;

static void stop_at(const char *label)
{
    if (strcmp(label, stop_label) == 0) {
        snic_step_hook = NULL;
        raise(SIGSTOP);
    }
}

static void offer(ptl_handle_eq_t queue)
{
    memset(bytes, 0x11, sizeof(bytes));
    post_at(PORTAL, BITS, make_md(bytes, LENGTH, -1, PTL_MD_OP_PUT, queue), PTL_RETAIN, NULL);
    post_at(PORTAL, BITS + 1, make_md(bytes + 1024, LENGTH, -1, PTL_MD_OP_GET, queue), PTL_RETAIN,
            NULL);
    post_at(PORTAL, BITS + 2, make_md(bytes + 2048, LENGTH, -1, BOTH, queue), PTL_RETAIN, NULL);
    shared->id[1] = own_id;
    set_flag(0, 1);
}

static void expect_pair(ptl_handle_eq_t queue, ptl_event_kind_t start, uint64_t hdr)
{
    ptl_event_t event = take(queue, start);

    CHECK_EQ(hdr, event.hdr_data);
    event = take(queue, start + 1);
    CHECK_EQ(hdr, event.hdr_data);
    CHECK_EQ(LENGTH, event.mlength);
    CHECK_EQ(PTL_NI_OK, event.ni_fail_type);
}

/* Continued: everything that happened meanwhile is there, in order. */
static void find_it_all(ptl_handle_eq_t queue)
{
    expect_pair(queue, PTL_EVENT_PUT_START, 1);
    expect_pair(queue, PTL_EVENT_GET_START, 0);
    expect_pair(queue, PTL_EVENT_GETPUT_START, 2);
    expect_empty(queue);
    for (int i = 0; i < LENGTH; i++) {
        CHECK_EQ(0x22, bytes[i]);
        CHECK_EQ(0x22, bytes[2048 + i]);
    }
    expect_sound();
}

static void be_stopped_anywhere(void)
{
    ptl_handle_eq_t queue = new_eq(64);

    offer(queue);
    while (shared->flag[1] == 0)
        usleep(1000);
    find_it_all(queue);
}

static void be_stopped_while_waiting(void)
{
    ptl_handle_eq_t queue = new_eq(64);
    ptl_event_t event;

    offer(queue);
    for (int i = 0; i < 6; i++)
        OK(PtlEQWait(queue, &event));
    CHECK_EQ(PTL_EVENT_GETPUT_END, event.type);
    CHECK_EQ(PTL_EQ_EMPTY, PtlEQGet(queue, &event));
}

/* ---- the initiator: this process ---- */

static void await_stopped(pid_t pid)
{
    int state;

    CHECK_EQ(pid, waitpid(pid, &state, WUNTRACED));
    CHECK(WIFSTOPPED(state));
}

static void expect_still_stopped(pid_t pid)
{
    uint64_t incarnation;
    int state = 0;

    CHECK_EQ(0, waitpid(pid, &state, WNOHANG | WCONTINUED));
    OK(PtlExtPeerState(ni, target_id, &state, &incarnation));
    CHECK_EQ(PTL_EXT_STOPPED, state);
}

static void put_get_and_swap(pid_t pid)
{
    ptl_handle_eq_t queue = new_eq(64);
    ptl_handle_md_t put_md = bind(own_bytes, LENGTH, -1, PTL_RETAIN, queue);
    ptl_handle_md_t get_md = bind(own_bytes + 1024, LENGTH, -1, PTL_RETAIN, queue);

    memset(own_bytes, 0x22, LENGTH);
    OK(put_to(put_md, PTL_ACK_REQ, BITS, 0, 1));
    take(queue, PTL_EVENT_SEND_START);
    take(queue, PTL_EVENT_SEND_END);
    CHECK_EQ(LENGTH, take(queue, PTL_EVENT_ACK).mlength);
    OK(PtlGet(get_md, target_id, PORTAL, 0, BITS + 1, 0));
    take(queue, PTL_EVENT_REPLY_START);
    CHECK_EQ(PTL_NI_OK, take(queue, PTL_EVENT_REPLY_END).ni_fail_type);
    for (int i = 0; i < LENGTH; i++)
        CHECK_EQ(0x11, own_bytes[1024 + i]);
    memset(own_bytes + 1024, 0, LENGTH);
    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS + 2, 0, 2));
    take(queue, PTL_EVENT_SEND_START);
    take(queue, PTL_EVENT_SEND_END);
    take(queue, PTL_EVENT_REPLY_START);
    CHECK_EQ(PTL_NI_OK, take(queue, PTL_EVENT_REPLY_END).ni_fail_type);
    for (int i = 0; i < LENGTH; i++)
        CHECK_EQ(0x11, own_bytes[1024 + i]);
    expect_empty(queue);
    expect_still_stopped(pid);
}

static void serve_while_stopped(void (*target)(void))
{
    pid_t pid;

    open_interface(PTL_EXT_REF);
    pid = initiator_start(target);
    await_flag(0, 1);
    target_id = shared->id[1];
    kill(pid, SIGSTOP);
    await_stopped(pid);
    put_get_and_swap(pid);
    set_flag(1, 1);
    kill(pid, SIGCONT);
    CHECK_EQ(0, initiator_join(pid));
}

static void stopped_target_is_served(void)
{
    serve_while_stopped(be_stopped_anywhere);
}

static void stopped_waiter_is_served(void)
{
    serve_while_stopped(be_stopped_while_waiting);
}

/* Stopped in its own call, but outside the lock: at each such place in turn. */
static void be_stopped_in_a_call(void)
{
    ptl_handle_eq_t queue = new_eq(64);
    ptl_handle_me_t me;
    ptl_handle_md_t md = bind(own_bytes, LENGTH, -1, PTL_RETAIN, PTL_EQ_NONE);

    offer(queue);
    snic_step_hook = stop_at;
    target_id = own_id;
    OK(PtlPut(md, PTL_NO_ACK_REQ, own_id, PORTAL, 0, BITS + 9, 0, 0));
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, 99, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    CHECK(snic_step_hook == NULL);
    find_it_all(queue);
}

static void stopped_between_locks_is_served(void)
{
    static const char *const labels[] = {"unlock.after", "ptl.request.unlocked", "ptl.put.finish"};

    open_interface(PTL_EXT_REF);
    for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
        pid_t pid;

        set_flag(0, 0);
        stop_label = labels[i];
        pid = initiator_start(be_stopped_in_a_call);
        await_stopped(pid);
        target_id = shared->id[1];
        put_get_and_swap(pid);
        kill(pid, SIGCONT);
        CHECK_EQ(0, initiator_join(pid));
    }
}

/* ---- inside a lock ---- */

static void be_stopped_in_the_lock(void)
{
    ptl_handle_eq_t queue = new_eq(64);
    ptl_handle_me_t me;

    offer(queue);
    stop_label = "lock.acquired";
    snic_step_hook = stop_at;
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, 99, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    while (shared->flag[1] == 0)
        usleep(1000);
    expect_sound();
}

static int until_accepted(ptl_handle_md_t md)
{
    int code;

    do
        code = put_to(md, PTL_NO_ACK_REQ, BITS, 0, 7);
    while (code == PTL_NO_SPACE);
    return code;
}

static void stopped_target_with_its_lock(void)
{
    ptl_handle_md_t put_md, get_md;
    ptl_handle_eq_t queue;
    pid_t pid;

    open_interface(PTL_EXT_REF);
    queue = new_eq(64);
    pid = initiator_start(be_stopped_in_the_lock);
    await_stopped(pid);
    target_id = shared->id[1];
    put_md = bind(own_bytes, LENGTH, 2, PTL_RETAIN, queue);
    get_md = bind(own_bytes + 1024, LENGTH, -1, PTL_RETAIN, queue);
    /* Back pressure: nothing was begun, nothing is counted, nothing logged. */
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(PTL_NO_SPACE, put_to(put_md, PTL_ACK_REQ, BITS, 0, 1));
        CHECK_EQ(PTL_NO_SPACE, PtlGet(get_md, target_id, PORTAL, 0, BITS + 1, 0));
        CHECK_EQ(PTL_NO_SPACE, PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS + 2, 0, 2));
    }
    expect_empty(queue);
    expect_still_stopped(pid);
    kill(pid, SIGCONT);
    OK(until_accepted(put_md)); /* its threshold is still 2 */
    take(queue, PTL_EVENT_SEND_START);
    CHECK_EQ(1, take(queue, PTL_EVENT_SEND_END).md.threshold);
    set_flag(1, 1);
    CHECK_EQ(0, initiator_join(pid));
    expect_sound();
}

/* The same, and then it is killed: the others are told, and go on. */
static void stopped_target_is_killed(void)
{
    ptl_handle_md_t md;
    ptl_handle_eq_t queue;
    ptl_event_t event;
    pid_t pid;
    int code;

    open_interface(PTL_EXT_REF);
    queue = new_eq(64);
    pid = initiator_start(be_stopped_in_the_lock);
    await_stopped(pid);
    target_id = shared->id[1];
    md = bind(own_bytes, LENGTH, -1, PTL_RETAIN, queue);
    CHECK_EQ(PTL_NO_SPACE, put(md, PTL_NO_ACK_REQ));
    kill(pid, SIGKILL);
    CHECK_EQ(SIGKILL, initiator_join(pid));
    do
        code = put(md, PTL_NO_ACK_REQ);
    while (code == PTL_NO_SPACE);
    OK(code);
    take(queue, PTL_EVENT_SEND_START);
    event = take(queue, PTL_EVENT_SEND_END);
    CHECK(event.ni_fail_type != PTL_NI_OK);
    expect_sound();
}

/* A getput that is stopped between reading and writing: swaps, puts and gets of others wait, are
 * refused in bounded time, and go on when it is continued, or killed. */
static void i_stopped_getput(void)
{
    ptl_handle_md_t put_md = bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t get_md = bind(own_bytes + 8, 8, -1, PTL_RETAIN, PTL_EQ_NONE);

    stop_label = "ptl.getput.read";
    snic_step_hook = stop_at;
    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, 0, 0));
}

static void i_meets_the_getput(void)
{
    ptl_handle_md_t md = bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    int code;

    CHECK_EQ(PTL_NO_SPACE, put_to(md, PTL_NO_ACK_REQ, BITS, 0, 0));
    CHECK_EQ(PTL_NO_SPACE, get(md));
    set_flag(1, 1);
    do
        code = put(md, PTL_NO_ACK_REQ);
    while (code == PTL_NO_SPACE);
    OK(code);
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
}

static void meet_a_stopped_getput(int signal)
{
    ptl_handle_me_t me;
    pid_t stopped, other;

    open_interface(PTL_EXT_REF);
    post(bytes, 8, -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    stopped = initiator_start(i_stopped_getput);
    await_stopped(stopped);
    other = initiator_start(i_meets_the_getput);
    await_flag(1, 1);
    /* The target's own lock is free: it goes on with its own calls. */
    OK(PtlMEAttach(ni, PORTAL, ANY_ID, 1, 0, PTL_UNLINK, PTL_INS_AFTER, &me));
    kill(stopped, signal);
    CHECK_EQ(signal == SIGKILL ? SIGKILL : 0, initiator_join(stopped));
    CHECK_EQ(0, initiator_join(other));
    while (PtlExtReap(ni) > 0)
        ;
    expect_sound();
}

static void stopped_getput_goes_on(void)
{
    meet_a_stopped_getput(SIGCONT);
}

static void stopped_getput_is_killed(void)
{
    meet_a_stopped_getput(SIGKILL);
}

/* A put that is stopped while its bytes move: a getput of the same bytes is refused after a while,
 * one of other bytes passes. When the put is killed, the getput finds it out by itself: the target
 * calls nothing. */
static void i_stopped_put(void)
{
    ptl_handle_md_t md = bind(own_bytes, LENGTH, -1, PTL_RETAIN, PTL_EQ_NONE);

    stop_label = "ptl.put.copy";
    snic_step_hook = stop_at;
    OK(put(md, PTL_NO_ACK_REQ));
}

static void i_swaps_around_it(void)
{
    ptl_handle_md_t put_md = bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t get_md = bind(own_bytes + 8, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    int code;

    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, LENGTH, 0));
    CHECK_EQ(PTL_NO_SPACE, PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, LENGTH - 8, 0));
    set_flag(1, 1);
    await_flag(2, 1);
    do
        code = PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, LENGTH - 8, 0);
    while (code == PTL_NO_SPACE);
    OK(code);
    CHECK_EQ(PTL_EXT_DELIVERED, PtlExtLastOutcome());
    set_flag(3, 1);
}

static void getput_waits_for_moving_bytes(void)
{
    pid_t stopped, other;

    open_interface(PTL_EXT_REF);
    post(bytes, LENGTH + 8, -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    stopped = initiator_start(i_stopped_put);
    await_stopped(stopped);
    other = initiator_start(i_swaps_around_it);
    await_flag(1, 1);
    kill(stopped, SIGKILL);
    CHECK_EQ(SIGKILL, initiator_join(stopped));
    set_flag(2, 1);
    await_flag(3, 1);
    CHECK_EQ(0, initiator_join(other));
    expect_sound();
}

/* A getput that waits for such a put when the target closes: it was matched, but never accepted,
 * and nothing of it is completed. The put lets the target close when the getput has its answer. */
static void wait_while_it_moves(const char *label)
{
    if (strcmp(label, "ptl.put.copy") == 0) {
        set_flag(1, 1);
        await_flag(2, 1);
    }
}

static void i_put_slowly(void)
{
    ptl_handle_md_t md = bind(own_bytes, LENGTH, -1, PTL_RETAIN, PTL_EQ_NONE);

    snic_step_hook = wait_while_it_moves;
    OK(put(md, PTL_NO_ACK_REQ));
}

static void expect_only_to_wait(const char *label)
{
    if (strcmp(label, "ptl.getput.wait") == 0)
        set_flag(3, 1);
    CHECK(strcmp(label, "ptl.getput.told") != 0);
}

static void i_swap_until_it_closes(void)
{
    ptl_handle_md_t put_md = bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t get_md = bind(own_bytes + 8, 8, -1, PTL_RETAIN, PTL_EQ_NONE);

    snic_step_hook = expect_only_to_wait;
    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, 0, 0));
    CHECK_EQ(PTL_EXT_FAILED + PTL_EXT_FAIL_UNREACHABLE, PtlExtLastOutcome());
    set_flag(2, 1);
}

static void getput_waits_when_its_target_closes(void)
{
    pid_t moving, waiting;

    check_lock_timeout_ms = CHECK_PATIENT_MS;
    open_interface(PTL_EXT_REF);
    post(bytes, LENGTH, -1, BOTH | PTL_MD_MANAGE_REMOTE, PTL_EQ_NONE);
    moving = initiator_start(i_put_slowly);
    await_flag(1, 1);
    waiting = initiator_start(i_swap_until_it_closes);
    await_flag(3, 1);
    OK(PtlNIFini(ni));
    CHECK_EQ(0, initiator_join(waiting));
    CHECK_EQ(0, initiator_join(moving));
}

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"86", "stopped_target_is_served", stopped_target_is_served},
        {"86", "stopped_waiter_is_served", stopped_waiter_is_served},
        {"86", "stopped_between_locks_is_served", stopped_between_locks_is_served},
        {"", "stopped_target_with_its_lock", stopped_target_with_its_lock},
        {"", "stopped_target_is_killed", stopped_target_is_killed},
        {"", "stopped_getput_goes_on", stopped_getput_goes_on},
        {"", "stopped_getput_is_killed", stopped_getput_is_killed},
        {"", "getput_waits_for_moving_bytes", getput_waits_for_moving_bytes},
        {"", "getput_waits_when_its_target_closes", getput_waits_when_its_target_closes},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
