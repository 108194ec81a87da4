/* The shm personality: connections, messages, notifications, faults. */
#define _GNU_SOURCE
#include "shm_pair.h"

/* ---- connections ---- */

static void connect_and_disconnect(void)
{
    struct both p;
    shm_event_t e;
    make_both(&p);
    CHECK_EQ(shm_disconnect(p.a, p.ab), 0);
    CHECK_EQ(shm_disconnect(p.a, p.ab), -ENOTCONN);
    CHECK_EQ(shm_send(p.a, p.ab, "x", 1), -ENOTCONN);
    expect(p.b, &e, SHM_EVENT_DISCONNECTED);
    CHECK_EQ(e.connection, p.ba);
    CHECK_EQ(e.context, 22);
    CHECK_EQ(shm_send(p.b, p.ba, "x", 1), -ENOTCONN);
    check_records_free(p.a);
    check_records_free(p.b);
    close_both(&p);
}

static void both_disconnect(void)
{
    struct both p;
    make_both(&p);
    CHECK_EQ(shm_disconnect(p.a, p.ab), 0);
    CHECK_EQ(shm_disconnect(p.b, p.ba), 0);
    check_records_free(p.a);
    check_records_free(p.b);
    close_both(&p);
}

static void reject(void)
{
    shm_event_t e;
    shm_t *a = open_shm("a"), *b = open_shm("b");
    CHECK_EQ(shm_connect(a, "b", 0, NULL, 0, 1, -1, why, sizeof why), -ECONNREFUSED);
    CHECK_CONTAINS(why, "b does not listen");
    CHECK_EQ(shm_connect(a, "nobody", 0, NULL, 0, 1, -1, why, sizeof why), -ENOENT);
    shm_listen(b);
    CHECK_EQ(shm_connect(a, "b", 4711, NULL, 0, 1, -1, why, sizeof why), -ESTALE);
    static const uint8_t big[257];
    CHECK_EQ(shm_connect(a, "b", 0, big, 257, 1, -1, why, sizeof why), -EMSGSIZE);
    int64_t c = shm_connect(a, "b", 0, big, 256, 1, -1, why, sizeof why);
    CHECK(c > 0);
    expect(b, &e, SHM_EVENT_CONNECT_REQUEST);
    CHECK_EQ(e.length, 256);
    CHECK_EQ(shm_send(b, e.connection, "x", 1), -ENOTCONN);
    CHECK_EQ(shm_reject(b, e.connection), 0);
    CHECK_EQ(shm_accept(b, e.connection, 0), -ENOTCONN);
    expect(a, &e, SHM_EVENT_CONNECT_FAILED);
    CHECK_EQ(e.status, -ECONNREFUSED);
    CHECK_EQ(e.connection, c);
    check_records_free(a);
    check_records_free(b);
    shm_close(a);
    shm_close(b);
}

static void connect_times_out(void)
{
    shm_event_t e;
    shm_t *a = open_shm("a"), *b = open_shm("b");
    shm_listen(b);
    CHECK(shm_connect(a, "b", 0, NULL, 0, 1, 1, why, sizeof why) > 0);
    expect(a, &e, SHM_EVENT_CONNECT_FAILED);
    CHECK_EQ(e.status, -ETIMEDOUT);
    /* b finds a withdrawn request: not offered. */
    CHECK_EQ(shm_poll(b, &e, 1), 0);
    check_records_free(b);
    /* Offered, then withdrawn: accept says so. */
    int64_t c = shm_connect(a, "b", 0, NULL, 0, 1, -1, why, sizeof why);
    expect(b, &e, SHM_EVENT_CONNECT_REQUEST);
    CHECK_EQ(shm_disconnect(a, c), 0);
    CHECK_EQ(shm_accept(b, e.connection, 0), -ENOTCONN);
    check_records_free(a);
    check_records_free(b);
    shm_close(a);
    shm_close(b);
}

static void records_run_out(void)
{
    shm_event_t e;
    shm_t *a = open_shm_with("a", 2, 1000, 3, 300 * MS),
          *b = open_shm_with("b", 2, 1000, 2, 300 * MS);
    shm_listen(b);
    for (int round = 0; round < 50; round++) {
        int64_t c[2];
        for (int i = 0; i < 2; i++) {
            c[i] = connect_to(a, "b", 0);
            expect(b, &e, SHM_EVENT_CONNECT_REQUEST);
            CHECK_EQ(shm_accept(b, e.connection, 0), 0);
            expect(a, &e, SHM_EVENT_CONNECTED);
        }
        CHECK_EQ(shm_connect(a, "b", 0, NULL, 0, 1, -1, why, sizeof why), -EAGAIN);
        CHECK_CONTAINS(why, "all 2 connections");
        for (int i = 0; i < 2; i++) {
            CHECK_EQ(shm_disconnect(a, c[i]), 0);
            expect(b, &e, SHM_EVENT_DISCONNECTED);
        }
    }
    check_records_free(a);
    check_records_free(b);
    shm_close(a);
    shm_close(b);
}

static void connect_to_oneself(void)
{
    shm_event_t e;
    shm_t *a = open_shm("a");
    shm_listen(a);
    int64_t c = connect_to(a, "a", 5);
    expect(a, &e, SHM_EVENT_CONNECT_REQUEST);
    int64_t d = e.connection;
    CHECK_EQ(shm_accept(a, d, 6), 0);
    expect(a, &e, SHM_EVENT_CONNECTED);
    CHECK_EQ(shm_send(a, c, "abc", 3), 0);
    expect(a, &e, SHM_EVENT_MESSAGE);
    CHECK_EQ(e.connection, d);
    CHECK_EQ(e.context, 6);
    CHECK_EQ(shm_release(a, e.token), 0);
    CHECK_EQ(shm_close(a), 0);
}

static void closing_disconnects(void)
{
    struct both p;
    shm_event_t e;
    make_both(&p);
    CHECK_EQ(shm_send(p.a, p.ab, "last words", 10), 0);
    CHECK_EQ(shm_close(p.a), 0);
    expect(p.b, &e, SHM_EVENT_MESSAGE);
    CHECK_EQ(shm_release(p.b, e.token), 0);
    expect(p.b, &e, SHM_EVENT_DISCONNECTED);
    CHECK_EQ(shm_close(p.b), 0);
}

/* ---- messages ---- */

static void messages_keep_their_order(void)
{
    struct both p;
    shm_event_t e[16];
    uint8_t data[1000];
    uint64_t random = test_seed, sent = 0, received = 0, check = test_seed;
    make_both(&p);
    while (received < 20000) {
        int burst = (int)(test_random(&random) % 12);
        for (int i = 0; i < burst; i++) {
            uint64_t saved = check;
            uint32_t length = (uint32_t)(test_random(&check) % 1001);
            memset(data, (int)sent, length);
            int rc = shm_send(p.a, p.ab, data, length);
            CHECK(rc == 0 || rc == -EAGAIN);
            if (rc == -EAGAIN) {
                CHECK_EQ(sent - received, 8);
                check = saved;
                break;
            }
            sent++;
        }
        static uint64_t expected_state;
        if (received == 0)
            expected_state = test_seed;
        int n = shm_poll(p.b, e, 1 + (int)(test_random(&random) % 16));
        for (int i = 0; i < n; i++) {
            CHECK_EQ(e[i].type, SHM_EVENT_MESSAGE);
            CHECK_EQ(e[i].length, test_random(&expected_state) % 1001);
            for (uint64_t j = 0; j < e[i].length; j++)
                CHECK_EQ(((const uint8_t *)e[i].data)[j], received & 0xff);
            CHECK_EQ(shm_release(p.b, e[i].token), 0);
            received++;
            if (received == sent)
                break;
        }
    }
    CHECK_EQ(shm_send(p.a, p.ab, data, 1001), -EMSGSIZE);
    close_both(&p);
}

/* Retained messages keep only their own slots; the others go on. */
static void release_in_any_order(void)
{
    struct both p;
    shm_event_t held[8], e;
    uint64_t random = test_seed;
    uint32_t number = 0, value[8];
    int out = 0;
    make_both(&p);
    for (int round = 0; round < 5000; round++) {
        while (out < 8 && test_random(&random) % 4) {
            CHECK_EQ(shm_send(p.a, p.ab, &number, 4), 0);
            expect(p.b, &e, SHM_EVENT_MESSAGE);
            CHECK_EQ(*(const uint32_t *)e.data, number);
            value[out] = number++;
            held[out++] = e;
        }
        if (out == 8) {
            CHECK_EQ(shm_send(p.a, p.ab, &number, 4), -EAGAIN);
            CHECK_EQ(shm_poll(p.b, &e, 1), 0);
        }
        while (out > 0 && test_random(&random) % 4) {
            int which = (int)(test_random(&random) % (unsigned)out);
            CHECK_EQ(*(const uint32_t *)held[which].data, value[which]);
            CHECK_EQ(shm_release(p.b, held[which].token), 0);
            CHECK_EQ(shm_release(p.b, held[which].token), -EINVAL);
            held[which] = held[--out];
            value[which] = value[out];
        }
    }
    close_both(&p);
}

static void messages_outlive_their_connection(void)
{
    struct both p;
    shm_event_t m, e;
    make_both(&p);
    CHECK_EQ(shm_send(p.a, p.ab, "keep", 4), 0);
    expect(p.b, &m, SHM_EVENT_MESSAGE);
    CHECK_EQ(shm_disconnect(p.a, p.ab), 0);
    expect(p.b, &e, SHM_EVENT_DISCONNECTED);
    /* New connections do not get the ring in which the message lies. */
    for (int i = 0; i < 20; i++) {
        int64_t c = connect_to(p.a, "b", 0);
        expect(p.b, &e, SHM_EVENT_CONNECT_REQUEST);
        CHECK_EQ(shm_accept(p.b, e.connection, 0), 0);
        expect(p.a, &e, SHM_EVENT_CONNECTED);
        CHECK_EQ(shm_send(p.a, c, "xxxx", 4), 0);
        expect(p.b, &e, SHM_EVENT_MESSAGE);
        CHECK_EQ(shm_release(p.b, e.token), 0);
        CHECK_EQ(shm_disconnect(p.a, c), 0);
        expect(p.b, &e, SHM_EVENT_DISCONNECTED);
    }
    CHECK(memcmp(m.data, "keep", 4) == 0);
    CHECK_EQ(shm_release(p.b, m.token), 0);
    CHECK_EQ(shm_release(p.b, m.token), -EINVAL);
    check_records_free(p.b);
    close_both(&p);
}

static void notify_follows_its_bytes(void)
{
    struct both p;
    shm_event_t e;
    snic_key_t key;
    uint8_t *m, from[256];
    make_both(&p);
    CHECK_EQ(snic_memory_alloc(shm_nic(p.b), 65536, 0, (void **)&m, why, sizeof why), 0);
    CHECK_EQ(snic_register(shm_nic(p.b), m, 65536, 7, &key, why, sizeof why), 0);
    for (uint32_t i = 0; i < 1000; i++) {
        memset(from, (int)i, sizeof from);
        CHECK_EQ(shm_put_notify(p.a, p.ab, &key, i * 7, from, 256, i ^ 0xabcd), 0);
        expect(p.b, &e, SHM_EVENT_NOTIFY);
        CHECK_EQ(e.tag, i ^ 0xabcd);
        CHECK_EQ(e.key_slot, key.slot);
        CHECK_EQ(e.key_generation, key.generation);
        CHECK_EQ(e.offset, i * 7);
        CHECK_EQ(e.bytes, 256);
        CHECK(memcmp(m + i * 7, from, 256) == 0);
    }
    CHECK_EQ(shm_put_notify(p.a, p.ab, &key, 65536 - 255, from, 256, 1), -ERANGE);
    CHECK_EQ(shm_poll(p.b, &e, 1), 0);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(shm_put_notify(p.a, p.ab, &key, 0, from, 1, 1), 0);
    memset(from, 0x77, sizeof from);
    CHECK_EQ(shm_put_notify(p.a, p.ab, &key, 100, from, 256, 1), -EAGAIN);
    CHECK(m[100] != 0x77);
    uint64_t before;
    CHECK_EQ(snic_fetch_add(shm_peer(p.a, p.ab), &key, 40000, 3, &before), 0);
    CHECK_EQ(snic_compare_swap(shm_peer(p.a, p.ab), &key, 40000, 3, 8, &before), 0);
    CHECK_EQ(before, 3);
    CHECK_EQ(snic_get(shm_peer(p.a, p.ab), &key, 40000, &before, 8), 0);
    CHECK_EQ(before, 8);
    CHECK_EQ(snic_put(shm_peer(p.a, p.ab), &key, 40000, from, 8), 0);
    CHECK(m[40000] == 0x77);
    CHECK_EQ(snic_deregister(shm_nic(p.b), &key, 1000), 0);
    close_both(&p);
}

static void bad_options(void)
{
    shm_t *s;
    shm_options_t o = {.job = "job", .credits = 3};
    CHECK_EQ(shm_create(&o, &s, why, sizeof why), -EINVAL);
    CHECK_CONTAINS(why, "credits 3");
    o.credits = 4, o.message_max = 2u << 20;
    CHECK_EQ(shm_create(&o, &s, why, sizeof why), -EINVAL);
    o.message_max = 64, o.receive_slots = 3;
    CHECK_EQ(shm_create(&o, &s, why, sizeof why), -EINVAL);
    CHECK_CONTAINS(why, "receive_slots 3");
    o.receive_slots = 9, o.connections_max = 100;
    CHECK_EQ(shm_create(&o, &s, why, sizeof why), 0);
    CHECK_EQ(shm_connections_max(s), 2);
    CHECK_EQ(shm_send(s, 0, "", 0), -ENOTCONN);
    CHECK_EQ(shm_send(s, -5, "", 0), -ENOTCONN);
    CHECK_EQ(shm_send(s, INT64_MAX, "", 0), -ENOTCONN);
    CHECK_EQ(shm_release(s, UINT64_MAX), -EINVAL);
    shm_close(s);
}

static const struct test_case cases[] = {
    {"connect_and_disconnect", connect_and_disconnect, NULL, 0},
    {"both_disconnect", both_disconnect, NULL, 0},
    {"connect_is_refused", reject, NULL, 0},
    {"connect_times_out", connect_times_out, NULL, 0},
    {"records_run_out_and_come_back", records_run_out, NULL, 0},
    {"connect_to_oneself", connect_to_oneself, NULL, 0},
    {"closing_disconnects_in_order", closing_disconnects, NULL, 0},
    {"messages_keep_their_order", messages_keep_their_order, NULL, 0},
    {"messages_are_released_in_any_order", release_in_any_order, NULL, 0},
    {"messages_outlive_their_connection", messages_outlive_their_connection, NULL, 0},
    {"notify_follows_its_bytes", notify_follows_its_bytes, NULL, 0},
    {"open_refuses_bad_options", bad_options, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
