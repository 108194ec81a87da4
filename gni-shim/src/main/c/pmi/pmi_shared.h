/* What gni-run and the processes that it started share: a file in shared memory, named by
 * VERBENA_PMI_FILE. */
#ifndef PMI_SHARED_H
#define PMI_SHARED_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define PMI_SHARED_MAGIC 0x494d504e45425256ull
#define PMI_SIZE_MAX 4096
#define PMI_GATHER_BYTES (1u << 20)
#define PMI_KEY_MAX 64
#define PMI_VALUE_MAX 1024
#define PMI_KEYS_MAX 8192

struct pmi_pair {
    char key[PMI_KEY_MAX];
    char value[PMI_VALUE_MAX];
};

struct pmi_shared {
    uint64_t magic;
    uint32_t size;
    _Atomic uint32_t aborted; /* 1: a rank ended early, no rank waits any more */
    _Atomic uint32_t arrived; /* at the barrier */
    _Atomic uint32_t phase;   /* counts barriers; a futex */
    _Atomic uint32_t pairs;   /* in use, release */
    _Atomic uint32_t owner;   /* pid of the process that uses the pairs; 0: none */
    uint8_t gather[PMI_GATHER_BYTES];
    struct pmi_pair pair[PMI_KEYS_MAX];
};

/* A number that gni-run put into the environment. */
static inline int pmi_number(const char *variable, int otherwise)
{
    const char *text = getenv(variable);

    return text != NULL && *text != '\0' ? atoi(text) : otherwise;
}

/* Ranks are dealt out to nodes in blocks. */
static inline int pmi_node_of(int rank, int nodes, int size)
{
    return (int)((int64_t)rank * nodes / size);
}

static inline int pmi_first_rank(int node, int nodes, int size)
{
    return (int)(((int64_t)node * size + nodes - 1) / nodes);
}

#endif
