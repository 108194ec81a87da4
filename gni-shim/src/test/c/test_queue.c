/* Completion queues (assertions 34 to 47). */
#define _GNU_SOURCE
#include "check.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

static struct node a, b;

static void empty(void)
{
    gni_cq_entry_t entry;

    node_open(&a, 1, 0, 0);
    expect_empty(a.cq);
    expect_empty(a.dst);
    CODE(GNI_RC_INVALID_PARAM, GNI_CqGetEvent(NULL, &entry));
    CODE(GNI_RC_INVALID_PARAM, GNI_CqTestEvent(NULL));
}

static void test_does_not_consume(void)
{
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    CODE(GNI_RC_NOT_DONE, GNI_CqTestEvent(a.cq));
    CODE(GNI_RC_NOT_DONE, GNI_CqTestEvent(b.dst));
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    OK(GNI_PostFma(a.ep, &d));
    for (int i = 0; i < 3; i++) {
        OK(GNI_CqTestEvent(a.cq));
        OK(GNI_CqTestEvent(b.dst));
    }
    OK(GNI_CqGetEvent(a.cq, &entry));
    OK(GNI_CqGetEvent(b.dst, &entry));
    CODE(GNI_RC_NOT_DONE, GNI_CqTestEvent(b.dst));
}

static void wait_on_nonblocking(void)
{
    gni_cq_handle_t cq;
    gni_cq_entry_t entry;

    node_attach(&a, 1, COOKIE, 0);
    OK(GNI_CqCreate(a.nic, 8, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
    CODE(GNI_RC_ERROR_RESOURCE, GNI_CqWaitEvent(cq, 1, &entry));
    CODE(GNI_RC_INVALID_PARAM, GNI_CqInterruptMask(cq));
    CODE(GNI_RC_INVALID_PARAM, GNI_CqCreate(a.nic, 8, 0, GNI_CQ_EMULATED_INVALID, NULL, NULL, &cq));
}

static void wait_times_out(void)
{
    gni_cq_entry_t entry;
    uint64_t began;

    node_open(&a, 1, 0, 0);
    began = now_ms();
    CODE(GNI_RC_TIMEOUT, GNI_CqWaitEvent(a.dst, 70, &entry));
    CHECK(now_ms() - began >= 69); /* clocks of whole milliseconds */
}

static void *put_later(void *unused)
{
    static gni_post_descriptor_t d;

    sleep_ms(50);
    d = transaction(GNI_POST_FMA_PUT, &b, &a, 8);
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    OK(GNI_PostFma(b.ep, &d));
    return unused;
}

static void vector_wait(void)
{
    gni_cq_handle_t cqs[3];
    gni_cq_entry_t entry;
    uint32_t which = 99;
    pthread_t thread;

    pair_open(&a, &b, 0, 0);
    OK(GNI_CqCreate(a.nic, 8, 0, GNI_CQ_BLOCKING, NULL, NULL, &cqs[0]));
    cqs[1] = a.cq;
    cqs[2] = a.dst;
    CODE(GNI_RC_TIMEOUT, GNI_CqVectorWaitEvent(cqs, 3, 20, &entry, &which));
    CHECK(pthread_create(&thread, NULL, put_later, NULL) == 0);
    OK(GNI_CqVectorWaitEvent(cqs, 3, (uint64_t)-1, &entry, &which));
    CHECK_EQ(2, which);
    CHECK_EQ(b.inst, GNI_CQ_GET_REM_INST_ID(entry));
    expect_empty(a.dst);
    pthread_join(thread, NULL);
}

/* While one thread waits, another posts on the same NIC handle; what it posts wakes the first. */
static void *post_here(void *unused)
{
    static gni_post_descriptor_t d;

    sleep_ms(50);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    OK(GNI_PostFma(a.ep, &d));
    return unused;
}

static void vector_monitor(void)
{
    gni_cq_handle_t cqs[2];
    gni_cq_entry_t entry;
    uint32_t which = 99;
    pthread_t thread;

    pair_open(&a, &b, 0, 0);
    cqs[0] = a.dst;
    cqs[1] = a.cq;
    CHECK(pthread_create(&thread, NULL, post_here, NULL) == 0);
    OK(GNI_CqVectorMonitor(cqs, 2, 30000, &which));
    CHECK_EQ(1, which);
    OK(GNI_CqGetEvent(a.cq, &entry));
    pthread_join(thread, NULL);
}

static struct {
    int calls;
    uint64_t entry;
    void *context;
} seen;

static void handler(gni_cq_entry_t *entry, void *context)
{
    seen.calls++;
    seen.entry = *entry;
    seen.context = context;
}

static void handlers(void)
{
    gni_cq_handle_t cq;
    gni_ep_handle_t ep;
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;
    int context;

    pair_open(&a, &b, 0, 0);
    OK(GNI_CqCreate(a.nic, 8, 0, 0, handler, &context, &cq));
    OK(GNI_EpCreate(a.nic, cq, &ep));
    OK(GNI_EpBind(ep, b.pe, b.inst));
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    OK(GNI_PostFma(ep, &d));
    CHECK_EQ(0, seen.calls);
    OK(GNI_CqGetEvent(cq, &entry));
    CHECK_EQ(1, seen.calls);
    CHECK(seen.entry == entry && seen.context == &context);
    expect_empty(cq);
    CHECK_EQ(1, seen.calls);
}

static void capacity(void)
{
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 1);
    d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
    for (int i = 0; i < 64; i++)
        OK(GNI_PostFma(a.ep, &d));
    for (int i = 0; i < 64; i++)
        OK(GNI_CqGetEvent(b.dst, &entry));
    expect_empty(b.dst);
}

static void overrun(void)
{
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;
    int events = 0, overruns = 0;

    setenv("GNI_SHIM_CQ_EXACT", "1", 1);
    pair_open(&a, &b, 0, 0); /* 64 events */
    fill(a.memory, 100, 2);
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 100; i++) {
            d = transaction(GNI_POST_FMA_PUT, &a, &b, 1);
            d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
            d.local_addr += i;
            d.remote_addr += i;
            OK(GNI_PostFma(a.ep, &d));
        }
        for (gni_return_t code = GNI_RC_SUCCESS; code != GNI_RC_NOT_DONE;) {
            code = GNI_CqGetEvent(b.dst, &entry);
            if (code == GNI_RC_SUCCESS) {
                events++;
                CHECK(GNI_CQ_STATUS_OK(entry) && !GNI_CQ_OVERRUN(entry));
            } else if (code == GNI_RC_ERROR_RESOURCE) {
                overruns++;
                CHECK(GNI_CQ_OVERRUN(entry));
            }
        }
        CHECK(is_filled(b.memory, 100, 2));
        CHECK_EQ(round + 1, overruns);
    }
    CHECK_EQ(3 * 64, events);
    OK(GNI_PostFma(a.ep, &d));
    OK(GNI_CqGetEvent(b.dst, &entry));
}

/* Filled again before each fetch: what lies there comes out all the same. */
static void overrun_without_end(void)
{
    gni_post_descriptor_t d;
    gni_cq_entry_t entry;
    int events = 0, overruns = 0;

    setenv("GNI_SHIM_CQ_EXACT", "1", 1);
    pair_open(&a, &b, 0, 0); /* 64 events */
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 1);
    d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
    for (int i = 0; i < 65; i++)
        OK(GNI_PostFma(a.ep, &d));
    for (int i = 0; i < 100; i++) {
        gni_return_t code = GNI_CqGetEvent(b.dst, &entry);

        events += code == GNI_RC_SUCCESS;
        overruns += code == GNI_RC_ERROR_RESOURCE;
        for (int k = 0; k < 2; k++)
            OK(GNI_PostFma(a.ep, &d));
    }
    CHECK_EQ(50, events);
    CHECK_EQ(50, overruns);
}

static void request_pool(void)
{
    static gni_post_descriptor_t d[64], *done;
    gni_post_descriptor_t one_more;
    gni_cq_entry_t entry;
    int posted = 0;

    setenv("GNI_SHIM_CQ_EXACT", "1", 1);
    pair_open(&a, &b, 0, 0);
    for (; posted < 64; posted++) {
        d[posted] = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
        if (GNI_PostFma(a.ep, &d[posted]) != GNI_RC_SUCCESS)
            break;
    }
    CHECK_EQ(62, posted);
    one_more = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    CODE(GNI_RC_ERROR_RESOURCE, GNI_PostFma(a.ep, &one_more));
    one_more.cq_mode = GNI_CQMODE_SILENT;
    OK(GNI_PostFma(a.ep, &one_more)); /* takes no slot */
    one_more.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    OK(next_event(a.cq, &entry));
    CODE(GNI_RC_ERROR_RESOURCE, GNI_PostFma(a.ep, &one_more));
    OK(GNI_GetCompleted(a.cq, entry, &done));
    CHECK(done == &d[0]);
    OK(GNI_PostFma(a.ep, &one_more));
    CODE(GNI_RC_INVALID_PARAM, GNI_GetCompleted(a.cq, entry, &done));
}

static void error_text(void)
{
    gni_post_descriptor_t d, *done;
    gni_cq_entry_t good, bad;
    char text[256];
    uint32_t recoverable = 9;

    pair_open(&a, &b, 0, 0);
    d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
    OK(GNI_PostFma(a.ep, &d));
    OK(next_event(a.cq, &good));
    OK(GNI_GetCompleted(a.cq, good, &done));
    CHECK(GNI_CQ_STATUS_OK(good) && GNI_CQ_OVERRUN(good) == 0);
    CODE(GNI_RC_INVALID_STATE, GNI_CqErrorRecoverable(good, &recoverable));
    d.remote_addr -= 64;
    OK(GNI_PostFma(a.ep, &d));
    CODE(GNI_RC_TRANSACTION_ERROR, next_event(a.cq, &bad));
    CODE(GNI_RC_SIZE_ERROR, GNI_CqErrorStr(bad, text, 1));
    memset(text, 'x', sizeof(text));
    OK(GNI_CqErrorStr(bad, text, sizeof(text)));
    CHECK(memchr(text, '\0', sizeof(text)) != NULL && strstr(text, "MEM_BOUNDS") != NULL);
    OK(GNI_CqErrorRecoverable(bad, &recoverable));
    CHECK_EQ(0, recoverable);
}

static void fields(void)
{
    gni_cq_entry_t e = 0x7bcdef0123456789ull;

    GNI_CQ_SET_INST_ID(e, 0xabcdef);
    CHECK_EQ(0xabcdef, GNI_CQ_GET_INST_ID(e));
    GNI_CQ_SET_REM_INST_ID(e, 0xfedcba98);
    CHECK_EQ(0xfedcba98u, GNI_CQ_GET_REM_INST_ID(e));
    GNI_CQ_SET_TID(e, 0x2aaaaa);
    CHECK_EQ(0x2aaaaa, GNI_CQ_GET_TID(e));
    CHECK_EQ(0xfedcba98u, GNI_CQ_GET_REM_INST_ID(e));
    GNI_CQ_SET_MSG_ID(e, 0x13579b);
    CHECK_EQ(0x13579b, GNI_CQ_GET_MSG_ID(e));
    for (uint64_t type = 0; type < 4; type++) {
        GNI_CQ_SET_TYPE(e, type);
        CHECK_EQ(type, GNI_CQ_GET_TYPE(e));
        CHECK_EQ(0x2aaaaa, GNI_CQ_GET_TID(e));
    }
    CHECK(!GNI_CQ_STATUS_OK(e));
    GNI_CQ_CLR_STATUS(e);
    CHECK(GNI_CQ_STATUS_OK(e));
}

/* ---- completion channels ---- */

static int is_readable(int fd, int timeout_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, timeout_ms) == 1;
}

static void put_one(void)
{
    gni_post_descriptor_t d = transaction(GNI_POST_FMA_PUT, &b, &a, 8);

    d.cq_mode = GNI_CQMODE_REMOTE_EVENT;
    OK(GNI_PostFma(b.ep, &d));
}

static void channel(void)
{
    gni_comp_chan_handle_t chan;
    gni_cq_handle_t which = NULL;
    gni_cq_entry_t entry;
    int fd = -1;

    pair_open(&a, &b, 0, 0);
    OK(GNI_CompChanCreate(a.nic, &chan));
    OK(GNI_CompChanFd(chan, &fd));
    CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    CODE(GNI_RC_INVALID_PARAM, GNI_CqArmCompChan(&a.dst, 1));
    OK(GNI_CqAttachCompChan(a.dst, chan));
    CODE(GNI_RC_NOT_DONE, GNI_CompChanGetEvent(chan, &which));
    put_one(); /* not armed: nobody hears */
    CHECK(!is_readable(fd, 150));
    OK(GNI_CqGetEvent(a.dst, &entry));
    OK(GNI_CqArmCompChan(&a.dst, 1));
    CHECK(!is_readable(fd, 150));
    put_one();
    CHECK(is_readable(fd, 30000));
    OK(GNI_CompChanGetEvent(chan, &which));
    CHECK(which == a.dst);
    CODE(GNI_RC_NOT_DONE, GNI_CompChanGetEvent(chan, &which));
    OK(GNI_CqGetEvent(a.dst, &entry));
    put_one(); /* armed once only */
    CHECK(!is_readable(fd, 150));
    OK(GNI_CqArmCompChan(&a.dst, 1)); /* its event is there already */
    CHECK(is_readable(fd, 0));
    CODE(GNI_RC_ERROR_RESOURCE, GNI_CompChanDestroy(chan));
    OK(GNI_MemDeregister(a.nic, &a.handle));
    OK(GNI_CqDestroy(a.dst));
    OK(GNI_CompChanDestroy(chan));
    CODE(GNI_RC_INVALID_PARAM, GNI_CompChanDestroy(chan));
}

static const struct check_case cases[] = {
    {"34", "empty_queue", empty},
    {"35", "test_does_not_consume", test_does_not_consume},
    {"36", "wait_on_nonblocking", wait_on_nonblocking},
    {"37", "wait_times_out", wait_times_out},
    {"38", "vector_wait", vector_wait},
    {"39,112", "vector_monitor", vector_monitor},
    {"40", "handlers", handlers},
    {"41", "capacity", capacity},
    {"42", "overrun", overrun},
    {"", "overrun_without_end", overrun_without_end},
    {"43", "request_pool", request_pool},
    {"44,45,46", "error_text", error_text},
    {"47", "fields", fields},
    {"111", "channel", channel},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
