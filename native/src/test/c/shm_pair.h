/* What tests of the shm personality share: NICs, events that are awaited, two connected ends. */
#ifndef SHM_PAIR_H
#define SHM_PAIR_H
#include "shm_open.h"
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static char why[SNIC_WHY_MAX];
#define MS 1000000ll

static inline shm_t *open_shm(const char *name)
{
    return open_shm_with(name, 8, 1000, 8, 300 * MS);
}

/* Waits for the next event. */
static inline void next(shm_t *s, shm_event_t *e)
{
    while (shm_poll(s, e, 1) == 0)
        CHECK(shm_await(s, now_ns() + 30000 * MS) >= 0);
}

static inline void expect(shm_t *s, shm_event_t *e, uint32_t type)
{
    next(s, e);
    if (e->type != type)
        test_fail(__FILE__, __LINE__, "event %u (status %d), expected %u", e->type, e->status,
                  type);
}

static inline int64_t connect_to(shm_t *s, const char *name, uint64_t context)
{
    int64_t c = shm_connect(s, name, 0, "hi", 2, context, 20000 * MS, why, sizeof why);
    if (c < 0)
        test_fail(__FILE__, __LINE__, "connect: %lld %s", (long long)c, why);
    return c;
}

/* Two transports of this process, connected. */
struct both {
    shm_t *a, *b;
    int64_t ab, ba;
};

static inline void make_both_with(struct both *p, uint32_t credits)
{
    shm_event_t e;
    p->a = open_shm_with("a", credits, 1000, 8, 300 * MS);
    p->b = open_shm_with("b", credits, 1000, 8, 300 * MS);
    shm_listen(p->b);
    p->ab = connect_to(p->a, "b", 11);
    expect(p->b, &e, SHM_EVENT_CONNECT_REQUEST);
    CHECK_EQ(e.length, 2);
    CHECK(memcmp(e.data, "hi", 2) == 0);
    CHECK(strcmp(e.peer, "a") == 0);
    CHECK_EQ(e.incarnation, snic_incarnation(shm_nic(p->a)));
    p->ba = e.connection;
    CHECK_EQ(shm_accept(p->b, p->ba, 22), 0);
    expect(p->a, &e, SHM_EVENT_CONNECTED);
    CHECK_EQ(e.connection, p->ab);
    CHECK_EQ(e.context, 11);
}

static inline void make_both(struct both *p)
{
    make_both_with(p, 8);
}

static inline void close_both(struct both *p)
{
    CHECK_EQ(shm_close(p->a), 0);
    CHECK_EQ(shm_close(p->b), 0);
}

/* No record of the table is in use. */
static inline void check_records_free(shm_t *s)
{
    struct shm_area *area = snic_area(shm_nic(s));
    struct shm_connection *r =
        (struct shm_connection *)((uint8_t *)area + area->connections_offset);
    shm_event_t e;
    int64_t deadline = now_ns() + 20000 * MS;
    for (uint32_t i = 0; i < area->connections_max; i++)
        while (SHM_PHASE(atomic_load(&r[i].control)) != SHM_FREE) {
            CHECK_EQ(shm_poll(s, &e, 1), 0);
            shm_await(s, now_ns() + 20 * MS);
            if (now_ns() > deadline)
                test_fail(__FILE__, __LINE__, "record %u is still %llx", i,
                          (unsigned long long)atomic_load(&r[i].control));
        }
}
#endif
