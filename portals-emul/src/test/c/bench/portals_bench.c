/*
 * portals-bench: an 8-byte put with match list and full event, in C, beside the hand-over of a
 * cache line in the same run. Two processes, each pinned to a core, take turns; both spin.
 *
 *   portals-bench [--samples N] [--rounds N] [--cpus A,B]
 *
 * One JSON object per line and sample: line_ns and put_ns are one way (half a round trip), medians
 * of batches of 1000 rounds; ratio = put_ns / line_ns. The line is measured before and after; a
 * sample in which it moved by more than a third says "moved": 1, because virtual cores change
 * places and every latency with them.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "portals3.h"
#include "portals3_ext.h"

#define BATCH 100
#define BATCHES_MAX 10000

struct shared {
    _Alignas(128) _Atomic uint64_t line;
    _Alignas(128) _Atomic int stage;
    _Alignas(128) ptl_process_id_t id[2];
};

static struct shared *shared;
static ptl_handle_ni_t ni;
static ptl_handle_eq_t eq;
static ptl_handle_md_t source;

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void must(int code, const char *what)
{
    if (code == PTL_OK)
        return;
    fprintf(stderr, "%s: %s (%s)\n", what, PtlErrorStr((unsigned)code), PtlExtError());
    _exit(1);
}

static void open_side(int side)
{
    const ptl_process_id_t anybody = {PTL_NID_ANY, PTL_PID_ANY};
    ptl_ext_options_t options = {.event_slots = 8192};
    ptl_ni_limits_t limits = {64, 64, 8, 7, 7, 8, 64, 64};
    ptl_handle_me_t me;
    void *memory = NULL;
    ptl_md_t md = {.threshold = PTL_MD_THRESH_INF};
    int interfaces;

    must(PtlInit(&interfaces), "PtlInit");
    must(PtlExtNIOpen(&options, &limits, NULL, &ni, NULL, 0), "PtlExtNIOpen");
    must(PtlGetId(ni, &shared->id[side]), "PtlGetId");
    must(PtlEQAlloc(ni, 4096, PTL_EQ_HANDLER_NONE, &eq), "PtlEQAlloc");
    must(PtlExtMemoryAlloc(ni, 8192, 0, &memory), "PtlExtMemoryAlloc");
    /* Three entries are passed over before the one that matches. */
    for (uint64_t bits = 0; bits < 4; bits++) {
        must(PtlMEAttach(ni, 1, anybody, bits, 0, PTL_RETAIN, PTL_INS_AFTER, &me), "PtlMEAttach");
        md.start = memory;
        md.length = 4096;
        md.options = PTL_MD_OP_PUT | PTL_MD_MANAGE_REMOTE | PTL_MD_EVENT_START_DISABLE;
        md.eq_handle = eq;
        must(PtlMDAttach(me, md, PTL_RETAIN, NULL), "PtlMDAttach");
    }
    md.start = (char *)memory + 4096;
    md.length = 8;
    md.options = 0;
    md.eq_handle = PTL_EQ_NONE;
    must(PtlMDBind(ni, md, PTL_RETAIN, &source), "PtlMDBind");
}

static void send_to(int other)
{
    must(PtlPut(source, PTL_NO_ACK_REQ, shared->id[other], 1, 0, 3, 0, 0), "PtlPut");
}

static void receive(void)
{
    ptl_event_t event;
    int code;

    do
        code = PtlEQGet(eq, &event);
    while (code == PTL_EQ_EMPTY);
    must(code, "PtlEQGet");
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double line_ns(int side, int batches)
{
    static double values[BATCHES_MAX];
    uint64_t next = side == 0 ? 0 : 1;

    for (int b = 0; b < batches; b++) {
        double begin = now_ns();

        for (int i = 0; i < BATCH; i++) {
            if (side == 0)
                atomic_store_explicit(&shared->line, ++next, memory_order_release);
            while (atomic_load_explicit(&shared->line, memory_order_acquire) != next + (side == 0))
                ;
            next += side == 0 ? 1 : 2;
            if (side == 1)
                atomic_store_explicit(&shared->line, next - 1, memory_order_release);
        }
        values[b] = (now_ns() - begin) / BATCH / 2;
    }
    qsort(values, (size_t)batches, sizeof(values[0]), by_value);
    return values[batches / 2];
}

static double put_ns(int side, int batches)
{
    static double values[BATCHES_MAX];

    for (int b = 0; b < batches; b++) {
        double begin = now_ns();

        for (int i = 0; i < BATCH; i++) {
            if (side == 0)
                send_to(1);
            receive();
            if (side == 1)
                send_to(0);
        }
        values[b] = (now_ns() - begin) / BATCH / 2;
    }
    qsort(values, (size_t)batches, sizeof(values[0]), by_value);
    return values[batches / 2];
}

/* Both sides pass here before the next part. */
static void meet(int side, int number)
{
    if (side == 1) {
        atomic_store(&shared->stage, 2 * number + 1);
        while (atomic_load(&shared->stage) != 2 * number + 2)
            ;
    } else {
        while (atomic_load(&shared->stage) != 2 * number + 1)
            ;
        atomic_store(&shared->line, 0);
        atomic_store(&shared->stage, 2 * number + 2);
    }
}

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static void run(int side, int samples, int batches)
{
    int meeting = 0;

    open_side(side);
    for (int s = 0; s < samples; s++) {
        double before, put, after;

        meet(side, meeting++);
        before = line_ns(side, batches / 4 + 1);
        meet(side, meeting++);
        put = put_ns(side, batches);
        meet(side, meeting++);
        after = line_ns(side, batches / 4 + 1);
        if (side == 0) {
            double line = (before + after) / 2;
            int moved = before > after * 4 / 3 || after > before * 4 / 3;

            printf("{\"op\":\"put8_event\",\"impl\":\"portals3-c\",\"line_ns\":%.1f,"
                   "\"put_ns\":%.1f,\"ratio\":%.2f,\"moved\":%d}\n",
                   line, put, put / line, moved);
        }
    }
    meet(side, meeting);
    PtlFini();
}

int main(int argc, char **argv)
{
    int samples = 5, batches = 1000, cpus[2] = {0, 1}, state = 1;
    pid_t child;

    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--samples") == 0)
            samples = atoi(argv[i + 1]);
        else if (strcmp(argv[i], "--rounds") == 0)
            batches = atoi(argv[i + 1]) / BATCH;
        else if (strcmp(argv[i], "--cpus") != 0 ||
                 sscanf(argv[i + 1], "%d,%d", &cpus[0], &cpus[1]) != 2)
            return fprintf(stderr, "unknown option %s\n", argv[i]), 2;
    }
    if (samples < 1 || batches < 1 || batches > BATCHES_MAX)
        return fprintf(stderr, "samples from 1, rounds from 100 to 1000000\n"), 2;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || (child = fork()) < 0)
        return 1;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pin(cpus[1]);
        run(1, samples, batches);
        return 0;
    }
    pin(cpus[0]);
    run(0, samples, batches);
    waitpid(child, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1;
}
