/* Event queues, PtlMDUpdate, getput, progress and robustness (assertions 57 to 61, 70 to 92). */
#include "check.h"

#include <sched.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint8_t bytes[1 << 20];
static uint8_t own_bytes[1 << 20];
static ptl_handle_eq_t eq;

static void begin(void)
{
    open_interface(PTL_EXT_REF);
    eq = new_eq(64);
}

static uint64_t now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* number[0] puts of number[1] bytes, hdr_data counting from 0. */
static void i_puts(void)
{
    ptl_handle_md_t md =
        bind(own_bytes, shared->number[1], PTL_MD_THRESH_INF, PTL_RETAIN, PTL_EQ_NONE);

    for (uint64_t i = 0; i < shared->number[0]; i++)
        OK(put_to(md, PTL_NO_ACK_REQ, BITS, 0, i));
}

static void puts_of(uint64_t count, uint64_t length)
{
    shared->number[0] = count;
    shared->number[1] = length;
    initiator_run(i_puts);
}

/* ---- event queues ---- */

static void empty_and_freed(void)
{
    ptl_event_t event;
    ptl_handle_eq_t none = 0;

    begin();
    CHECK_EQ(PTL_EQ_EMPTY, PtlEQGet(eq, &event));
    OK(PtlEQFree(eq));
    CHECK_EQ(PTL_EQ_INVALID, PtlEQGet(eq, &event));
    CHECK_EQ(PTL_EQ_INVALID, PtlEQWait(eq, &event));
    CHECK_EQ(PTL_EQ_INVALID, PtlEQFree(eq));
    OK(PtlEQAlloc(ni, 0, PTL_EQ_HANDLER_NONE, &none));
    CHECK_EQ(PTL_EQ_NONE, none);
    CHECK_EQ(PTL_NO_SPACE, PtlEQAlloc(ni, 1ull << 40, PTL_EQ_HANDLER_NONE, &none));
    CHECK_EQ(PTL_NO_SPACE, PtlEQAlloc(ni, 1 << 19, PTL_EQ_HANDLER_NONE, &none));
}

static void i_put_late(void)
{
    const struct timespec pause = {.tv_nsec = 30000000};

    nanosleep(&pause, NULL); /* the target is most likely asleep by then; either way must work */
    shared->number[0] = 1;
    shared->number[1] = 8;
    i_puts();
}

static void wait_blocks(void)
{
    ptl_event_t event;
    pid_t pid;

    begin();
    post(bytes, 64, -1, PTL_MD_OP_PUT, eq);
    pid = initiator_start(i_put_late);
    OK(PtlEQWait(eq, &event));
    CHECK_EQ(PTL_EVENT_PUT_START, event.type);
    OK(PtlEQWait(eq, &event));
    CHECK_EQ(PTL_EVENT_PUT_END, event.type);
    CHECK_EQ(0, initiator_join(pid));
}

static void poll_times_out(void)
{
    ptl_event_t event;
    int which = 9;
    uint64_t before;

    begin();
    before = now_ms();
    CHECK_EQ(PTL_EQ_EMPTY, PtlEQPoll(&eq, 1, 50, &event, &which));
    CHECK(now_ms() - before >= 49);
    CHECK_EQ(PTL_EQ_EMPTY, PtlEQPoll(&eq, 1, 0, &event, &which));
}

static void poll_order(void)
{
    ptl_handle_eq_t both[2];
    ptl_event_t event;
    int which = 9;

    begin();
    both[0] = eq;
    both[1] = new_eq(16);
    post_at(PORTAL, BITS,
            make_md(bytes, 64, 1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, both[1]), PTL_RETAIN,
            NULL);
    puts_of(1, 4);
    OK(PtlEQPoll(both, 2, 1000, &event, &which));
    CHECK_EQ(1, which);
    post(bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, both[0]);
    puts_of(1, 4);
    post_at(PORTAL, BITS + 1, make_md(bytes, 64, -1, BOTH, both[1]), PTL_RETAIN, NULL);
    target_id = own_id;
    OK(put_to(bind(own_bytes, 4, -1, PTL_RETAIN, PTL_EQ_NONE), PTL_NO_ACK_REQ, BITS + 1, 0, 0));
    OK(PtlEQPoll(both, 2, 0, &event, &which));
    CHECK_EQ(0, which);
    OK(PtlEQPoll(both, 2, 0, &event, &which));
    CHECK_EQ(1, which);
}

static void poll_arguments(void)
{
    ptl_handle_ni_t first = 0;
    ptl_handle_eq_t mixed[2];
    ptl_event_t event;
    int which = 9;

    begin();
    first = ni;
    mixed[0] = eq;
    mixed[1] = PTL_INVALID_HANDLE;
    CHECK_EQ(PTL_EQ_INVALID, PtlEQPoll(mixed, 2, 0, &event, &which));
    CHECK_EQ(1, which);
    CHECK_EQ(PTL_EQ_INVALID, PtlEQPoll(mixed, 0, 0, &event, &which));
    open_interface(PTL_EXT_REF);
    CHECK(first != ni);
    mixed[1] = new_eq(4);
    CHECK_EQ(PTL_EQ_INVALID, PtlEQPoll(mixed, 2, 0, &event, &which));
    CHECK_EQ(PTL_MD_ILLEGAL,
             PtlMDBind(first, make_md(bytes, 4, -1, 0, mixed[1]), PTL_RETAIN, &mixed[0]));
}

static void overflow(void)
{
    ptl_handle_eq_t small;
    ptl_event_t event;
    uint32_t sequence = 0;
    int dropped = 0;

    begin();
    small = new_eq(4);
    post(bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, small);
    puts_of(6, 4);
    for (uint64_t i = 2; i < 6; i++) {
        int code = PtlEQGet(small, &event);

        CHECK(code == PTL_OK || code == PTL_EQ_DROPPED);
        CHECK_EQ(i == 2, code == PTL_EQ_DROPPED);
        dropped += code == PTL_EQ_DROPPED;
        CHECK_EQ(i, event.hdr_data);
        if (i > 2)
            CHECK_EQ(sequence + 1, event.sequence);
        sequence = event.sequence;
    }
    CHECK_EQ(1, dropped);
    expect_empty(small);
    puts_of(1, 4);
    CHECK_EQ(sequence + 1, take(small, PTL_EVENT_PUT_END).sequence);
    CHECK_EQ(7, status(PTL_SR_RECV_COUNT));
    expect_sound();
}

static void sequence_wraps(void)
{
    ptl_handle_eq_t small;
    uint32_t last = 0;

    begin();
    small = new_eq(8);
    post(bytes, sizeof(bytes), -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, small);
    for (int i = 0; i < 20; i++) {
        ptl_event_t event;

        if (i % 5 == 0)
            puts_of(5, 4);
        event = take(small, PTL_EVENT_PUT_END);
        CHECK_EQ(i == 0 ? UINT32_MAX - 7 : (uint32_t)(last + 1), event.sequence);
        last = event.sequence;
    }
}

static int handled;
static ptl_event_t handled_event;

static void handler(ptl_event_t *event)
{
    handled++;
    handled_event = *event;
}

static void handler_runs_once(void)
{
    ptl_handle_eq_t own;
    ptl_event_t event;
    int which;

    begin();
    OK(PtlEQAlloc(ni, 16, handler, &own));
    post(bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, own);
    puts_of(3, 4);
    OK(PtlEQGet(own, &event));
    CHECK_EQ(1, handled);
    CHECK_EQ(0, handled_event.hdr_data);
    OK(PtlEQWait(own, &event));
    OK(PtlEQPoll(&own, 1, 0, &event, &which));
    CHECK_EQ(3, handled);
    CHECK_EQ(2, handled_event.hdr_data);
    CHECK_EQ(PTL_EQ_EMPTY, PtlEQGet(own, &event));
    CHECK_EQ(3, handled);
}

static ptl_handle_eq_t waited;
static _Atomic int woken, wait_code;

static void *waiter(void *unused)
{
    ptl_event_t event;

    (void)unused;
    wait_code = PtlEQWait(waited, &event);
    woken++;
    return NULL;
}

static void await_woken(int count)
{
    const struct timespec pause = {.tv_nsec = 100000};

    while (woken < count)
        nanosleep(&pause, NULL);
}

static void one_event_wakes_one(void)
{
    pthread_t threads[2];
    const struct timespec pause = {.tv_nsec = 20000000};

    begin();
    waited = eq;
    post(bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, waiter, NULL);
    puts_of(1, 4);
    await_woken(1);
    nanosleep(&pause, NULL); /* gives a wrongly woken second waiter the time to return */
    CHECK_EQ(1, woken);
    puts_of(1, 4);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(2, woken);
    expect_empty(eq);
}

static void fini_wakes_waiters(void)
{
    pthread_t thread;
    const struct timespec pause = {.tv_nsec = 20000000};

    begin();
    waited = eq;
    post(bytes, 64, -1, PTL_MD_OP_PUT, eq);
    pthread_create(&thread, NULL, waiter, NULL);
    nanosleep(&pause, NULL); /* the waiter sleeps by then, or comes to a closed interface */
    OK(PtlNIFini(ni));
    pthread_join(thread, NULL);
    CHECK_EQ(PTL_EQ_INVALID, wait_code);
}

static void freeing_wakes_waiters(void)
{
    pthread_t thread;
    const struct timespec pause = {.tv_nsec = 20000000};

    begin();
    waited = eq;
    pthread_create(&thread, NULL, waiter, NULL);
    nanosleep(&pause, NULL);
    OK(PtlEQFree(eq));
    pthread_join(thread, NULL);
    CHECK_EQ(PTL_EQ_INVALID, wait_code);
}

static void i_patterns(void)
{
    ptl_handle_eq_t own = new_eq(16);
    ptl_handle_md_t md = bind(own_bytes, 65536, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t reply = bind(own_bytes, 65536, -1, PTL_RETAIN, own);

    for (int i = 1; i <= 20; i++) {
        memset(own_bytes, i, 65536);
        OK(put_to(md, PTL_NO_ACK_REQ, BITS, 0, (uint64_t)i));
        await_flag(0, (uint32_t)i);
        memset(own_bytes, 0, 65536);
        OK(PtlGet(reply, target_id, PORTAL, 0, BITS, 0));
        take(own, PTL_EVENT_REPLY_START);
        take(own, PTL_EVENT_REPLY_END);
        for (int k = 0; k < 65536; k++)
            CHECK_EQ(i, own_bytes[k]);
    }
}

static void data_is_there_with_the_event(void)
{
    pid_t pid;

    begin();
    post(bytes, 65536, -1, BOTH | PTL_MD_MANAGE_REMOTE | PTL_MD_EVENT_START_DISABLE, eq);
    pid = initiator_start(i_patterns);
    for (int i = 1; i <= 20; i++) {
        ptl_event_t event;

        do
            OK(PtlEQWait(eq, &event));
        while (event.type != PTL_EVENT_PUT_END);
        CHECK_EQ(i, event.hdr_data);
        for (int k = 0; k < 65536; k++)
            CHECK_EQ(i, bytes[k]);
        set_flag(0, (uint32_t)i);
    }
    CHECK_EQ(0, initiator_join(pid));
}

/* ---- update ---- */

static void update_needs_an_empty_queue(void)
{
    ptl_handle_md_t md;
    ptl_md_t update, old = {0};

    begin();
    md = post(bytes, 64, 10, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    puts_of(1, 4);
    update = make_md(bytes, 64, 5, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    CHECK_EQ(PTL_MD_NO_UPDATE, PtlMDUpdate(md, &old, &update, eq));
    CHECK_EQ(9, old.threshold);
    CHECK_EQ(64, old.length);
    puts_of(1, 4);
    CHECK_EQ(0, take(eq, PTL_EVENT_PUT_END).offset);
    CHECK_EQ(4, take(eq, PTL_EVENT_PUT_END).offset);
    OK(PtlMDUpdate(md, NULL, &update, eq));
    puts_of(1, 4);
    CHECK_EQ(0, take(eq, PTL_EVENT_PUT_END).offset);
    OK(PtlMDUpdate(md, &old, NULL, PTL_EQ_NONE));
    CHECK_EQ(4, old.threshold);
}

static void update_without_a_queue(void)
{
    ptl_handle_md_t md;
    ptl_md_t update;

    begin();
    md = post(bytes, 64, -1, PTL_MD_OP_PUT, eq);
    puts_of(1, 4);
    update = make_md(bytes, 32, -1, PTL_MD_OP_PUT, PTL_EQ_NONE);
    OK(PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
    puts_of(1, 4);
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    expect_empty(eq);
}

static void bad_updates(void)
{
    ptl_handle_md_t md;
    ptl_md_t update;

    begin();
    md = post(bytes, 64, -1, PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE, eq);
    update = make_md(NULL, 64, -1, PTL_MD_OP_PUT, eq);
    CHECK_EQ(PTL_MD_ILLEGAL, PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
    update = make_md(bytes, 64, -1, PTL_MD_OP_PUT, 0x00330001);
    CHECK_EQ(PTL_EQ_INVALID, PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
    update = make_md(bytes, 64, -1, PTL_MD_OP_PUT, eq);
    CHECK_EQ(PTL_EQ_INVALID, PtlMDUpdate(md, NULL, &update, 0x00330001));
    puts_of(1, 4);
    take(eq, PTL_EVENT_PUT_END);
    OK(PtlMDUnlink(md));
    CHECK_EQ(PTL_MD_INVALID, PtlMDUpdate(md, NULL, &update, PTL_EQ_NONE));
}

static void i_until_told(void)
{
    ptl_handle_md_t md = bind(own_bytes, 4096, -1, PTL_RETAIN, PTL_EQ_NONE);

    for (uint64_t i = 1; shared->flag[0] == 0; i++) {
        memset(own_bytes, (int)(i % 255) + 1, 4096);
        OK(put_to(md, PTL_NO_ACK_REQ, BITS, 0, i));
    }
}

static void update_is_never_half(void)
{
    ptl_handle_md_t md;
    ptl_md_t update[2];
    ptl_event_t event;
    int updates = 0, at = 0;
    pid_t pid;

    begin();
    for (int i = 0; i < 2; i++)
        update[i] = make_md(bytes + i * 65536, 8192, -1,
                            PTL_MD_OP_PUT | PTL_MD_EVENT_START_DISABLE | PTL_MD_MANAGE_REMOTE, eq);
    OK(PtlEQFree(eq));
    eq = new_eq(8192);
    update[0].eq_handle = update[1].eq_handle = eq;
    md = post_at(PORTAL, BITS, update[0], PTL_RETAIN, NULL);
    pid = initiator_start(i_until_told);
    while (updates < 200) {
        int code = PtlEQGet(eq, &event);

        if (code == PTL_OK) {
            CHECK_EQ((uintptr_t)update[at].start, (uintptr_t)event.md.start);
            CHECK_EQ(4096, event.mlength);
            continue;
        }
        CHECK_EQ(PTL_EQ_EMPTY, code);
        code = PtlMDUpdate(md, NULL, &update[1 - at], eq);
        CHECK(code == PTL_OK || code == PTL_MD_NO_UPDATE);
        if (code == PTL_OK) {
            /* From here on everything lands in the other region. */
            at = 1 - at;
            updates++;
        }
    }
    set_flag(0, 1);
    CHECK_EQ(0, initiator_join(pid));
    expect_sound();
}

/* ---- getput ---- */

static void i_getput(void)
{
    ptl_handle_eq_t own = new_eq(16);
    uint8_t new_bytes[8] = {1, 2, 3, 4, 5, 6, 7, 8}, old_bytes[8] = {0}, long_bytes[65];
    ptl_handle_md_t put_md = bind(new_bytes, 8, -1, PTL_RETAIN, own);
    ptl_handle_md_t get_md = bind(old_bytes, 8, 1, PTL_UNLINK, own);
    ptl_handle_md_t too_long = bind(long_bytes, 65, -1, PTL_RETAIN, own);

    CHECK_EQ(PTL_MD_ILLEGAL, PtlGetPut(get_md, too_long, target_id, PORTAL, 0, BITS, 0, 0));
    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS + 1, 0, 0));
    CHECK_EQ(PTL_EXT_DROPPED, PtlExtLastOutcome());
    OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS + 2, 0, 0));
    CHECK_EQ(PTL_EXT_DROPPED, PtlExtLastOutcome());
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

/* Takes the token (non-zero) out of the word by swapping in 0, increments a count, puts it back. */
static void i_lock_rounds(void)
{
    uint64_t zero = 0, token = 0;
    ptl_handle_md_t put_md = bind(&zero, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t get_md = bind(&token, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t token_md = bind(&token, 8, -1, PTL_RETAIN, PTL_EQ_NONE);
    ptl_handle_md_t scrap_md = bind(own_bytes, 8, -1, PTL_RETAIN, PTL_EQ_NONE);

    for (int i = 0; i < 2500; i++) {
        for (;;) {
            OK(PtlGetPut(get_md, put_md, target_id, PORTAL, 0, BITS, 0, 0));
            if (token != 0)
                break;
            sched_yield(); /* who has the token may need this processor */
        }
        shared->number[0]++; /* not atomic: the token protects it */
        OK(PtlGetPut(scrap_md, token_md, target_id, PORTAL, 0, BITS, 0, 0));
    }
}

static void getput_is_a_lock(void)
{
    pid_t pids[4];
    uint64_t *word = (uint64_t *)(void *)bytes;

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

/* ---- progress and robustness ---- */

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
    CHECK_EQ(PTL_EXT_FAIL_UNREACHABLE, event.ni_fail_type);
    OK(get(md));
    expect_empty(eq);
    post(bytes, 64, -1, BOTH, eq);
    target_id = own_id;
    OK(put(md, PTL_NO_ACK_REQ));
    take(eq, PTL_EVENT_PUT_START);
    take(eq, PTL_EVENT_PUT_END);
    target_id.pid = PTL_PID_ANY;
    CHECK_EQ(PTL_PROCESS_INVALID, put(md, PTL_NO_ACK_REQ));
}

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
    for (int i = 0; i < 10000 && !failed; i++) {
        if (i == 20)
            kill(pid, SIGKILL);
        OK(put(md, PTL_NO_ACK_REQ));
        take(eq, PTL_EVENT_SEND_START);
        event = take(eq, PTL_EVENT_SEND_END);
        failed = event.ni_fail_type != PTL_NI_OK;
    }
    CHECK(failed);
    CHECK_EQ(SIGKILL, initiator_join(pid));
    expect_sound();
}

static void many_initiators(void)
{
    pid_t pids[64];

    begin();
    post(bytes, 64 * 1000 * 8, -1, PTL_MD_OP_PUT, PTL_EQ_NONE);
    shared->number[0] = 1000;
    shared->number[1] = 8;
    memset(own_bytes, 1, 8);
    for (int i = 0; i < 64; i++)
        pids[i] = initiator_start(i_puts);
    for (int i = 0; i < 64; i++)
        CHECK_EQ(0, initiator_join(pids[i]));
    for (int i = 0; i < 64 * 1000 * 8; i++)
        CHECK_EQ(1, bytes[i]);
    CHECK_EQ(0, bytes[64 * 1000 * 8]);
    CHECK_EQ(64000, status(PTL_SR_RECV_COUNT));
    CHECK_EQ(0, status(PTL_SR_DROP_COUNT));
    expect_sound();
}

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

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"57,58,59", "getput_swaps", getput_swaps, NULL},
        {"60", "getput_is_a_lock", getput_is_a_lock, NULL},
        {"61,92", "late_reply_is_dropped", late_reply_is_dropped, NULL},
        {"70,72", "update_needs_an_empty_queue", update_needs_an_empty_queue, NULL},
        {"71", "update_without_a_queue", update_without_a_queue, NULL},
        {"73", "update_is_never_half", update_is_never_half, NULL},
        {"74,75", "bad_updates", bad_updates, NULL},
        {"76", "empty_and_freed", empty_and_freed, NULL},
        {"77", "wait_blocks", wait_blocks, NULL},
        {"78", "poll_times_out", poll_times_out, NULL},
        {"79", "poll_order", poll_order, NULL},
        {"80", "poll_arguments", poll_arguments, NULL},
        {"81", "overflow", overflow, NULL},
        {"82", "one_event_wakes_one", one_event_wakes_one, NULL},
        {"83", "sequence_wraps", sequence_wraps, NULL},
        {"84", "handler_runs_once", handler_runs_once, NULL},
        {"85", "data_is_there_with_the_event", data_is_there_with_the_event, NULL},
        {"86", "application_bypass", application_bypass, NULL},
        {"87", "unreachable_target", unreachable_target, NULL},
        {"88", "target_dies", target_dies, NULL},
        {"89", "many_initiators", many_initiators, NULL},
        {"90", "busy_descriptor_stays", busy_descriptor_stays, NULL},
        {"91", "fini_wakes_waiters", fini_wakes_waiters, NULL},
        {"91", "freeing_wakes_waiters", freeing_wakes_waiters, NULL},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
