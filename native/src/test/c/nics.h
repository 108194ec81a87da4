/* What tests of softnic share: interfaces, a pair of them, words that processes share. */
#ifndef TEST_NICS_H
#define TEST_NICS_H
#include "softnic_layout.h"
#include "test.h"
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static char why[SNIC_WHY_MAX];

static inline snic_t *open_named(const char *job, const char *name, uint32_t foreign)
{
    snic_t *nic = NULL;
    snic_options_t o = {.job = job,
                        .name = name,
                        .personality = SNIC_SHM,
                        .initiators_max = 8,
                        .registrations_max = 64,
                        .foreign = foreign,
                        .area_bytes = 8192};
    int rc = snic_open(&o, &nic, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "snic_open %s: %d %s", name, rc, why);
    CHECK_EQ(snic_publish(nic), 0);
    return nic;
}

static inline snic_t *open_nic(const char *name)
{
    return open_named("job", name, SNIC_FOREIGN_ATTACH);
}

static inline snic_peer_t *attach(snic_t *nic, const char *name)
{
    snic_peer_t *peer = NULL;
    int rc = snic_attach(nic, name, 0, &peer, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "snic_attach %s: %d %s", name, rc, why);
    return peer;
}

struct pair {
    snic_t *a, *b;
    snic_peer_t *peer; /* b as a sees it */
    uint8_t *memory;
    snic_key_t key;
};
#define SIZE 100000

static inline void make_pair(struct pair *p, int toolkit, uint32_t foreign, uint32_t rights)
{
    p->a = open_nic("a");
    p->b = open_named("job", "b", foreign);
    if (toolkit)
        CHECK_EQ(snic_memory_alloc(p->b, SIZE, 0, (void **)&p->memory, why, sizeof why), 0);
    else
        p->memory = calloc(1, SIZE);
    int rc = snic_register(p->b, p->memory, SIZE, rights, &p->key, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "register: %d %s", rc, why);
    p->peer = attach(p->a, "b");
}

static inline void free_pair(struct pair *p, int toolkit)
{
    CHECK_EQ(snic_deregister(p->b, &p->key, 1000), 0);
    CHECK_EQ(snic_deregister(p->b, &p->key, 1000), -ESTALE);
    snic_detach(p->peer);
    if (toolkit)
        CHECK_EQ(snic_memory_free(p->b, p->memory), 0);
    else
        free(p->memory);
    CHECK_EQ(snic_close(p->a), 0);
    CHECK_EQ(snic_close(p->b), 0);
}

struct shared {
    _Atomic int ready, go, done;
    snic_key_t key, key2;
    uint64_t address;
    _Atomic uint64_t count;
};
static struct shared *shared;

static inline void await(_Atomic int *flag)
{
    while (!atomic_load(flag))
        usleep(200);
}

static inline void make_shared(void)
{
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
}

#endif
