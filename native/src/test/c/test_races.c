/* softnic: revoking against running puts, threads of one process. */
#define _GNU_SOURCE
#include "nics.h"
#include "repeats.h"
#include <pthread.h>

/* ---- deregister against running puts ---- */

static void endless_puts(void *toolkit)
{
    (void)toolkit;
    static uint8_t from[4096];
    memset(from, 0xee, sizeof from);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    uint64_t random = test_seed;
    while (!atomic_load(&shared->done)) {
        snic_key_t key = shared->key;
        uint64_t length = test_random(&random) % sizeof from;
        int rc = snic_put(peer, &key, 0, from, length);
        CHECK(rc == 0 || rc == -ESTALE);
        if (rc == 0)
            atomic_fetch_add(&shared->count, 1);
    }
    snic_detach(peer);
    snic_close(a);
}

static void deregister_against_puts(int toolkit)
{
    uint8_t *m = aligned_alloc(64, 4096);
    make_shared();
    snic_t *b = open_nic("b");
    if (toolkit) {
        free(m);
        CHECK_EQ(snic_memory_alloc(b, 4096, 0, (void **)&m, why, sizeof why), 0);
    }
    CHECK_EQ(snic_register(b, m, 4096, 3, &shared->key, why, sizeof why), 0);
    int pid = test_fork(endless_puts, NULL);
    for (int round = 0; round < repeats(300); round++) {
        snic_key_t key = shared->key;
        uint64_t before = atomic_load(&shared->count);
        while (atomic_load(&shared->count) < before + 3)
            sched_yield();
        CHECK_EQ(snic_deregister(b, &key, 5000), 0);
        memset(m, 0x11, 4096);
        for (int look = 0; look < 20; look++)
            for (int i = 0; i < 4096; i++)
                CHECK_EQ(*(volatile uint8_t *)&m[i], 0x11);
        CHECK_EQ(snic_register(b, m, 4096, 3, &shared->key, why, sizeof why), 0);
    }
    atomic_store(&shared->done, 1);
    test_join(pid, 0);
    snic_close(b);
    if (!toolkit)
        free(m);
}

static void deregister_against_mapped_puts(void)
{
    deregister_against_puts(1);
}

static void deregister_against_foreign_puts(void)
{
    deregister_against_puts(0);
}

/* ---- threads of one process ---- */

struct adder {
    struct pair *p;
    snic_peer_t *peer;
    pthread_t thread;
};

static void *adder_main(void *argument)
{
    struct adder *a = argument;
    for (int i = 0; i < 3000; i++) {
        uint64_t before;
        if (snic_fetch_add(a->peer, &a->p->key, 8, 1, &before) != 0)
            return (void *)1;
    }
    return NULL;
}

/* Two NICs in one address space; under ThreadSanitizer. */
static void atomics_of_many_threads(void)
{
    struct pair p;
    struct adder adders[3];
    make_pair(&p, 1, 0, SNIC_ATOMIC);
    for (int i = 0; i < COUNT(adders); i++) {
        adders[i] = (struct adder){.p = &p, .peer = attach(p.a, "b")};
        CHECK_EQ(pthread_create(&adders[i].thread, NULL, adder_main, &adders[i]), 0);
    }
    for (int i = 0; i < COUNT(adders); i++) {
        void *result;
        pthread_join(adders[i].thread, &result);
        CHECK(result == NULL);
        snic_detach(adders[i].peer);
    }
    CHECK_EQ(*(uint64_t *)(p.memory + 8), 9000);
    free_pair(&p, 1);
}

struct putter {
    snic_peer_t *peer;
    snic_key_t key[2];
    _Atomic int turn, stop;
    _Atomic uint64_t puts;
};

static void *putter_main(void *argument)
{
    struct putter *p = argument;
    uint8_t from[512];
    memset(from, 1, sizeof from);
    while (!atomic_load(&p->stop)) {
        snic_key_t key = p->key[atomic_load(&p->turn) & 1];
        if (snic_put(p->peer, &key, 0, from, sizeof from) == 0)
            atomic_fetch_add(&p->puts, 1);
    }
    return NULL;
}

/* After deregister the owner may use the memory freely: no race, says ThreadSanitizer. */
static void deregister_orders_memory(void)
{
    snic_t *a = open_nic("a"), *b = open_nic("b");
    struct putter p = {.peer = attach(a, "b")};
    uint8_t *m;
    pthread_t thread;
    CHECK_EQ(snic_memory_alloc(b, 4096, 0, (void **)&m, why, sizeof why), 0);
    CHECK_EQ(snic_register(b, m, 512, 3, &p.key[0], why, sizeof why), 0);
    CHECK_EQ(pthread_create(&thread, NULL, putter_main, &p), 0);
    for (int round = 0; round < 100; round++) {
        uint64_t before = atomic_load(&p.puts);
        while (atomic_load(&p.puts) < before + 2)
            sched_yield();
        CHECK_EQ(snic_deregister(b, &p.key[round & 1], 5000), 0);
        memset(m, 2, 4096);
        CHECK_EQ(snic_register(b, m, 512, 3, &p.key[(round + 1) & 1], why, sizeof why), 0);
        atomic_store(&p.turn, round + 1);
    }
    atomic_store(&p.stop, 1);
    pthread_join(thread, NULL);
    snic_detach(p.peer);
    snic_close(a);
    snic_close(b);
}

struct mapper {
    snic_peer_t *peer;
    pthread_mutex_t *mutex; /* of the location */
    const snic_location_t *location;
    _Atomic int *stop;
    _Atomic uint64_t *mapped;
    pthread_t thread;
};

static void *mapper_main(void *argument)
{
    struct mapper *m = argument;
    while (!atomic_load(m->stop)) {
        pthread_mutex_lock(m->mutex);
        snic_location_t location = *m->location;
        pthread_mutex_unlock(m->mutex);
        if (snic_map(m->peer, &location, 0, 64) != NULL)
            atomic_fetch_add(m->mapped, 1);
    }
    return NULL;
}

/* One peer, many threads, and its memory is another one again and again: no race, says
 * ThreadSanitizer, and nobody is given the place of the former memory for the new one. */
static void mapping_by_many_threads(void)
{
    snic_t *a = open_nic("a"), *b = open_nic("b");
    snic_peer_t *peer = attach(a, "b");
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    struct mapper mappers[3];
    snic_location_t location;
    _Atomic int stop = 0;
    _Atomic uint64_t mapped = 0;
    uint8_t *m;
    CHECK_EQ(snic_memory_alloc(b, 4096, 0, (void **)&m, why, sizeof why), 0);
    CHECK_EQ(snic_locate(b, m, 4096, &location, why, sizeof why), 0);
    for (int i = 0; i < COUNT(mappers); i++) {
        mappers[i] = (struct mapper){peer, &mutex, &location, &stop, &mapped, 0};
        CHECK_EQ(pthread_create(&mappers[i].thread, NULL, mapper_main, &mappers[i]), 0);
    }
    for (int round = 0; round < 200; round++) {
        pthread_mutex_lock(&mutex);
        CHECK_EQ(snic_memory_free(b, m), 0);
        CHECK_EQ(snic_memory_alloc(b, 4096, 0, (void **)&m, why, sizeof why), 0);
        CHECK_EQ(snic_locate(b, m, 4096, &location, why, sizeof why), 0);
        memset(m, round, 64);
        uint8_t *there = snic_map(peer, &location, 0, 64);
        CHECK(there != NULL && there[63] == (uint8_t)round);
        pthread_mutex_unlock(&mutex);
        uint64_t before = atomic_load(&mapped);
        while (atomic_load(&mapped) < before + 3)
            sched_yield();
    }
    atomic_store(&stop, 1);
    for (int i = 0; i < COUNT(mappers); i++)
        pthread_join(mappers[i].thread, NULL);
    snic_detach(peer);
    snic_close(a);
    snic_close(b);
}

static const struct test_case cases[] = {
    {"deregister_against_mapped_puts", deregister_against_mapped_puts, NULL, 120},
    {"deregister_against_foreign_puts", deregister_against_foreign_puts, NULL, 120},
    {"atomics_of_many_threads", atomics_of_many_threads, NULL, 0},
    {"deregister_orders_memory", deregister_orders_memory, NULL, 0},
    {"mapping_by_many_threads", mapping_by_many_threads, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
