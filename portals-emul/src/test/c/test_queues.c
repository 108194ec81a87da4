/* Event queues (assertions 76 to 85, 91). */
#include "deliver.h"

#include <pthread.h>
#include <time.h>

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
    OURS(OK(PtlEQAlloc(ni, 0, PTL_EQ_HANDLER_NONE, &none)));
    OURS(CHECK_EQ(PTL_EQ_NONE, none));
    OURS(CHECK_EQ(PTL_NO_SPACE, PtlEQAlloc(ni, 1ull << 40, PTL_EQ_HANDLER_NONE, &none)));
    OURS(CHECK_EQ(PTL_NO_SPACE, PtlEQAlloc(ni, 1 << 19, PTL_EQ_HANDLER_NONE, &none)));
    (void)none;
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
    nic_settle();
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
    OURS(CHECK_EQ(1, which));
    CHECK_EQ(PTL_EQ_INVALID, PtlEQPoll(mixed, 0, 0, &event, &which));
#ifndef PORTALS_STANDARD /* a process has one interface there */
    open_interface(PTL_EXT_REF);
    CHECK(first != ni);
    mixed[1] = new_eq(4);
    CHECK_EQ(PTL_EQ_INVALID, PtlEQPoll(mixed, 2, 0, &event, &which));
    CHECK_EQ(PTL_MD_ILLEGAL,
             PtlMDBind(first, make_md(bytes, 4, -1, 0, mixed[1]), PTL_RETAIN, &mixed[0]));
#else
    (void)first;
#endif
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
    expect_status(PTL_SR_RECV_COUNT, 7);
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
        /* This library's queues begin where the number soon wraps. */
        if (i == 0)
            OURS(CHECK_EQ(UINT32_MAX - 7, event.sequence));
        else
            CHECK_EQ((uint32_t)(last + 1), event.sequence);
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

int main(int argc, char **argv)
{
    static const struct check_case cases[] = {
        {"76", "empty_and_freed", empty_and_freed},
        {"77", "wait_blocks", wait_blocks},
        {"78", "poll_times_out", poll_times_out},
        {"79", "poll_order", poll_order},
        {"80", "poll_arguments", poll_arguments},
        {"81", "overflow", overflow},
        {"82", "one_event_wakes_one", one_event_wakes_one},
        {"83", "sequence_wraps", sequence_wraps},
        {"84", "handler_runs_once", handler_runs_once},
        {"85", "data_is_there_with_the_event", data_is_there_with_the_event},
        {"91", "fini_wakes_waiters", fini_wakes_waiters},
        {"91", "freeing_wakes_waiters", freeing_wakes_waiters},
    };

    return check_main(cases, (int)(sizeof(cases) / sizeof(cases[0])), argc, argv);
}
