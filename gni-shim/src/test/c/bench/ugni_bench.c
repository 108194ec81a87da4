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
#include "gni_ext.h"
#include "softnic.h"
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BYTES (32u << 20)
#define LARGE (4u << 20)
#define MAILBOX (16u << 20)
#define CREDITS 128
#define BATCHES_MAX 20000
#define IN_A_ROW 400

#define OK(call)                                                                                   \
    do {                                                                                           \
        gni_return_t code_ = (call);                                                               \
        if (code_ != GNI_RC_SUCCESS) {                                                             \
            fprintf(stderr, "%s: %s (%s)\n", #call, gni_err_str[code_], GNI_ExtError());           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)
#define FINE(call)                                                                                 \
    do {                                                                                           \
        if ((call) != 0) {                                                                         \
            fprintf(stderr, "%s: %s\n", #call, why);                                               \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct node {
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    gni_cq_handle_t cq;
    gni_ep_handle_t ep;
    gni_mem_handle_t handle;
    uint8_t *memory;
    uint32_t pe;
};
struct raw {
    snic_t *nic;
    snic_peer_t *peer;
    snic_key_t key;
    uint8_t *memory;
};
static struct node node[2];
static struct raw raw[2];
static char why[SNIC_WHY_MAX];

static double clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* Of this thread, which never sleeps: what others take from the processor does not count. */
static double spent(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void bind_to(int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)processor, &set);
    sched_setaffinity(0, sizeof(set), &set); /* with fewer processors: anywhere */
}

static void open_all(void)
{
    void *memory;

    for (uint32_t i = 0; i < 2; i++) {
        OK(GNI_CdmCreate(i, 9, 0x990000, 0, &node[i].cdm));
        OK(GNI_CdmAttach(node[i].cdm, 0, &node[i].pe, &node[i].nic));
        OK(GNI_CqCreate(node[i].nic, 512, 0, GNI_CQ_NOBLOCK, NULL, NULL, &node[i].cq));
        OK(GNI_EpCreate(node[i].nic, node[i].cq, &node[i].ep));
        OK(GNI_EpBind(node[i].ep, node[0].pe, 1 - i));
        OK(GNI_ExtMemAlloc(node[i].nic, BYTES, &memory));
        node[i].memory = memory;
        OK(GNI_MemRegister(node[i].nic, (uint64_t)(uintptr_t)memory, BYTES, NULL, 0, (uint32_t)-1,
                           &node[i].handle));
    }
    for (uint32_t i = 0; i < 2; i++) {
        snic_options_t options = {.directory = getenv("GNI_SHIM_DIR"),
                                  .job = "raw",
                                  .name = i ? "one" : "zero",
                                  .personality = SNIC_SHM,
                                  .area_bytes = 4096};

        FINE(snic_open(&options, &raw[i].nic, why, sizeof(why)));
        FINE(snic_publish(raw[i].nic));
        FINE(snic_memory_alloc(raw[i].nic, BYTES, 0, &memory, why, sizeof(why)));
        raw[i].memory = memory;
        FINE(snic_register(raw[i].nic, memory, BYTES, SNIC_READ | SNIC_WRITE, &raw[i].key, why,
                           sizeof(why)));
    }
    for (uint32_t i = 0; i < 2; i++)
        FINE(snic_attach(raw[i].nic, i ? "zero" : "one", 0, &raw[i].peer, why, sizeof(why)));
}

/* ---- one operation after the other ---- */

static void raw_put(void)
{
    FINE(snic_put(raw[0].peer, &raw[1].key, 0, raw[0].memory, 8));
}

static void plain_copy(void)
{
    memcpy(raw[1].memory, raw[0].memory, LARGE);
    __asm__ volatile("" ::: "memory");
}

/* Descriptors are filled once; what the library writes into them is all that changes. */
static gni_post_descriptor_t told, silent, large_put, large_get;

static void prepare(gni_post_descriptor_t *d, gni_post_type_t type, uint64_t length, uint16_t mode)
{
    memset(d, 0, sizeof(*d));
    d->type = type;
    d->cq_mode = mode;
    d->local_addr = (uint64_t)(uintptr_t)node[0].memory;
    d->local_mem_hndl = node[0].handle;
    d->remote_addr = (uint64_t)(uintptr_t)node[1].memory;
    d->remote_mem_hndl = node[1].handle;
    d->length = length;
}

static void prepare_all(void)
{
    prepare(&told, GNI_POST_FMA_PUT, 8, GNI_CQMODE_GLOBAL_EVENT);
    prepare(&silent, GNI_POST_FMA_PUT, 8, GNI_CQMODE_SILENT);
    prepare(&large_put, GNI_POST_RDMA_PUT, LARGE, GNI_CQMODE_GLOBAL_EVENT);
    prepare(&large_get, GNI_POST_RDMA_GET, LARGE, GNI_CQMODE_GLOBAL_EVENT);
}

static void finish(int at)
{
    gni_post_descriptor_t *done;
    gni_cq_entry_t entry;

    OK(GNI_CqGetEvent(node[at].cq, &entry));
    OK(GNI_GetCompleted(node[at].cq, entry, &done));
}

static void fma_put(void)
{
    OK(GNI_PostFma(node[0].ep, &told));
    finish(0);
}

static void fma_silent(void)
{
    OK(GNI_PostFma(node[0].ep, &silent));
}

static void bte_put(void)
{
    OK(GNI_PostRdma(node[0].ep, &large_put));
    finish(0);
}

static void bte_get(void)
{
    OK(GNI_PostRdma(node[0].ep, &large_get));
    finish(0);
}

/* The three calls of a post that is told, each by itself: 0 the post, 1 its event, 2 its end. */
static double one_call(int which)
{
    static gni_post_descriptor_t d[IN_A_ROW];
    static gni_cq_entry_t entry[IN_A_ROW];
    gni_post_descriptor_t *done;
    double at[4];

    for (int i = 0; i < IN_A_ROW; i++)
        prepare(&d[i], GNI_POST_FMA_PUT, 8, GNI_CQMODE_GLOBAL_EVENT);
    at[0] = spent();
    for (int i = 0; i < IN_A_ROW; i++)
        OK(GNI_PostFma(node[0].ep, &d[i]));
    at[1] = spent();
    for (int i = 0; i < IN_A_ROW; i++)
        OK(GNI_CqGetEvent(node[0].cq, &entry[i]));
    at[2] = spent();
    for (int i = 0; i < IN_A_ROW; i++)
        OK(GNI_GetCompleted(node[0].cq, entry[i], &done));
    at[3] = spent();
    return at[which + 1] - at[which];
}

/* ---- there and back, or there, two threads ---- */

static void raw_send(int from, uint64_t value)
{
    FINE(snic_put(raw[from].peer, &raw[1 - from].key, 0, &value, 8));
}

static void raw_take(int at, uint64_t value)
{
    while (__atomic_load_n((uint64_t *)(void *)raw[at].memory, __ATOMIC_ACQUIRE) != value)
        ;
}

static void fma_send(int from, uint64_t value)
{
    static gni_post_descriptor_t d[2];
    gni_post_descriptor_t *p = &d[from];

    p->type = GNI_POST_FMA_PUT;
    p->cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    p->local_addr = (uint64_t)(uintptr_t)&value;
    p->remote_addr = (uint64_t)(uintptr_t)node[1 - from].memory;
    p->remote_mem_hndl = node[1 - from].handle;
    p->length = 8;
    OK(GNI_PostFma(node[from].ep, p));
    finish(from);
}

static void fma_take(int at, uint64_t value)
{
    while (__atomic_load_n((uint64_t *)(void *)node[at].memory, __ATOMIC_ACQUIRE) != value)
        ;
}

static void smsg_send(int from, uint64_t value)
{
    gni_cq_entry_t entry;
    gni_return_t code;

    while ((code = GNI_SmsgSend(node[from].ep, &value, 8, NULL, 0, 1)) == GNI_RC_NOT_DONE)
        ;
    OK(code);
    OK(GNI_CqGetEvent(node[from].cq, &entry));
}

static void smsg_take(int at, uint64_t value)
{
    gni_return_t code;
    void *message;

    while ((code = GNI_SmsgGetNext(node[at].ep, &message)) == GNI_RC_NOT_DONE)
        ;
    OK(code);
    if (memcmp(message, &value, 8) != 0)
        OK(GNI_RC_TRANSACTION_ERROR);
    OK(GNI_SmsgRelease(node[at].ep));
}

/* As many lines as there are credits, each with its number: what the machine can hand over. */
static void line_send(int from, uint64_t value)
{
    uint64_t *line = (uint64_t *)(void *)(raw[1 - from].memory + value % CREDITS * 64);
    uint64_t *taken = (uint64_t *)(void *)(raw[from].memory + MAILBOX);

    while (value > CREDITS - CREDITS / 4 &&
           __atomic_load_n(taken, __ATOMIC_ACQUIRE) + CREDITS - CREDITS / 4 < value)
        ;
    line[1] = value;
    __atomic_store_n(line, value, __ATOMIC_RELEASE);
}

static void line_take(int at, uint64_t value)
{
    uint64_t *line = (uint64_t *)(void *)(raw[at].memory + value % CREDITS * 64);

    while (__atomic_load_n(line, __ATOMIC_ACQUIRE) != value)
        ;
    if (line[1] != value)
        OK(GNI_RC_TRANSACTION_ERROR);
    if (value % (CREDITS / 4) == 0)
        __atomic_store_n((uint64_t *)(void *)(raw[1 - at].memory + MAILBOX), value,
                         __ATOMIC_RELEASE);
}

static void connect_messages(void)
{
    gni_smsg_attr_t attr[2];

    memset(attr, 0, sizeof(attr));
    for (int i = 0; i < 2; i++) {
        attr[i].msg_type = GNI_SMSG_TYPE_MBOX;
        attr[i].msg_buffer = node[i].memory;
        attr[i].buff_size = BYTES;
        attr[i].mem_hndl = node[i].handle;
        attr[i].mbox_offset = MAILBOX;
        attr[i].mbox_maxcredit = CREDITS;
        attr[i].msg_maxsize = 64;
    }
    OK(GNI_SmsgInit(node[0].ep, &attr[0], &attr[1]));
    OK(GNI_SmsgInit(node[1].ep, &attr[1], &attr[0]));
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
