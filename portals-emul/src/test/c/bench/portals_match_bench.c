/*
 * portals-match-bench: what a match list costs. Puts of 8 bytes from one process into another,
 * one after the other, into lists of different depths; the entry that takes them is the last.
 *
 *   portals-match-bench [--kind KIND --depth N] [--samples N] [--puts N] [--cpus A,B]
 *
 * KIND: exact   no entry ignores a bit (found through the index)
 *       wild    every entry ignores some bits (walked one by one)
 *       mixed   one entry in a hundred does, the others none
 *       any     one entry that takes everything: a put without matching
 *       plain   no Portals: a put by registration key of the software NIC
 *       event   as exact, and a full event for each put
 *
 * Without --kind: all of them at depths 1 to 10,000, in turn, medians over the samples, one JSON
 * object per line: ns of processor time per put, puts per second, ratio over "any" and ns per entry
 * that was walked.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "portals3.h"
#include "portals3_ext.h"
#include "softnic.h"

#define SAMPLES_MAX 101
#define BATCHES 20

enum kind { EXACT, WILD, MIXED, ANY, PLAIN, EVENT, KINDS };
static const char *const names[KINDS] = {"exact", "wild", "mixed", "any", "plain", "event"};

struct row {
    enum kind kind;
    uint32_t depth;
    double ns[SAMPLES_MAX];
};

static struct row rows[] = {
    {ANY, 1, {0}},       {PLAIN, 1, {0}},     {EXACT, 1, {0}},     {EXACT, 10, {0}},
    {EXACT, 100, {0}},   {EXACT, 1000, {0}},  {EXACT, 10000, {0}}, {MIXED, 100, {0}},
    {MIXED, 1000, {0}},  {MIXED, 10000, {0}}, {WILD, 1, {0}},      {WILD, 10, {0}},
    {WILD, 100, {0}},    {WILD, 1000, {0}},   {WILD, 10000, {0}},  {EVENT, 1, {0}},
    {EVENT, 10000, {0}},
};
#define ROWS ((int)(sizeof(rows) / sizeof(rows[0])))

/* What the target tells the initiator. */
static struct shared {
    ptl_process_id_t id;
    char name[SNIC_NAME_MAX];
    snic_key_t key;
} * shared;

static ptl_handle_ni_t ni;
static ptl_handle_md_t source;
static snic_t *nic;
static snic_peer_t *peer;

/* Of this thread, which never sleeps: what others take from the processor does not count. */
static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: %s\n", what, PtlExtError());
    _exit(1);
}

static void open_both(void)
{
    snic_options_t options = {
        .job = "match-bench", .personality = SNIC_SHM, .registrations_max = 8};
    char why[SNIC_WHY_MAX] = "";
    int interfaces;

    must(PtlInit(&interfaces) == PTL_OK, "PtlInit");
    must(PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, NULL, NULL, &ni) == PTL_OK, "PtlNIInit");
    must(snic_open(&options, &nic, why, sizeof(why)) == 0 && snic_publish(nic) == 0, why);
}

/* ---- target ---- */

static void post(uint32_t index, uint64_t bits, uint64_t ignored, void *start, ptl_handle_eq_t eq)
{
    const ptl_process_id_t anybody = {PTL_NID_ANY, PTL_PID_ANY};
    ptl_handle_me_t me;
    ptl_md_t md = {.start = start,
                   .length = 64,
                   .threshold = PTL_MD_THRESH_INF,
                   .options = PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE | PTL_MD_EVENT_START_DISABLE,
                   .eq_handle = eq};

    must(PtlMEAttach(ni, index, anybody, bits, ignored, PTL_RETAIN, PTL_INS_AFTER, &me) == PTL_OK,
         "PtlMEAttach");
    must(PtlMDAttach(me, md, PTL_RETAIN, NULL) == PTL_OK, "PtlMDAttach");
}

/* Entry i has bits i; only the last has those of the requests. */
static void post_list(uint32_t index, enum kind kind, uint32_t depth, void *memory,
                      ptl_handle_eq_t eq)
{
    for (uint32_t i = 1; i <= depth; i++) {
        uint64_t ignored = kind == ANY                      ? UINT64_MAX
                           : kind == WILD                   ? 1ull << 63
                           : kind == MIXED && i % 100 == 50 ? 1ull << 63
                                                            : 0;

        post(index, i, ignored, memory, kind == EVENT ? eq : PTL_EQ_NONE);
    }
}

static void target(int ready, int end)
{
    char why[SNIC_WHY_MAX] = "", byte = 0;
    ptl_handle_eq_t eq;
    ptl_event_t event;
    void *memory = NULL, *plain = NULL;

    open_both();
    must(PtlExtMemoryAlloc(ni, 4096, 0, &memory) == PTL_OK, "PtlExtMemoryAlloc");
    must(PtlEQAlloc(ni, 1024, PTL_EQ_HANDLER_NONE, &eq) == PTL_OK, "PtlEQAlloc");
    for (int i = 0; i < ROWS; i++)
        if (rows[i].kind != PLAIN)
            post_list((uint32_t)i, rows[i].kind, rows[i].depth, memory, eq);
    must(snic_memory_alloc(nic, 4096, 0, &plain, why, sizeof(why)) == 0, why);
    must(snic_register(nic, plain, 4096, SNIC_WRITE, &shared->key, why, sizeof(why)) == 0, why);
    snprintf(shared->name, sizeof(shared->name), "%s", snic_name(nic));
    must(PtlGetId(ni, &shared->id) == PTL_OK, "PtlGetId");
    must(write(ready, &byte, 1) == 1, "write");
    /* The queue overflows and is meant to: its reader is not what is measured. */
    must(read(end, &byte, 1) >= 0, "read");
    (void)PtlEQGet(eq, &event);
    snic_close(nic);
    PtlFini();
}

/* ---- initiator ---- */

static void put_once(const struct row *row, uint32_t index, const uint64_t *value)
{
    if (row->kind == PLAIN)
        must(snic_put(peer, &shared->key, 0, value, 8) == 0, "snic_put");
    else
        must(PtlPut(source, PTL_NO_ACK_REQ, shared->id, index, 0, row->depth, 0, 0) == PTL_OK,
             "PtlPut");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* The median batch. */
static double measure(const struct row *row, uint32_t index, int puts)
{
    static uint64_t value = 42;
    double batches[BATCHES];
    /* A walk over many entries takes as long as many puts. */
    int each = row->kind == WILD || row->kind == MIXED ? puts / (1 + (int)row->depth / 50) : puts;

    each = each / BATCHES < 10 ? 10 : each / BATCHES;
    put_once(row, index, &value);
    must(row->kind == PLAIN || PtlExtLastOutcome() == PTL_EXT_DELIVERED, "a put was not taken");
    for (int b = 0; b < BATCHES; b++) {
        double begin = now_ns();

        for (int i = 0; i < each; i++)
            put_once(row, index, &value);
        batches[b] = (now_ns() - begin) / each;
    }
    qsort(batches, BATCHES, sizeof(batches[0]), by_value);
    return batches[BATCHES / 2];
}

static double median(struct row *row, int samples)
{
    qsort(row->ns, (size_t)samples, sizeof(row->ns[0]), by_value);
    return row->ns[samples / 2];
}

/* Entries that the walk passes on its way to the last. */
static uint32_t walked(const struct row *row)
{
    return row->kind == WILD ? row->depth : row->kind == MIXED ? row->depth / 100 : 0;
}

static void print(int samples)
{
    double any = median(&rows[0], samples);

    for (int i = 0; i < ROWS; i++) {
        double ns = median(&rows[i], samples);

        printf("{\"op\":\"match\",\"kind\":\"%s\",\"depth\":%u,\"ns\":%.1f,\"mpps\":%.3f,"
               "\"over_any\":%.2f",
               names[rows[i].kind], rows[i].depth, ns, 1e3 / ns, ns / any);
        if (walked(&rows[i]) >= 100)
            printf(",\"ns_per_entry\":%.2f", (ns - any) / walked(&rows[i]));
        printf("}\n");
    }
}

static void initiator(int samples, int puts, int only)
{
    static uint8_t eight[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ptl_md_t md = {
        .start = eight, .length = 8, .threshold = PTL_MD_THRESH_INF, .eq_handle = PTL_EQ_NONE};
    char why[SNIC_WHY_MAX] = "";

    open_both();
    must(PtlMDBind(ni, md, PTL_RETAIN, &source) == PTL_OK, "PtlMDBind");
    must(snic_attach(nic, shared->name, 0, &peer, why, sizeof(why)) == 0, why);
    for (int s = 0; s < samples; s++)
        for (int i = 0; i < ROWS; i++)
            if (only < 0 || i == only)
                rows[i].ns[s] = measure(&rows[i], (uint32_t)i, puts);
    if (only < 0)
        print(samples);
    else
        printf("{\"op\":\"match\",\"kind\":\"%s\",\"depth\":%u,\"value\":%.2f}\n",
               names[rows[only].kind], rows[only].depth, median(&rows[only], samples));
    snic_detach(peer);
    snic_close(nic);
    PtlFini();
}

/* ---- arguments ---- */

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static int row_of(const char *kind, uint32_t depth)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(kind, names[rows[i].kind]) == 0 && rows[i].depth == depth)
            return i;
    fprintf(stderr, "no list of kind %s and depth %u; kinds and depths as without --kind\n", kind,
            depth);
    exit(2);
}

int main(int argc, char **argv)
{
    int samples = 9, puts = 200000, cpus[2] = {0, 1}, ready[2], end[2], state = 1;
    const char *kind = NULL;
    uint32_t depth = 1;
    char byte;
    pid_t child;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--kind") == 0)
            kind = argv[i + 1];
        else if (strcmp(argv[i], "--depth") == 0)
            depth = (uint32_t)atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--samples") == 0)
            samples = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--puts") == 0)
            puts = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--cpus") != 0 ||
                 sscanf(argv[i + 1], "%d,%d", &cpus[0], &cpus[1]) != 2)
            return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
    }
    if (samples < 1 || samples > SAMPLES_MAX || puts < 200)
        return fprintf(stderr, "samples 1 to %d, puts from 200\n", SAMPLES_MAX), 2;
    state = kind ? row_of(kind, depth) : -1;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || pipe(ready) != 0 || pipe(end) != 0 || (child = fork()) < 0)
        return 1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(end[1]);
        pin(cpus[1]);
        target(ready[1], end[0]);
        return 0;
    }
    close(ready[1]);
    if (read(ready[0], &byte, 1) != 1)
        return 1;
    pin(cpus[0]);
    initiator(samples, puts, state);
    close(end[1]);
    waitpid(child, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}
