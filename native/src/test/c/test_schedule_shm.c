/* Small stories of two connected ends in every order of their steps: messages, the ends of a
 * connection. */
#include "every_order.h"
#include "shm_open.h"
#include "shm_layout.h"
#include <errno.h>

/* ---- messages ---- */

static struct link {
    shm_t *a, *b;
    int64_t ab, ba;
    int64_t result[2];
    uint64_t sum;
    int count;
} link_;

static shm_t *open_shm(const char *name)
{
    shm_t *s = open_shm_with(name, 1, 64, 3, 1000000000000ull);
    shm_listen(s);
    return s;
}

static void await_event(shm_t *s, shm_event_t *e, uint32_t type)
{
    for (int i = 0; i < 1000000; i++)
        if (shm_poll(s, e, 1) == 1) {
            CHECK_EQ(e->type, type);
            return;
        }
    test_fail(__FILE__, __LINE__, "no event %u", type);
}

static void connect_pair(void)
{
    shm_event_t e;
    link_.ab = shm_connect(link_.a, "b", 0, NULL, 0, 0, -1, why, sizeof why);
    CHECK(link_.ab > 0);
    await_event(link_.b, &e, SHM_EVENT_CONNECT_REQUEST);
    link_.ba = e.connection;
}

static void accept_pair(void)
{
    shm_event_t e;
    CHECK_EQ(shm_accept(link_.b, link_.ba, 0), 0);
    await_event(link_.a, &e, SHM_EVENT_CONNECTED);
}

#define MESSAGES 2
static void send_actor(void *argument)
{
    (void)argument;
    for (uint64_t i = 1; i <= MESSAGES; i++) {
        uint64_t words[4] = {i, i, i, i};
        while ((link_.result[0] = shm_send(link_.a, link_.ab, words, sizeof words)) == -EAGAIN)
            hook("test.retry");
        if (link_.result[0] != 0)
            return;
    }
}

static void receive_actor(void *argument)
{
    shm_event_t e;
    (void)argument;
    link_.result[1] = 0;
    for (uint64_t i = 1; i <= MESSAGES; i++) {
        while (shm_poll(link_.b, &e, 1) == 0)
            hook("test.retry");
        const uint64_t *w = e.data;
        if (e.type != SHM_EVENT_MESSAGE || e.length != 32 || w[0] != i || w[3] != i)
            link_.result[1] = -1;
        hook("test.reading");
        if (w[0] != i || w[3] != i)
            link_.result[1] = -2; /* overwritten before it was released */
        shm_release(link_.b, e.token);
    }
}

static void no_prepare(void)
{
}

static void messages_check(void)
{
    CHECK_EQ(link_.result[0], 0);
    CHECK_EQ(link_.result[1], 0);
}

static void send_against_poll(void)
{
    static const struct story s = {no_prepare, send_actor, receive_actor, messages_check, 100};
    link_.a = open_shm("a");
    link_.b = open_shm("b");
    connect_pair();
    accept_pair();
    explore(&s);
    shm_close(link_.a);
    shm_close(link_.b);
}

/* ---- the ends of a connection ---- */

static void disconnect_a(void *argument)
{
    (void)argument;
    link_.result[0] = shm_disconnect(link_.a, link_.ab);
}

static void disconnect_b(void *argument)
{
    (void)argument;
    link_.result[1] = shm_disconnect(link_.b, link_.ba);
}

static void accept_b(void *argument)
{
    (void)argument;
    link_.result[1] = shm_accept(link_.b, link_.ba, 0);
}

/* Every record is free again, and nobody is left with half a connection. */
static void records_check(void)
{
    shm_event_t e;
    shm_t *both[2] = {link_.a, link_.b};
    for (int i = 0; i < 4; i++) {
        shm_t *s = both[i & 1];
        while (shm_poll(s, &e, 1) == 1)
            if (e.type != SHM_EVENT_DISCONNECTED)
                test_fail(__FILE__, __LINE__, "event %u", e.type);
    }
    for (int i = 0; i < 2; i++) {
        struct shm_area *area = snic_area(shm_nic(both[i]));
        struct shm_connection *r =
            (struct shm_connection *)((uint8_t *)area + area->connections_offset);
        for (uint32_t k = 0; k < area->connections_max; k++)
            if (SHM_PHASE(atomic_load(&r[k].control)) != SHM_FREE)
                test_fail(__FILE__, __LINE__, "%s: record %u is %llx", i ? "b" : "a", k,
                          (unsigned long long)atomic_load(&r[k].control));
    }
}

static void open_prepare(void)
{
    connect_pair();
    accept_pair();
}

static void both_check(void)
{
    CHECK_EQ(link_.result[0], 0);
    CHECK_EQ(link_.result[1], 0);
    records_check();
}

static void withdraw_check(void)
{
    CHECK_EQ(link_.result[0], 0);
    CHECK(link_.result[1] == 0 || link_.result[1] == -ENOTCONN);
    records_check();
}

static void link_story(const struct story *s)
{
    link_.a = open_shm("a");
    link_.b = open_shm("b");
    explore(s);
    shm_close(link_.a);
    shm_close(link_.b);
}

static void disconnect_against_disconnect(void)
{
    static const struct story s = {open_prepare, disconnect_a, disconnect_b, both_check, 20};
    link_story(&s);
}

static void withdraw_against_accept(void)
{
    static const struct story s = {connect_pair, disconnect_a, accept_b, withdraw_check, 10};
    link_story(&s);
}

static const struct test_case cases[] = {
    {"every_order_of_send_and_poll", send_against_poll, NULL, 240},
    {"every_order_of_two_disconnects", disconnect_against_disconnect, NULL, 120},
    {"every_order_of_withdraw_and_accept", withdraw_against_accept, NULL, 120},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
