/*
 * What tests share that kill one of two processes: at each labelled step, the first time and later,
 * or at a random instant. Whoever is left goes on, another initiator does the whole work again, and
 * the invariant checker finds nothing.
 */
#ifndef KILL_STEPS_H
#define KILL_STEPS_H
#include "test.h"
#include "repeats.h"
#include "softnic_layout.h"
#include "softnic_steps.h"
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS 1000000ll
#define SIZE 70000 /* bytes of memory that peers use */
#define LABELS_MAX 128
static const char *const labels[] = {
#define NAME(label) label,
    SNIC_STEPS(NAME)};

enum role { TARGET = 0, INITIATOR = 1, ROLES = 2 };
static struct control {
    uint32_t counts[ROLES][LABELS_MAX];
    int kill_role, kill_label, kill_at;
    int signal; /* 0: SIGKILL */
    _Atomic int stop;
    _Atomic int stopped_at_label;
    int reached;
    snic_key_t key;
} * control;
static int my_role;
static char why[SNIC_WHY_MAX];
static char text[65536];

static inline int label_index(const char *label)
{
    for (int i = 0; i < COUNT(labels); i++)
        if (strcmp(labels[i], label) == 0)
            return i;
    test_fail(__FILE__, __LINE__, "step %s is not in softnic_steps.h", label);
}

static inline void hook(const char *label)
{
    int i = label_index(label);
    int n = (int)__atomic_add_fetch(&control->counts[my_role][i], 1, __ATOMIC_RELAXED);
    if (my_role == control->kill_role && i == control->kill_label && n == control->kill_at) {
        control->reached = 1;
        kill(getpid(), control->signal ? control->signal : SIGKILL);
    }
}

static inline void start_role(int role)
{
    my_role = role;
    snic_step_hook_all = hook;
}

static inline void no_kill(void)
{
    control->kill_role = -1;
}

static inline void prepare(void)
{
    control =
        mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(control != MAP_FAILED);
    no_kill();
}

static inline void fresh_run(int role, int label, int at)
{
    memset(control, 0, sizeof *control);
    control->kill_role = role;
    control->kill_label = label;
    control->kill_at = at;
}

static inline void check_segments(const char *when)
{
    int n = snic_check(NULL, "job", text, sizeof text);
    /* Somebody who is alive, or not yet quite dead, may be in the middle of something. */
    for (int i = 0; n > 0 && i < 200; i++) {
        usleep(10000);
        n = snic_check(NULL, "job", text, sizeof text);
    }
    if (n != 0 && n != -ENOENT)
        test_fail(__FILE__, __LINE__, "%s, killed in role %d at %s (%d): %d violations: %s", when,
                  control->kill_role, control->kill_label >= 0 ? labels[control->kill_label] : "-",
                  control->kill_at, n, text);
}

/* A new NIC of the job sweeps; then nothing but itself may be there. */
static inline void check_nothing_is_left(void)
{
    char path[512];
    snic_t *nic;
    snic_options_t o = {.job = "job", .name = "sweeper", .registrations_max = 8};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    CHECK_EQ(snic_close(nic), 0);
    snprintf(path, sizeof path, "%s/verbena-%u/job", test_folder, (unsigned)geteuid());
    DIR *d = opendir(path);
    struct dirent *e;
    while ((e = readdir(d)))
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
            test_fail(__FILE__, __LINE__, "%s is left behind", e->d_name);
    closedir(d);
}

/* ---- one of two dies ---- */

struct scenario {
    void (*target)(void *);
    void (*initiator)(void *);
};

/* One run: kill `role` at the at-th time it comes to the label. 1: it came there. */
static inline int run_kill(const struct scenario *s, int role, int label, int at)
{
    fresh_run(role, label, at);
    int target = test_fork(s->target, NULL);
    int first = test_fork(s->initiator, "first");
    int killed = test_join_killed(first);
    CHECK(!(killed && role != INITIATOR));
    check_segments("after the first initiator");
    if (role == TARGET) {
        atomic_store(&control->stop, 1);
        killed = test_join_killed(target);
        check_segments("after the target");
        atomic_store(&control->stop, 0);
        no_kill();
        target = test_fork(s->target, NULL);
    }
    no_kill();
    test_join(test_fork(s->initiator, "second"), 0);
    check_segments("after the second initiator");
    atomic_store(&control->stop, 1);
    test_join(target, 0);
    check_segments("at the end");
    check_nothing_is_left();
    return killed;
}

static inline int starts_with(const char *label, const char *prefixes)
{
    char copy[256], *save, *p;
    snprintf(copy, sizeof copy, "%s", prefixes);
    for (p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
        if (strncmp(label, p, strlen(p)) == 0)
            return 1;
    return 0;
}

/* The first label of these that no role has come to; -1: none. */
static inline int unreached_label(uint32_t counts[ROLES][LABELS_MAX], const char *prefixes,
                                  const char *unreached)
{
    for (int label = 0; label < COUNT(labels); label++)
        if (starts_with(labels[label], prefixes) && !starts_with(labels[label], unreached) &&
            !counts[TARGET][label] && !counts[INITIATOR][label])
            return label;
    return -1;
}

/*
 * How often each label is come to. On a busy machine an initiator may find every key stale in one
 * run.
 */
static inline void count_steps(const struct scenario *s, uint32_t counts[ROLES][LABELS_MAX],
                               const char *prefixes, const char *unreached)
{
    int missing = 0;
    for (int runs = 0; runs < 20 && missing >= 0; runs++) {
        CHECK_EQ(run_kill(s, -1, -1, 0), 0);
        for (int role = 0; role < ROLES; role++)
            for (int label = 0; label < LABELS_MAX; label++)
                if (counts[role][label] == 0)
                    counts[role][label] = control->counts[role][label];
        missing = unreached_label(counts, prefixes, unreached);
    }
    if (missing >= 0)
        test_fail(__FILE__, __LINE__, "no run comes to step %s", labels[missing]);
}

/* ThreadSanitizer sees one process at a time: it has a share of the steps, by the seed. */
static inline int is_due(int step)
{
#ifdef __SANITIZE_THREAD__
    return step % one_round_of() == (int)(test_seed % (uint64_t)one_round_of());
#else
    (void)step;
    return 1;
#endif
}

/* At every label that the scenario reaches: the first time and once more at random. */
static inline void kill_at_steps(const struct scenario *s, const char *prefixes,
                                 const char *unreached)
{
    uint32_t counts[ROLES][LABELS_MAX] = {{0}};
    uint64_t random = test_seed;
    prepare();
    count_steps(s, counts, prefixes, unreached);
    for (int label = 0; label < COUNT(labels); label++) {
        if (!starts_with(labels[label], prefixes) || !is_due(label))
            continue;
        for (int role = 0; role < ROLES; role++) {
            uint32_t n = counts[role][label];
            if (n == 0)
                continue;
            run_kill(s, role, label, 1);
            /* Counts differ from run to run: a step that is not reached this time is no failure. */
            if (n > 2 && repeats(2) == 2)
                run_kill(s, role, label, 2 + (int)(test_random(&random) % (n / 2)));
        }
    }
}

static inline void kill_at_random(const struct scenario *s, int runs)
{
    uint64_t random = test_seed;
    prepare();
    for (int i = 0; i < runs; i++) {
        int role = i & 1;
        fresh_run(role, -1, 0);
        int target = test_fork(s->target, NULL);
        int first = test_fork(s->initiator, "first");
        usleep((useconds_t)(test_random(&random) % 4000));
        control->reached = 1;
        kill(role == TARGET ? target : first, SIGKILL);
        test_join_killed(first);
        check_segments("after the first initiator");
        if (role == TARGET) {
            test_join_killed(target);
            target = -1;
        }
        control->reached = 0;
        no_kill();
        if (target < 0)
            target = test_fork(s->target, NULL);
        test_join(test_fork(s->initiator, "second"), 0);
        atomic_store(&control->stop, 1);
        test_join(target, 0);
        check_segments("at the end");
        check_nothing_is_left();
    }
}
#endif
