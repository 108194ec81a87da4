/* Small stories of two actors in every order of their steps: a put against the end of its
 * registration, locks, dead owners of locks. */
#include "every_order.h"
#include "softnic_private.h"
#include <errno.h>

/* ---- put against deregister ---- */

static struct core {
    snic_t *a, *b;
    snic_peer_t *peer[2];
    uint8_t *m;
    snic_key_t key;
    int put_result, deregister_result;
    uint8_t after; /* what the owner saw when deregister came back */
} core;

static snic_t *open_nic(const char *name)
{
    snic_t *nic;
    snic_options_t o = {.job = "job",
                        .name = name,
                        .initiators_max = 8,
                        .registrations_max = 16,
                        .area_bytes = 4096};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    CHECK_EQ(snic_publish(nic), 0);
    return nic;
}

static void open_core(void)
{
    core.a = open_nic("a");
    core.b = open_nic("b");
    for (int i = 0; i < 2; i++)
        CHECK_EQ(snic_attach(core.a, "b", 0, &core.peer[i], why, sizeof why), 0);
    CHECK_EQ(snic_memory_alloc(core.b, 4096, 0, (void **)&core.m, why, sizeof why), 0);
}

static void close_core(void)
{
    for (int i = 0; i < 2; i++)
        snic_detach(core.peer[i]);
    CHECK_EQ(snic_close(core.a), 0);
    CHECK_EQ(snic_close(core.b), 0);
}

static void put_prepare(void)
{
    core.m[0] = 0;
    CHECK_EQ(snic_register(core.b, core.m, 64, 3, &core.key, why, sizeof why), 0);
}

static void put_actor(void *argument)
{
    (void)argument;
    core.put_result = snic_put(core.peer[0], &core.key, 0, "\1", 1);
}

static void deregister_actor(void *argument)
{
    (void)argument;
    core.deregister_result = snic_deregister(core.b, &core.key, 20000);
    core.after = core.m[0];
}

static void put_check(void)
{
    CHECK_EQ(core.deregister_result, 0);
    CHECK(core.put_result == 0 || core.put_result == -ESTALE);
    if (core.m[0] != core.after)
        test_fail(__FILE__, __LINE__, "a byte landed after deregister came back");
    CHECK_EQ(core.m[0], core.put_result == 0);
}

static void put_against_deregister(void)
{
    static const struct story s = {put_prepare, put_actor, deregister_actor, put_check, 50};
    open_core();
    explore(&s);
    close_core();
}

static void get_actor(void *argument)
{
    uint8_t byte = 9;
    (void)argument;
    core.put_result = snic_get(core.peer[0], &core.key, 0, &byte, 1);
    if (core.put_result == 0 && byte != 0)
        core.put_result = 9; /* it saw what the owner wrote after deregister */
}

static void deregister_and_write_actor(void *argument)
{
    deregister_actor(argument);
    core.m[0] = 7;
}

static void get_check(void)
{
    CHECK_EQ(core.deregister_result, 0);
    CHECK(core.put_result == 0 || core.put_result == -ESTALE);
}

static void get_against_deregister(void)
{
    static const struct story s = {put_prepare, get_actor, deregister_and_write_actor, get_check,
                                   50};
    open_core();
    explore(&s);
    close_core();
}

/* ---- two who lock; two who find a dead owner ---- */

static struct locked {
    snic_lock_t lock;
    uint32_t intent;
    uint64_t x, y;
} * locked;
static int recoveries, inside, lock_results[2];
static uint32_t dead_token;

static void recover(void *context, uint32_t slot)
{
    (void)context;
    CHECK_EQ(slot, SNIC_TOKEN_SLOT(dead_token));
    recoveries++;
    hook("test.recover");
    locked->y = locked->x;
    locked->intent = 0;
}

static void lock_actor(void *argument)
{
    int i = (int)(uintptr_t)argument;
    lock_results[i] = snic_lock_peer(core.peer[i], &locked->lock, -1, recover, NULL);
    if (lock_results[i] != 0)
        return;
    inside++;
    if (inside != 1 || locked->x != locked->y)
        lock_results[i] = -1;
    locked->intent = 1;
    locked->x++;
    hook("test.inside");
    locked->y++;
    locked->intent = 0;
    inside--;
    snic_unlock_peer(core.peer[i], &locked->lock);
}

static void lock_check(void)
{
    CHECK_EQ(lock_results[0], 0);
    CHECK_EQ(lock_results[1], 0);
    CHECK_EQ(locked->x, locked->y);
    CHECK_EQ(atomic_load(&locked->lock.word), 0);
}

static void free_lock_prepare(void)
{
    memset((void *)locked, 0, sizeof *locked);
}

/* Left by somebody who died between his two additions. */
static void dead_lock_prepare(void)
{
    snic_peer_t *gone;
    free_lock_prepare();
    recoveries = 0;
    CHECK_EQ(snic_attach(core.a, "b", 0, &gone, why, sizeof why), 0);
    dead_token = SNIC_TOKEN(snic_peer_slot(gone), gone->epoch);
    snic_detach(gone);
    atomic_store(&locked->lock.word, dead_token);
    locked->intent = 1;
    locked->x = 1;
}

static void dead_lock_check(void)
{
    lock_check();
    CHECK_EQ(recoveries, 1);
    CHECK_EQ(locked->x, 3);
}

static void lock_story(const struct story *s)
{
    open_core();
    locked = snic_area(core.b);
    actors[0].argument = (void *)0;
    actors[1].argument = (void *)1;
    explore(s);
    close_core();
}

static void lock_against_lock(void)
{
    static const struct story s = {free_lock_prepare, lock_actor, lock_actor, lock_check, 20};
    lock_story(&s);
}

static void takeover_against_takeover(void)
{
    static const struct story s = {dead_lock_prepare, lock_actor, lock_actor, dead_lock_check, 5};
    lock_story(&s);
}

static const struct test_case cases[] = {
    {"every_order_of_put_and_deregister", put_against_deregister, NULL, 120},
    {"every_order_of_get_and_deregister", get_against_deregister, NULL, 120},
    {"every_order_of_two_locks", lock_against_lock, NULL, 120},
    {"every_order_of_two_takeovers", takeover_against_takeover, NULL, 240},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
