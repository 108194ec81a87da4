/*
 * softnic-bench: put, get and send over softnic in C, beside what the machine can do at best, in
 * the same run.
 *
 *   softnic-bench [--op OP,...] [--size BYTES,...] [--samples N] [--ms N] [--cpus A,B] [--list]
 *
 * Two processes, each pinned to a core. For each operation and size, N times: the limit, then
 * softnic. One JSON object per line and sample:
 *
 *   op      what was measured (see --list)
 *   impl    "limit" (a plain C loop) or "softnic"
 *   size    bytes
 *   metric  "ns" (one way, unless the op says otherwise), "GB/s" (10^9 payload bytes) or "Mop/s"
 *   value   median of the batches of this sample
 *   line_before_ns, line_after_ns
 *           round trip of a cache line between the two cores, around the sample: virtual cores
 *           move between near and far, and every latency moves with them
 */
#define _GNU_SOURCE
#include "softnic_operations.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BATCHES_MAX SINGLES_MAX
#define SINGLES_MAX 20000
#define SINGLES_MIN 1000 /* for a percentile of 99.9 */
#define LARGEST (1ull << 30)

static int cpus[2] = {0, 1};
static int64_t sample_ns = 50000000;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pin_to(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu % (int)sysconf(_SC_NPROCESSORS_ONLN), &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* ---- running ---- */

static void right_main(void)
{
    uint64_t seen = 0;
    while (!atomic_load(&board->quit)) {
        uint64_t command = atomic_load_explicit(&board->command.word, memory_order_acquire);
        if (command == seen)
            continue;
        seen = command;
        const struct op *op = &ops[board->op];
        for (uint64_t i = 1; op->right && i <= board->iterations; i++)
            op->right(i, board->size);
        set_word(&board->done.word, seen);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds of one step: of batches, the one at a rank from 0 to 1. */
static double run_batches(int index, uint64_t size, uint64_t iterations, uint64_t batch,
                          double rank)
{
    static double batches[BATCHES_MAX];
    const struct op *op = &ops[index];
    int n = 0;
    iterations = iterations / batch * batch;
    set_word(&board->ping.word, 0);
    set_word(&board->pong.word, 0);
    set_word(&board->futex_a.word, 0);
    set_word(&board->futex_b.word, 0);
    uint64_t zero = 0;
    snic_put(peer, &board->key[RIGHT], capacity, &zero, 8);
    memset(mine + capacity, 0, 8);
    board->op = index;
    board->size = size;
    board->iterations = iterations;
    set_word(&board->command.word, board->command.word + 1);
    uint64_t last = now();
    for (uint64_t i = 1; i <= iterations;) {
        for (uint64_t k = 0; k < batch; k++, i++)
            op->left(i, size);
        uint64_t t = now();
        if (n < BATCHES_MAX)
            batches[n++] = (double)(t - last) / (double)batch;
        last = t;
    }
    await_word(&board->done.word, board->command.word);
    qsort(batches, (size_t)n, sizeof *batches, compare);
    return batches[(int)(rank * n)];
}

static double run(int index, uint64_t size, uint64_t iterations)
{
    return run_batches(index, size, iterations, iterations / 200 ? iterations / 200 : 1, 0.5);
}

static double line_round_trip(void)
{
    atomic_store(&board->looks, PAUSING);
    return run(0, 8, 20000);
}

/* Of the ways to wait the fastest for an operation, each tried in turn. */
static void choose_looks(int index, uint64_t size, double guess)
{
    uint64_t iterations = guess > 100 ? (uint64_t)(2e6 / guess) + 1 : 20000;
    double best[LOOKS] = {1e18, 1e18, 1e18};
    int fastest = AT_ONCE;
    for (int i = 0; i < 3 * LOOKS; i++) {
        atomic_store(&board->looks, i % LOOKS);
        double ns = run(index, size, iterations);
        best[i % LOOKS] = ns < best[i % LOOKS] ? ns : best[i % LOOKS];
    }
    for (int i = 1; i < LOOKS; i++)
        fastest = best[i] < best[fastest] ? i : fastest;
    atomic_store(&board->looks, fastest);
}

static void sample(int index, uint64_t size)
{
    const struct op *op = &ops[index];
    double before = line_round_trip();
    double guess = run(index, size, 20);
    if (op->throughput)
        choose_looks(0, 8, 100); /* as for the line: a step of it may be long */
    else if (op->right)
        choose_looks(index, size, guess);
    uint64_t iterations = (uint64_t)((double)sample_ns / (guess > 1 ? guess : 1));
    iterations = iterations < 20 ? 20 : iterations > 20000000 ? 20000000 : iterations;
    double ns = run(index, size, iterations);
    double tail = 0;
    int has_tail = !op->throughput && iterations >= SINGLES_MIN;
    if (has_tail) {
        uint64_t singles = iterations < SINGLES_MAX ? iterations : SINGLES_MAX;
        tail = run_batches(index, size, singles, 1, 0.999);
    }
    double after = line_round_trip();
    double part = op->right && !op->throughput ? 0.5 : 1;
    double value = part * ns;
    const char *metric = "ns";
    if (op->throughput) {
        metric = size >= 4096 ? "GB/s" : "Mop/s";
        value = size >= 4096 ? (double)size / ns : 1000 / ns;
    }
    printf("{\"op\":\"%s\",\"impl\":\"%s\",\"size\":%llu,\"metric\":\"%s\",\"value\":%.4f,",
           op->name, op->impl, (unsigned long long)size, metric, value);
    if (has_tail)
        printf("\"p999Ns\":%.1f,", part * tail);
    printf("\"iterations\":%llu,\"line_before_ns\":%.1f,\"line_after_ns\":%.1f}\n",
           (unsigned long long)iterations, before, after);
    fflush(stdout);
}

/* ---- set-up ---- */

static void *shared(uint64_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        die("mmap");
    return p;
}

static void next_event(shm_event_t *e, uint32_t type)
{
    while (shm_poll(shm, e, 1) == 0)
        shm_await(shm, (int64_t)now() + 1000000);
    if (e->type != type)
        die("unexpected event while connecting");
}

static void set_up(const char *job)
{
    shm_event_t e;
    shm_options_t o = {.job = job, .name = side == LEFT ? "left" : "right", .connections_max = 2};
    pin_to(cpus[side]);
    source = aligned_alloc(4096, capacity + 4096);
    memset(source, 1, capacity);
    if (shm_create(&o, &shm, why, sizeof why) != 0)
        die("open");
    if (snic_memory_alloc(shm_nic(shm), capacity + 4096, 1, (void **)&mine, why, sizeof why) != 0)
        die("allocate");
    memset(mine, 0, capacity + 4096);
    if (snic_register(shm_nic(shm), mine, capacity + 4096, 7, &board->key[side], why, sizeof why) !=
        0)
        die("register");
    if (side == RIGHT) {
        board->foreign_ok =
            snic_register(shm_nic(shm), source, capacity, 7, &board->foreign, why, sizeof why) == 0;
        board->foreign_address = (uint64_t)(uintptr_t)source;
        shm_listen(shm);
    }
    atomic_store(&board->ready[side], 1);
    while (!atomic_load(&board->ready[!side]))
        usleep(500);
    if (side == LEFT) {
        connection = shm_connect(shm, "right", 0, NULL, 0, 0, -1, why, sizeof why);
        if (connection < 0)
            die("connect");
        next_event(&e, SHM_EVENT_CONNECTED);
    } else {
        next_event(&e, SHM_EVENT_CONNECT_REQUEST);
        connection = e.connection;
        shm_accept(shm, connection, 0);
    }
    peer = shm_peer(shm, connection);
}

static int in_list(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = list; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, word, n) == 0 && (p[n] == 0 || p[n] == ','))
            return 1;
    return 0;
}

static int fits(const struct op *op, uint64_t size)
{
    if (strncmp(op->name, "send_", 5) == 0)
        return size <= 4096;
    if (strcmp(op->name, "line") == 0 || strcmp(op->name, "fetch_add") == 0 ||
        strcmp(op->name, "wake") == 0)
        return size == 8;
    if (strcmp(op->name, "foreign_bw") == 0)
        return board->foreign_ok;
    return 1;
}

static void usage(void)
{
    fprintf(stderr, "usage: softnic-bench [--op OP,...] [--size BYTES,...] [--samples N] [--ms N] "
                    "[--cpus A,B] [--list]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    const char *want = NULL, *sizes = "8,64,512,4096,65536,1048576,4194304,67108864";
    int samples = 10;
    char job[64];
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--list") == 0) {
            for (int k = 0; k < OPS; k++)
                printf("%-10s %-8s %s\n", ops[k].name, ops[k].impl, ops[k].text);
            return 0;
        }
        if (i + 1 >= argc)
            usage();
        if (strcmp(argv[i], "--op") == 0)
            want = argv[++i];
        else if (strcmp(argv[i], "--size") == 0)
            sizes = argv[++i];
        else if (strcmp(argv[i], "--samples") == 0)
            samples = atoi(argv[++i]);
        else if (strcmp(argv[i], "--ms") == 0)
            sample_ns = atoll(argv[++i]) * 1000000;
        else if (strcmp(argv[i], "--cpus") == 0 &&
                 sscanf(argv[++i], "%d,%d", &cpus[0], &cpus[1]) == 2)
            continue;
        else
            usage();
    }
    for (const char *p = sizes; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        uint64_t size = strtoull(p, NULL, 10);
        if (size < 8 || size > LARGEST)
            usage();
        capacity = size > capacity ? size : capacity;
    }
    capacity = (capacity + 4095) & ~4095ull;
    board = shared(sizeof *board);
    limit_memory[LEFT] = shared(2 * capacity);
    limit_memory[RIGHT] = limit_memory[LEFT] + capacity;
    memset(limit_memory[LEFT], 0, 2 * capacity);
    snprintf(job, sizeof job, "bench-%d", (int)getpid());
    other_pid = fork();
    side = other_pid == 0 ? RIGHT : LEFT;
    if (side == RIGHT)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    set_up(job);
    if (side == RIGHT) {
        right_main();
        shm_close(shm);
        return 0;
    }
    for (const char *p = sizes; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        uint64_t size = strtoull(p, NULL, 10);
        for (int k = 0; k < OPS; k++)
            for (int i = 0; i < samples; i++) {
                /* a limit and its softnic twin alternate */
                if ((want && !in_list(want, ops[k].name)) || !fits(&ops[k], size) ||
                    (k > 0 && strcmp(ops[k - 1].name, ops[k].name) == 0))
                    continue;
                sample(k, size);
                if (k + 1 < OPS && strcmp(ops[k + 1].name, ops[k].name) == 0)
                    sample(k + 1, size);
            }
    }
    atomic_store(&board->quit, 1);
    waitpid(other_pid, NULL, 0);
    return shm_close(shm) != 0;
}
