/* Datagrams (assertions 79 to 92). */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <signal.h>

static struct node a, b;
static uint8_t in_a[128], in_b[128];
static gni_post_state_t state;
static uint32_t pe, inst;

static void post(struct node *n, const char *text, uint8_t *in)
{
    OK(GNI_EpPostData(n->ep, (void *)(uintptr_t)text, (uint16_t)(strlen(text) + 1), in, 128));
}

static void expect(struct node *n, gni_post_state_t wanted)
{
    OK(GNI_EpPostDataTest(n->ep, &state, &pe, &inst));
    CHECK_EQ(wanted, state);
}

static void both_orders(void)
{
    pair_open(&a, &b, 0, 0);
    for (int round = 0; round < 4; round++) {
        struct node *first = round & 1 ? &b : &a, *second = round & 1 ? &a : &b;

        memset(in_a, 0, 128);
        memset(in_b, 0, 128);
        post(first, first == &a ? "from a" : "from b", first == &a ? in_a : in_b);
        expect(first, GNI_POST_PENDING);
        post(second, second == &a ? "from a" : "from b", second == &a ? in_a : in_b);
        expect(&a, GNI_POST_COMPLETED);
        CHECK_EQ(b.inst, inst);
        CHECK_EQ(b.pe, pe);
        expect(&b, GNI_POST_COMPLETED);
        CHECK_EQ(a.inst, inst);
        CHECK(strcmp((char *)in_a, "from b") == 0 && strcmp((char *)in_b, "from a") == 0);
        CODE(GNI_RC_NO_MATCH, GNI_EpPostDataTest(a.ep, &state, &pe, &inst));
    }
}

static gni_ep_handle_t open_endpoint(struct node *n)
{
    gni_ep_handle_t ep;

    OK(GNI_EpCreate(n->nic, NULL, &ep));
    return ep;
}

static void against_open(void)
{
    gni_ep_handle_t open;

    pair_open(&a, &b, 0, 0);
    open = open_endpoint(&b);
    for (int round = 0; round < 2; round++) {
        if (round == 0)
            OK(GNI_EpPostDataWId(open, "open", 5, in_b, 128, 17));
        post(&a, "hello", in_a);
        if (round == 1) { /* it was waiting there */
            CODE(GNI_RC_NO_MATCH, GNI_EpPostDataTestById(open, 17, &state, &pe, &inst));
            OK(GNI_EpPostDataWId(open, "open", 5, in_b, 128, 17));
        }
        OK(GNI_EpPostDataTestById(open, 17, &state, &pe, &inst));
        CHECK_EQ(GNI_POST_COMPLETED, state);
        CHECK_EQ(a.inst, inst);
        CHECK_EQ(a.pe, pe);
        CHECK(strcmp((char *)in_b, "hello") == 0);
        expect(&a, GNI_POST_COMPLETED);
        CHECK(strcmp((char *)in_a, "open") == 0);
    }
}

static void lengths(void)
{
    uint8_t big[129], back[128];

    pair_open(&a, &b, 0, 0);
    fill(big, sizeof(big), 3);
    CODE(GNI_RC_SIZE_ERROR, GNI_EpPostData(a.ep, big, 129, back, 128));
    OK(GNI_EpPostData(a.ep, big, 128, back, 128));
    OK(GNI_EpPostData(b.ep, NULL, 0, in_b, 128));
    OK(GNI_EpPostDataTest(b.ep, &state, &pe, &inst));
    CHECK(is_filled(in_b, 128, 3));
    OK(GNI_EpPostDataTest(a.ep, &state, &pe, &inst));
}

static void second_post(void)
{
    pair_open(&a, &b, 0, 0);
    post(&a, "one", in_a);
    CODE(GNI_RC_ERROR_RESOURCE, GNI_EpPostData(a.ep, in_a, 4, in_a, 128));
    post(&b, "two", in_b);
    CODE(GNI_RC_ERROR_RESOURCE, GNI_EpPostData(a.ep, in_a, 4, in_a, 128));
    expect(&a, GNI_POST_COMPLETED);
    OK(GNI_EpPostData(a.ep, in_a, 4, in_a, 128));
}

static void refusals(void)
{
    gni_ep_handle_t open;

    pair_open(&a, &b, 0, 0);
    open = open_endpoint(&a);
    CODE(GNI_RC_INVALID_PARAM, GNI_EpPostData(open, in_a, 4, in_a, 128));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpPostDataWId(a.ep, in_a, 4, in_a, 128, ~0ull));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpPostDataTest(open, &state, &pe, &inst));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpPostDataTestById(a.ep, ~0ull, &state, &pe, &inst));
    CODE(GNI_RC_NO_MATCH, GNI_EpPostDataTest(a.ep, &state, &pe, &inst));
}

static void small_buffer(void)
{
    pair_open(&a, &b, 0, 0);
    memset(in_a, 0, 128);
    OK(GNI_EpPostData(a.ep, "x", 2, in_a, 4));
    post(&b, "longer than four", in_b);
    CODE(GNI_RC_SIZE_ERROR, GNI_EpPostDataTest(a.ep, &state, &pe, &inst));
    CHECK(is_zero(in_a, 128));
    expect(&b, GNI_POST_COMPLETED);
}

static void probing(void)
{
    uint64_t id = 0;

    pair_open(&a, &b, 0, 0);
    CODE(GNI_RC_NO_MATCH, GNI_PostDataProbeById(a.nic, &id));
    OK(GNI_EpPostDataWId(a.ep, "a", 2, in_a, 128, 99));
    CODE(GNI_RC_NO_MATCH, GNI_PostDataProbeById(a.nic, &id));
    CODE(GNI_RC_TIMEOUT, GNI_PostdataProbeWaitById(a.nic, 20, &id));
    post(&b, "b", in_b);
    for (int i = 0; i < 3; i++) {
        OK(GNI_PostDataProbeById(a.nic, &id));
        CHECK_EQ(99, id);
    }
    OK(GNI_PostDataProbe(b.nic, &pe, &inst));
    CHECK_EQ(a.inst, inst);
    CODE(GNI_RC_NO_MATCH, GNI_PostDataProbeById(b.nic, &id)); /* posted without one */
    OK(GNI_EpPostDataTestById(a.ep, 99, &state, &pe, &inst));
    CODE(GNI_RC_NO_MATCH, GNI_PostDataProbeById(a.nic, &id));
}

static void in_posting_order(void)
{
    gni_ep_handle_t open;
    struct node c;
    uint8_t first[128], second[128];

    pair_open(&a, &b, 0, 0);
    node_open(&c, 3, 0, 0);
    OK(GNI_EpBind(c.ep, b.pe, b.inst));
    open = open_endpoint(&b);
    OK(GNI_EpPostDataWId(open, "1", 2, first, 128, 5));
    OK(GNI_EpPostDataWId(open, "2", 2, second, 128, 6));
    post(&c, "from c", in_a);
    post(&a, "from a", in_b);
    OK(GNI_EpPostDataTestById(open, 5, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    CHECK_EQ(c.inst, inst);
    CHECK(strcmp((char *)first, "from c") == 0);
    OK(GNI_EpPostDataTestById(open, 6, &state, &pe, &inst));
    CHECK_EQ(a.inst, inst);
    CHECK(strcmp((char *)second, "from a") == 0);
}

static void directed_wins(void)
{
    gni_ep_handle_t open;
    uint8_t in_open[128];

    pair_open(&a, &b, 0, 0);
    open = open_endpoint(&b);
    OK(GNI_EpPostDataWId(open, "open", 5, in_open, 128, 5));
    post(&b, "for a", in_b);
    /* b's own post finds a nothing at a; a's must not take the older open one. */
    post(&a, "for b", in_a);
    OK(GNI_EpPostDataTestById(open, 5, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_PENDING, state);
    expect(&b, GNI_POST_COMPLETED);
    expect(&a, GNI_POST_COMPLETED);
    CHECK(strcmp((char *)in_a, "for a") == 0);
}

/* The same while the peer is not there yet: its own post meets both. */
static void directed_wins_late(void)
{
    gni_ep_handle_t open;
    uint8_t in_open[128];

    node_open(&b, 2, 0, 0);
    OK(GNI_EpBind(b.ep, b.pe, 1));
    open = open_endpoint(&b);
    OK(GNI_EpPostDataWId(open, "open", 5, in_open, 128, 5));
    post(&b, "for a", in_b);
    node_open(&a, 1, 0, 0);
    OK(GNI_EpBind(a.ep, a.pe, 2));
    post(&a, "for b", in_a);
    expect(&a, GNI_POST_COMPLETED);
    CHECK(strcmp((char *)in_a, "for a") == 0);
    OK(GNI_EpPostDataTestById(open, 5, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_PENDING, state);
    expect(&b, GNI_POST_COMPLETED);
}

static void cancelling(void)
{
    gni_ep_handle_t open;

    pair_open(&a, &b, 0, 0);
    open = open_endpoint(&a);
    CODE(GNI_RC_NO_MATCH, GNI_EpPostDataCancelById(open, 5));
    OK(GNI_EpPostDataWId(open, "open", 5, in_a, 128, 5));
    CODE(GNI_RC_NOT_DONE, GNI_EpUnbind(open));
    OK(GNI_EpPostDataCancelById(open, 5));
    CODE(GNI_RC_NO_MATCH, GNI_EpPostDataTestById(open, 5, &state, &pe, &inst));
    CODE(GNI_RC_NO_MATCH, GNI_EpPostDataCancelById(open, 5));
    OK(GNI_EpUnbind(open));
    post(&a, "directed", in_a);
    OK(GNI_EpPostDataCancel(a.ep));
    expect(&a, GNI_POST_TERMINATED);
    CODE(GNI_RC_NO_MATCH, GNI_EpPostDataTest(a.ep, &state, &pe, &inst));
    post(&b, "later", in_b); /* nothing of a's is left there */
    expect(&b, GNI_POST_PENDING);
}

static void waiting(void)
{
    uint64_t began = now_ms();

    pair_open(&a, &b, 0, 0);
    OK(GNI_EpPostDataWId(a.ep, "a", 2, in_a, 128, 5));
    CODE(GNI_RC_INVALID_PARAM, GNI_EpPostDataWaitById(a.ep, 5, 0, &state, &pe, &inst));
    CODE(GNI_RC_TIMEOUT, GNI_EpPostDataWaitById(a.ep, 5, 50, &state, &pe, &inst));
    CHECK(now_ms() - began >= 49);
    CODE(GNI_RC_TIMEOUT, GNI_EpPostDataWait(a.ep, 5, &state, &pe, &inst));
}

/* ---- several processes ---- */

static void come_late(void)
{
    struct node me;

    sleep_ms(100);
    node_open(&me, 2, 0, 0);
    OK(GNI_EpBind(me.ep, me.pe, 1));
    post(&me, "late", in_b);
    OK(GNI_EpPostDataWait(me.ep, 30000, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    CHECK(strcmp((char *)in_b, "early") == 0);
    node_close(&me);
}

static void peer_comes_late(void)
{
    pid_t pid;

    pid = start(come_late);
    node_open(&a, 1, 0, 0);
    OK(GNI_EpBind(a.ep, a.pe, 2));
    post(&a, "early", in_a);
    OK(GNI_EpPostDataWait(a.ep, 30000, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    CHECK(strcmp((char *)in_a, "late") == 0);
    CHECK_EQ(0, join(pid));
}

/* Everybody with everybody, crossing: each pair exchanges exactly once a round. */
#define CROWD 4u
#define CROWD_ROUNDS 60u
static void crowd_member(void)
{
    uint32_t who = __atomic_fetch_add((uint32_t *)&shared->flag[3], 1, __ATOMIC_RELAXED);
    struct node me;
    gni_ep_handle_t ep[CROWD];
    uint8_t in[CROWD][128];

    node_attach(&me, who, COOKIE, 0);
    for (uint32_t i = 0; i < CROWD; i++) {
        OK(GNI_EpCreate(me.nic, NULL, &ep[i]));
        OK(GNI_EpBind(ep[i], me.pe, i));
    }
    for (uint32_t round = 0; round < CROWD_ROUNDS; round++) {
        uint32_t out[2] = {who, round};

        for (uint32_t i = 0; i < CROWD; i++)
            if (i != who)
                OK(GNI_EpPostData(ep[i], out, sizeof(out), in[i], 128));
        for (uint32_t i = 0; i < CROWD; i++) {
            if (i == who)
                continue;
            OK(GNI_EpPostDataWait(ep[i], 60000, &state, &pe, &inst));
            CHECK_EQ(GNI_POST_COMPLETED, state);
            memcpy(out, in[i], sizeof(out));
            CHECK(out[0] == i && out[1] == round);
            out[0] = who;
            out[1] = round;
        }
    }
    __atomic_fetch_add((uint32_t *)&shared->flag[4], 1, __ATOMIC_RELEASE);
    await_flag(4, CROWD);
    node_close(&me);
}

static void crossing(void)
{
    pid_t pid[CROWD];

    for (uint32_t i = 0; i < CROWD; i++)
        pid[i] = start(crowd_member);
    for (uint32_t i = 0; i < CROWD; i++)
        CHECK_EQ(0, join(pid[i]));
}

/* A thread that waits for datagrams keeps nobody else from posting. */
static void *wait_for_one(void *result)
{
    uint64_t id;

    *(gni_return_t *)result = GNI_PostdataProbeWaitById(a.nic, 30000, &id);
    return NULL;
}

static void waiter_holds_nothing(void)
{
    gni_post_descriptor_t d;
    gni_return_t result = GNI_RC_NOT_DONE;
    pthread_t thread;

    pair_open(&a, &b, 0, 0);
    CHECK(pthread_create(&thread, NULL, wait_for_one, &result) == 0);
    sleep_ms(20);
    for (int i = 0; i < 100; i++) {
        d = transaction(GNI_POST_FMA_PUT, &a, &b, 8);
        OK(post_and_wait(&a, &d));
    }
    OK(GNI_EpPostDataWId(a.ep, "a", 2, in_a, 128, 5));
    post(&b, "b", in_b);
    pthread_join(thread, NULL);
    CHECK_EQ(GNI_RC_SUCCESS, result);
}

/* A process that is killed after it posted, and one that is started in its place: what the first
 * one said is not taken for the word of the second. */
static void say(const char *text)
{
    node_open(&b, 2, 0, 0);
    OK(GNI_EpBind(b.ep, b.pe, 1));
    post(&b, text, in_b);
}

static void predecessor(void)
{
    say("from the first");
    raise(SIGKILL);
}

static void successor(void)
{
    say("from the second");
    set_flag(0, 1);
    OK(GNI_EpPostDataWait(b.ep, 30000, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    CHECK(strcmp((char *)in_b, "from a") == 0);
    await_flag(1, 1);
    node_close(&b);
}

static void started_again(void)
{
    pid_t pid;

    node_open(&a, 1, 0, 0);
    CHECK_EQ(SIGKILL, join(start(predecessor)));
    pid = start(successor);
    await_flag(0, 1);
    OK(GNI_EpBind(a.ep, a.pe, 2));
    post(&a, "from a", in_a);
    OK(GNI_EpPostDataWait(a.ep, 30000, &state, &pe, &inst));
    CHECK_EQ(GNI_POST_COMPLETED, state);
    CHECK(strcmp((char *)in_a, "from the second") == 0);
    set_flag(1, 1);
    CHECK_EQ(0, join(pid));
    node_close(&a);
}

static const struct check_case cases[] = {
    {"79", "both_orders", both_orders},
    {"79", "crossing", crossing},
    {"80", "against_open", against_open},
    {"81", "datagram_lengths", lengths},
    {"82", "second_post", second_post},
    {"83", "datagram_refusals", refusals},
    {"84", "small_buffer", small_buffer},
    {"85,86", "probing", probing},
    {"87", "in_posting_order", in_posting_order},
    {"88", "directed_wins", directed_wins},
    {"88", "directed_wins_late", directed_wins_late},
    {"89,90", "cancelling", cancelling},
    {"91", "datagram_waiting", waiting},
    {"92", "peer_comes_late", peer_comes_late},
    {"", "started_again", started_again},
    {"112", "waiter_holds_nothing", waiter_holds_nothing},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
