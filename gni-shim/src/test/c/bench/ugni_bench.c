/*
 * What uGNI's calls cost beside the software NIC's own, on memory that peers map, between two
 * threads that each own a NIC handle.
 *
 *   ugni-bench [SECONDS]                        every promised ratio, its two sides in turns
 *   ugni-bench --what NAME [--seconds S]        one side of one: {"what":NAME,"value":V}
 *
 * NAME: fma-put raw-put            ns of processor time for 8 bytes, one after the other; a post
 *       fma-silent                 with its event fetched and its descriptor asked for, or none
 *       told-post told-event told-completed   ns of fma-put's three calls, each 400 times in a row
 *       bte-put bte-get memcpy     GB/s, 4 MiB
 *       fma-ping smsg-ping raw-ping   ns there and back, each side polling
 *       smsg-rate line-rate        million messages a second; the same cache lines without uGNI
 *
 * Threads are bound to processors 0 and 1. A value is the median of its batches.
 */
#define _GNU_SOURCE
#include "ugni_operations.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCHES_MAX 20000

static double now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static void bind_to(int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)processor, &set);
    sched_setaffinity(0, sizeof(set), &set); /* with fewer processors: anywhere */
}

/* ---- measuring ---- */

struct side {
    const char *name;
    uint32_t batch; /* operations that are measured at once */
    void (*once)(void);
    int call; /* of one_call, and 1 */
    void (*send)(int from, uint64_t value);
    void (*take)(int at, uint64_t value);
    int is_one_way;
    double per; /* the value is ns for one; or this by ns */
    uint64_t done;
    uint32_t batches;
    double ns[BATCHES_MAX];
};
static struct side sides[] = {
    {.name = "fma-put", .batch = 1000, .once = fma_put},
    {.name = "fma-silent", .batch = 1000, .once = fma_silent},
    {.name = "raw-put", .batch = 1000, .once = raw_put},
    {.name = "told-post", .batch = IN_A_ROW, .call = 1},
    {.name = "told-event", .batch = IN_A_ROW, .call = 2},
    {.name = "told-completed", .batch = IN_A_ROW, .call = 3},
    {.name = "bte-put", .batch = 4, .once = bte_put, .per = LARGE},
    {.name = "bte-get", .batch = 4, .once = bte_get, .per = LARGE},
    {.name = "memcpy", .batch = 4, .once = plain_copy, .per = LARGE},
    {.name = "fma-ping", .batch = 2000, .send = fma_send, .take = fma_take},
    {.name = "smsg-ping", .batch = 2000, .send = smsg_send, .take = smsg_take},
    {.name = "raw-ping", .batch = 2000, .send = raw_send, .take = raw_take},
    {.name = "smsg-rate", .batch = 20000, .send = smsg_send, .take = smsg_take, 1, 1e3, 0, 0, {0}},
    {.name = "line-rate", .batch = 20000, .send = line_send, .take = line_take, 1, 1e3, 0, 0, {0}},
};
#define SIDES (sizeof(sides) / sizeof(sides[0]))

static struct side *side_of(const char *name)
{
    for (uint32_t i = 0; i < SIDES; i++)
        if (strcmp(sides[i].name, name) == 0)
            return &sides[i];
    fprintf(stderr, "%s is nothing that can be measured:", name);
    for (uint32_t i = 0; i < SIDES; i++)
        fprintf(stderr, " %s", sides[i].name);
    fprintf(stderr, "\n");
    exit(2);
}

static _Atomic int is_there;

static void *other_side(void *argument)
{
    struct side *side = argument;
    uint64_t first = side->done + 1;

    bind_to(1);
    is_there = 1;
    for (uint64_t i = first; i < first + side->batch; i++) {
        side->take(1, i);
        if (!side->is_one_way)
            side->send(1, i);
    }
    return NULL;
}

static double batch_of_two(struct side *side)
{
    uint64_t first = side->done + 1;
    pthread_t thread;
    double began;

    is_there = 0;
    pthread_create(&thread, NULL, other_side, side);
    while (!is_there) /* it begins on our processor, and moves */
        sched_yield();
    began = now();
    for (uint64_t i = first; i < first + side->batch; i++) {
        side->send(0, i);
        if (!side->is_one_way)
            side->take(0, i);
    }
    if (side->is_one_way)
        pthread_join(thread, NULL);
    began = now() - began;
    if (!side->is_one_way)
        pthread_join(thread, NULL);
    return began;
}

static void batch(struct side *side)
{
    double began = spent();

    if (side->call != 0) {
        began = one_call(side->call - 1);
    } else if (side->once == NULL) {
        began = batch_of_two(side);
    } else {
        for (uint32_t i = 0; i < side->batch; i++)
            side->once();
        began = spent() - began;
    }
    side->done += side->batch;
    if (side->batches < BATCHES_MAX)
        side->ns[side->batches++] = began / side->batch;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double value_of(struct side *side)
{
    double ns;

    qsort(side->ns, side->batches, sizeof(side->ns[0]), by_value);
    ns = side->ns[side->batches / 2];
    return side->per != 0 ? side->per / ns : ns;
}

/* One batch warms up. */
static void measure(struct side *first, struct side *second, double seconds)
{
    for (int i = 0; i < 2; i++) {
        if (i == 1)
            first->batches = second->batches = 0;
        for (double end = now() + i * seconds * 1e9; first->batches == 0 || now() < end;) {
            batch(first);
            if (second != first)
                batch(second);
        }
    }
}

static void compare(const char *what, const char *promised, const char *ours, const char *other,
                    double seconds)
{
    struct side *a = side_of(ours), *b = side_of(other);
    double x, y;

    measure(a, b, seconds);
    x = value_of(a);
    y = value_of(b);
    printf("{\"what\":\"%s\",\"promised\":\"%s\",\"%s\":%.2f,\"%s\":%.2f,\"ratio\":%.3f}\n", what,
           promised, ours, x, other, y, x / y);
    fflush(stdout);
}

static void compare_all(double seconds)
{
    compare("FMA put of 8 bytes, ns of processor time", "at most 1.25", "fma-put", "raw-put",
            seconds);
    compare("the same without an event", "at most 1.25", "fma-silent", "raw-put", seconds);
    compare("FMA put of 8 bytes, there and back, ns", "at most 1.25", "fma-ping", "raw-ping",
            seconds);
    compare("BTE put of 4 MiB, GB/s", "at least 0.90", "bte-put", "memcpy", seconds);
    compare("BTE get of 4 MiB, GB/s", "at least 0.90", "bte-get", "memcpy", seconds);
    compare("BTE get beside put of 4 MiB, GB/s", "0.95 to 1.05", "bte-get", "bte-put", seconds);
    compare("SMSG there and back, ns", "at most 2", "smsg-ping", "raw-ping", seconds);
    compare("SMSG, million a second", "1, or the machine's limit", "smsg-rate", "line-rate",
            seconds);
}

int main(int argc, char **argv)
{
    char directory[] = "/dev/shm/ugni-bench-XXXXXX", command[128];
    const char *what = NULL;
    double seconds = 1;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--what") == 0 && i + 1 < argc)
            what = side_of(argv[++i])->name;
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atof(argv[++i]);
        else
            seconds = atof(argv[i]);
    }
    if (mkdtemp(directory) == NULL)
        return 2;
    setenv("GNI_SHIM_DIR", directory, 1);
    bind_to(0);
    open_all();
    for (int i = 0; i < 2; i++) {
        memset(node[i].memory, 0, BYTES);
        memset(raw[i].memory, 0, BYTES);
    }
    connect_messages();
    prepare_all();
    if (what == NULL) {
        compare_all(seconds);
    } else {
        struct side *side = side_of(what);

        measure(side, side, seconds);
        printf("{\"what\":\"%s\",\"value\":%.4f}\n", what, value_of(side));
    }
    for (int i = 0; i < 2; i++) {
        snic_detach(raw[i].peer);
        OK(GNI_CdmDestroy(node[i].cdm));
    }
    for (int i = 0; i < 2; i++)
        snic_close(raw[i].nic);
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    return system(command) == 0 ? 0 : 1;
}
