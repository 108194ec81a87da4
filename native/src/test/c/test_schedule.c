/*
 * A deterministic scheduler for two actors in one address space. Each labelled step is a point
 * where the other may go on; small cases are run once for every order of steps. Only one actor runs
 * at a time, so that a run depends on nothing but the list of choices.
 */
#define _GNU_SOURCE
#include "shm_open.h"
#include "shm_layout.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#define DEPTH_MAX 4096
#define RUNS_MAX 20000

static char why[SNIC_WHY_MAX];

/* ---- the scheduler ---- */

struct actor {
    void (*run)(void *);
    void *argument;
    pthread_t thread;
    sem_t go;
    int done;
    int waits; /* it cannot go on before the other does something */
};
static struct actor actors[2];
static sem_t over; /* both are through a run */
static long steps;
static int is_over; /* the actors' threads end; until then they take part in every run */
static _Thread_local struct actor *self;
static uint8_t choices[DEPTH_MAX], options[DEPTH_MAX];
static int depth, prefix;
static const char *last_label[2];

/* Steps of loops that wait for the other. */
static int is_wait(const char *label)
{
    return strcmp(label, "lock.spin") == 0 || strcmp(label, "deregister.wait") == 0 ||
           strcmp(label, "test.retry") == 0;
}

/* Steps that change nothing which the stories here look at. */
static int is_idle(const char *label)
{
    static const char *const idle[] = {"ring.", "detach.",    "control.", "write.",
                                       "read.", "end.before", "send.rung"};
    for (int i = 0; i < COUNT(idle); i++)
        if (strncmp(label, idle[i], strlen(idle[i])) == 0)
            return 1;
    return 0;
}

static int choose(int last)
{
    int can[2], n = 0;
    for (int i = 0; i < 2; i++)
        if (!actors[i].done && !actors[i].waits)
            can[n++] = i;
    if (n == 0) { /* both wait, or the one that is left does: take turns, no choice */
        int other = !last;
        return !actors[other].done ? other : last;
    }
    if (n == 1)
        return can[0];
    if (depth >= DEPTH_MAX)
        test_fail(__FILE__, __LINE__, "a run of more than %d choices", DEPTH_MAX);
    if (depth >= prefix)
        choices[depth] = 0;
    options[depth] = 2;
    return can[choices[depth++]];
}

/* The step of the actor is over: another goes on, or itself. */
static void pass_control(void)
{
    int own = (int)(self - actors), next, is_done = self->done;
    actors[!own].waits = 0; /* something happened: it may look again */
    if (++steps > 100000)
        test_fail(__FILE__, __LINE__, "no end: at %s and %s", last_label[0], last_label[1]);
    if (actors[0].done && actors[1].done) {
        sem_post(&over);
        return;
    }
    next = choose(own);
    if (next == own)
        return;
    sem_post(&actors[next].go);
    /* One that is done waits for the next run in its main; from here on it may begin. */
    while (!is_done && sem_wait(&self->go) != 0)
        ;
}

static void hook(const char *label)
{
    if (is_idle(label))
        return;
    last_label[self - actors] = label;
    self->waits = is_wait(label);
    pass_control();
}

static void *actor_main(void *argument)
{
    self = argument;
    for (;;) {
        while (sem_wait(&self->go) != 0)
            ;
        if (is_over)
            return NULL;
        snic_step_hook = hook;
        self->run(self->argument);
        snic_step_hook = NULL;
        self->done = 1;
        pass_control();
    }
}

static void actors_start(void)
{
    is_over = 0;
    sem_init(&over, 0, 0);
    for (int i = 0; i < 2; i++) {
        sem_init(&actors[i].go, 0, 0);
        CHECK_EQ(pthread_create(&actors[i].thread, NULL, actor_main, &actors[i]), 0);
    }
}

static void actors_end(void)
{
    is_over = 1;
    for (int i = 0; i < 2; i++) {
        sem_post(&actors[i].go);
        pthread_join(actors[i].thread, NULL);
    }
}

/* One run with the present choices. */
static void run_once(void)
{
    for (int i = 0; i < 2; i++)
        actors[i].done = actors[i].waits = 0;
    depth = 0;
    steps = 0;
    sem_post(&actors[choose(0)].go);
    while (sem_wait(&over) != 0)
        ;
}

/* The next list of choices, depth first; 0: there is none. */
static int next_choices(void)
{
    while (depth > 0 && choices[depth - 1] + 1 >= options[depth - 1])
        depth--;
    if (depth == 0)
        return 0;
    choices[depth - 1]++;
    prefix = depth;
    return 1;
}

struct story {
    void (*prepare)(void);
    void (*first)(void *);
    void (*second)(void *);
    void (*check)(void);
    int fewest; /* runs below this number mean that the scheduler does not see the steps */
};

static void explore(const struct story *s)
{
    int runs = 0;
    prefix = 0;
    actors[0].run = s->first;
    actors[1].run = s->second;
    actors_start();
    do {
        s->prepare();
        run_once();
        s->check();
        if (++runs > RUNS_MAX)
            test_fail(__FILE__, __LINE__, "more than %d orders", RUNS_MAX);
    } while (next_choices());
    actors_end();
    if (runs < s->fewest)
        test_fail(__FILE__, __LINE__, "only %d orders", runs);
}

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
    dead_token = SNIC_TOKEN(snic_peer_slot(gone), snic_peer_epoch(gone));
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
    {"every_order_of_put_and_deregister", put_against_deregister, NULL, 120},
    {"every_order_of_get_and_deregister", get_against_deregister, NULL, 120},
    {"every_order_of_two_locks", lock_against_lock, NULL, 120},
    {"every_order_of_two_takeovers", takeover_against_takeover, NULL, 240},
    {"every_order_of_send_and_poll", send_against_poll, NULL, 240},
    {"every_order_of_two_disconnects", disconnect_against_disconnect, NULL, 120},
    {"every_order_of_withdraw_and_accept", withdraw_against_accept, NULL, 120},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
