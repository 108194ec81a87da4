/*
 * kill -9 at every labelled step and at random instants. Each run has a target (or server) and an
 * initiator (or client); one of them dies somewhere; whoever is left goes on, another initiator
 * does the whole work again, and the invariant checker finds nothing.
 */
#define _GNU_SOURCE
#include "test.h"
#include "repeats.h"
#include "shm_await.h"
#include "softnic_layout.h"
#include "softnic_steps.h"
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

#define MS 1000000ll
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
static uint32_t foreign;
static char why[SNIC_WHY_MAX];
static char text[65536];

static int label_index(const char *label)
{
    for (int i = 0; i < COUNT(labels); i++)
        if (strcmp(labels[i], label) == 0)
            return i;
    test_fail(__FILE__, __LINE__, "step %s is not in softnic_steps.h", label);
}

static void hook(const char *label)
{
    int i = label_index(label);
    int n = (int)__atomic_add_fetch(&control->counts[my_role][i], 1, __ATOMIC_RELAXED);
    if (my_role == control->kill_role && i == control->kill_label && n == control->kill_at) {
        control->reached = 1;
        kill(getpid(), control->signal ? control->signal : SIGKILL);
    }
}

static void start_role(int role)
{
    my_role = role;
    snic_step_hook_all = hook;
}

static void no_kill(void)
{
    control->kill_role = -1;
}

static void prepare(void)
{
    control =
        mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(control != MAP_FAILED);
    no_kill();
}

static void fresh_run(int role, int label, int at)
{
    memset(control, 0, sizeof *control);
    control->kill_role = role;
    control->kill_label = label;
    control->kill_at = at;
}

static void check_segments(const char *when)
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
static void check_nothing_is_left(void)
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

/* ---- softnic itself ---- */

#define SIZE 70000
struct core_area {
    snic_lock_t lock;
    uint32_t intent; /* between the two additions */
    uint64_t x, y;
    snic_key_t key, foreign_key;
    snic_location_t place;
};

static void recover(void *context, uint32_t dead_slot)
{
    struct core_area *area = context;
    (void)dead_slot;
    if (area->intent)
        area->y = area->x;
    area->intent = 0;
}

static void core_target(void *argument)
{
    static uint8_t foreign_memory[SIZE];
    snic_t *nic;
    void *m, *extra;
    (void)argument;
    start_role(TARGET);
    snic_options_t o = {.job = "job",
                        .name = "t",
                        .initiators_max = 4,
                        .registrations_max = 16,
                        .foreign = foreign,
                        .area_bytes = sizeof(struct core_area)};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    struct core_area *area = snic_area(nic);
    CHECK_EQ(snic_memory_alloc(nic, SIZE, 0, &m, why, sizeof why), 0);
    CHECK_EQ(snic_locate(nic, foreign_memory, SIZE, &area->place, why, sizeof why), 0);
    CHECK_EQ(snic_register(nic, foreign_memory, SIZE, 7, &area->foreign_key, why, sizeof why), 0);
    CHECK_EQ(snic_register(nic, m, SIZE, 7, &area->key, why, sizeof why), 0);
    CHECK_EQ(snic_publish(nic), 0);
    for (int round = 0; round < 3 || !atomic_load(&control->stop); round++) {
        CHECK_EQ(snic_lock_own(nic, &area->lock, 20000 * MS, recover, area), 0);
        CHECK_EQ(area->x, area->y);
        snic_key_t old = area->key;
        CHECK_EQ(snic_register(nic, m, SIZE, 7, &area->key, why, sizeof why), 0);
        snic_unlock_own(nic, &area->lock);
        CHECK_EQ(snic_deregister(nic, &old, 20000), 0);
        CHECK_EQ(snic_memory_alloc(nic, 5000, 0, &extra, why, sizeof why), 0);
        CHECK_EQ(snic_memory_free(nic, extra), 0);
        snic_wait(nic, snic_doorbell(nic), MS);
    }
    CHECK_EQ(snic_close(nic), 0);
}

/* 0, or 1: the target is dead or gone. */
static int core_round(snic_t *nic, snic_peer_t *peer, struct core_area *area)
{
    static uint8_t buffer[SIZE];
    uint64_t before;
    snic_key_t own;
    int rc = snic_lock_peer(peer, &area->lock, 20000 * MS, recover, area);
    if (rc == -ESRCH)
        return 1;
    CHECK_EQ(rc, 0);
    CHECK_EQ(area->x, area->y);
    area->intent = 1;
    area->x++;
    snic_ring(peer);
    area->y++;
    area->intent = 0;
    snic_key_t key = area->key, foreign_key = area->foreign_key;
    snic_unlock_peer(peer, &area->lock);
    int codes[] = {snic_put(peer, &key, 100, buffer, 5000),
                   snic_get(peer, &key, 100, buffer, 5000),
                   snic_fetch_add(peer, &key, 8, 1, &before),
                   snic_compare_swap(peer, &key, 16, 0, 1, &before),
                   snic_put(peer, &foreign_key, 0, buffer, SIZE),
                   snic_get(peer, &foreign_key, 0, buffer, SIZE),
                   snic_write(peer, &area->place, 50, buffer, 1000),
                   snic_read(peer, &area->place, 50, buffer, 1000)};
    for (int i = 0; i < COUNT(codes); i++)
        if (codes[i] != 0 && codes[i] != -ESTALE && codes[i] != -ESRCH)
            test_fail(__FILE__, __LINE__, "operation %d: %d", i, codes[i]);
    CHECK_EQ(snic_register(nic, buffer, SIZE, 3, &own, why, sizeof why), 0);
    CHECK_EQ(snic_deregister(nic, &own, 20000), 0);
    return snic_peer_liveness(peer) == SNIC_DEAD;
}

static snic_peer_t *attach_when_up(snic_t *nic)
{
    snic_peer_t *peer;
    for (int i = 0; i < 40000; i++) {
        int rc = snic_attach(nic, "t", 0, &peer, why, sizeof why);
        if (rc == 0)
            return peer;
        if (rc != -ENOENT && rc != -ECONNREFUSED)
            test_fail(__FILE__, __LINE__, "attach: %d %s", rc, why);
        if (control->kill_role == TARGET && control->reached)
            return NULL;
        usleep(500);
    }
    test_fail(__FILE__, __LINE__, "the target does not come up: %s", why);
}

static void core_initiator(void *name)
{
    snic_t *nic;
    start_role(INITIATOR);
    snic_options_t o = {.job = "job", .name = name, .initiators_max = 4, .registrations_max = 16};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    CHECK_EQ(snic_publish(nic), 0);
    for (int i = 0; i < 2; i++) {
        snic_peer_t *peer = attach_when_up(nic);
        if (!peer)
            break;
        int dead = 0;
        for (int round = 0; round < 3 && !dead; round++)
            dead = core_round(nic, peer, snic_peer_area(peer));
        if (dead && control->kill_role != TARGET)
            test_fail(__FILE__, __LINE__, "the target died");
        CHECK_EQ(snic_detach(peer), 0);
    }
    CHECK_EQ(snic_close(nic), 0);
}

struct scenario {
    void (*target)(void *);
    void (*initiator)(void *);
};
static const struct scenario core = {core_target, core_initiator};

/* One run: kill `role` at the at-th time it comes to the label. 1: it came there. */
static int run_kill(const struct scenario *s, int role, int label, int at)
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

static int starts_with(const char *label, const char *prefixes)
{
    char copy[256], *save, *p;
    snprintf(copy, sizeof copy, "%s", prefixes);
    for (p = strtok_r(copy, " ", &save); p; p = strtok_r(NULL, " ", &save))
        if (strncmp(label, p, strlen(p)) == 0)
            return 1;
    return 0;
}

/* The first label of these that no role has come to; -1: none. */
static int unreached_label(uint32_t counts[ROLES][LABELS_MAX], const char *prefixes,
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
static void count_steps(const struct scenario *s, uint32_t counts[ROLES][LABELS_MAX],
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
static int is_due(int step)
{
#ifdef __SANITIZE_THREAD__
    return step % one_round_of() == (int)(test_seed % (uint64_t)one_round_of());
#else
    (void)step;
    return 1;
#endif
}

/* At every label that the scenario reaches: the first time and once more at random. */
static void kill_at_steps(const struct scenario *s, const char *prefixes, const char *unreached)
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

#define CORE_STEPS                                                                                 \
    "open. publish. close. attach. detach. foreign. memory. write. read. register. deregister. "   \
    "pin. put. get. atomic. file. ring. lock. unlock."
#define CONTENTION "deregister.wait lock.taken_over lock.recovered lock.spin"

static void kill_at_core_steps(void)
{
    kill_at_steps(&core, CORE_STEPS, CONTENTION);
}

static void kill_at_bounce_steps(void)
{
    foreign = SNIC_FOREIGN_BOUNCE;
    kill_at_steps(&core, "bounce.", "");
}

/* Death of those who clean up after the dead: at every step of taking over a lock. */
static void kill_while_recovering(void)
{
    static const char *const first[] = {"lock.acquired", "ring.counted", "unlock.before"};
    static const char *const second[] = {"lock.spin", "lock.taken_over", "lock.recovered",
                                         "unlock.before", "unlock.after"};
    prepare();
    for (int f = 0; f < COUNT(first); f++) {
        for (int l = 0; l < COUNT(second); l++) {
            if (!is_due(f * COUNT(second) + l))
                continue;
            fresh_run(INITIATOR, label_index(first[f]), 1);
            int target = test_fork(core_target, NULL);
            /* The target takes its lock now and then: let the second one be the one who finds the
             * dead. */
            CHECK_EQ(test_join_killed(test_fork(core_initiator, "first")), 1);
            memset(control->counts, 0, sizeof control->counts);
            control->kill_label = label_index(second[l]);
            test_join_killed(test_fork(core_initiator, "second"));
            check_segments("after the second");
            no_kill();
            test_join(test_fork(core_initiator, "third"), 0);
            atomic_store(&control->stop, 1);
            test_join(target, 0);
            check_segments("at the end");
        }
    }
}

/* ---- a pin that is held by a stopped or dead initiator ---- */

static void stop_when_pinned(const char *label)
{
    if (strcmp(label, "pin.checked") == 0) {
        atomic_store(&control->stopped_at_label, 1);
        raise(SIGSTOP);
    }
}

struct pinned {
    snic_t *nic;
    snic_key_t key;
    uint8_t *m;
    int pid;
};

static void put_and_stop(void *argument)
{
    struct pinned *p = argument;
    snic_t *nic;
    snic_peer_t *peer;
    snic_options_t o = {.job = "job", .name = "i", .initiators_max = 4, .registrations_max = 16};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    CHECK_EQ(snic_attach(nic, "t", 0, &peer, why, sizeof why), 0);
    snic_step_hook = stop_when_pinned;
    CHECK_EQ(snic_put(peer, &p->key, 0, "late", 4), 0);
    snic_step_hook = NULL;
    CHECK_EQ(snic_put(peer, &p->key, 0, "late", 4), -ESTALE);
    snic_detach(peer);
    snic_close(nic);
}

static void pin_and_stop(struct pinned *p)
{
    int status;
    prepare();
    snic_options_t o = {.job = "job", .name = "t", .initiators_max = 4, .registrations_max = 16};
    CHECK_EQ(snic_open(&o, &p->nic, why, sizeof why), 0);
    CHECK_EQ(snic_memory_alloc(p->nic, 4096, 0, (void **)&p->m, why, sizeof why), 0);
    CHECK_EQ(snic_register(p->nic, p->m, 4096, 7, &p->key, why, sizeof why), 0);
    snic_publish(p->nic);
    p->pid = test_fork(put_and_stop, p);
    CHECK_EQ(waitpid(p->pid, &status, WUNTRACED), p->pid);
    CHECK(WIFSTOPPED(status));
    CHECK_EQ(snic_deregister(p->nic, &p->key, 100), -ETIMEDOUT);
    CHECK_EQ(snic_memory_free(p->nic, p->m), -EBUSY);
    CHECK_EQ(snic_initiator_liveness(p->nic, 0), SNIC_STOPPED);
}

static void deregister_waits_for_a_stopped_initiator(void)
{
    struct pinned p;
    pin_and_stop(&p);
    kill(p.pid, SIGCONT);
    CHECK_EQ(snic_deregister(p.nic, &p.key, 20000), 0);
    CHECK(memcmp(p.m, "late", 4) == 0);
    test_join(p.pid, 0);
    CHECK_EQ(snic_close(p.nic), 0);
}

static void deregister_reclaims_pins_of_the_dead(void)
{
    struct pinned p;
    pin_and_stop(&p);
    kill(p.pid, SIGKILL);
    CHECK_EQ(snic_deregister(p.nic, &p.key, 20000), 0);
    test_join_killed(p.pid);
    CHECK(p.m[0] == 0);
    check_segments("after the initiator died");
    CHECK_EQ(snic_close(p.nic), 0);
}

static void deregister_forever(void *argument)
{
    struct pinned *p = argument;
    (void)p;
    start_role(TARGET);
    snic_t *nic;
    uint8_t *m;
    snic_options_t o = {.job = "job", .name = "t", .initiators_max = 4, .registrations_max = 16};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    CHECK_EQ(snic_memory_alloc(nic, 4096, 0, (void **)&m, why, sizeof why), 0);
    snic_key_t *key = &control->key;
    CHECK_EQ(snic_register(nic, m, 4096, 7, key, why, sizeof why), 0);
    snic_publish(nic);
    while (!atomic_load(&control->stopped_at_label))
        usleep(200);
    snic_deregister(nic, key, 20000); /* dies in it */
    test_fail(__FILE__, __LINE__, "the pin did not hold");
}

/* The target is killed while it waits; the initiator, continued, ends its put in peace. */
static void kill_while_deregister_waits(void)
{
    int status;
    prepare();
    snic_key_t *key = &control->key;
    fresh_run(TARGET, label_index("deregister.wait"), 150);
    int target = test_fork(deregister_forever, NULL);
    snic_t *nic;
    snic_options_t o = {.job = "job", .name = "w", .initiators_max = 4, .registrations_max = 16};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    snic_peer_t *peer = attach_when_up(nic);
    struct pinned p = {.key = *key};
    int initiator = test_fork(put_and_stop, &p);
    CHECK_EQ(waitpid(initiator, &status, WUNTRACED), initiator);
    CHECK(WIFSTOPPED(status));
    CHECK_EQ(test_join_killed(target), 1);
    CHECK_EQ(snic_peer_liveness(peer), SNIC_DEAD);
    kill(initiator, SIGCONT);
    test_join(initiator, 0);
    snic_detach(peer);
    CHECK_EQ(snic_close(nic), 0);
    check_nothing_is_left();
}

/* ---- a stopped owner of a lock ---- */

static void stop_when_locked(const char *label)
{
    if (strcmp(label, "lock.acquired") == 0)
        raise(SIGSTOP);
}

static void lock_and_stop(void *argument)
{
    (void)argument;
    snic_t *nic;
    snic_peer_t *peer;
    snic_options_t o = {.job = "job", .name = "i", .initiators_max = 4, .registrations_max = 16};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    CHECK_EQ(snic_attach(nic, "t", 0, &peer, why, sizeof why), 0);
    struct core_area *area = snic_peer_area(peer);
    snic_step_hook = stop_when_locked;
    CHECK_EQ(snic_lock_peer(peer, &area->lock, -1, recover, area), 0);
    area->x++, area->y++;
    snic_unlock_peer(peer, &area->lock);
    snic_detach(peer);
    snic_close(nic);
}

static void stopped_owner_of_a_lock_gives_busy(void)
{
    snic_t *nic;
    int status;
    snic_options_t o = {.job = "job",
                        .name = "t",
                        .initiators_max = 4,
                        .registrations_max = 16,
                        .area_bytes = sizeof(struct core_area)};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    snic_publish(nic);
    struct core_area *area = snic_area(nic);
    int pid = test_fork(lock_and_stop, NULL);
    CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
    CHECK(WIFSTOPPED(status));
    CHECK_EQ(snic_lock_own(nic, &area->lock, 50 * MS, recover, area), -EBUSY);
    snic_peer_t *self;
    CHECK_EQ(snic_attach(nic, "t", 0, &self, why, sizeof why), 0);
    CHECK_EQ(snic_lock_peer(self, &area->lock, 50 * MS, recover, area), -EBUSY);
    kill(pid, SIGCONT);
    CHECK_EQ(snic_lock_own(nic, &area->lock, 20000 * MS, recover, area), 0);
    CHECK_EQ(area->x, 1);
    snic_unlock_own(nic, &area->lock);
    test_join(pid, 0);
    snic_detach(self);
    CHECK_EQ(snic_close(nic), 0);
}

/* ---- the shm personality ---- */

static shm_t *open_shm(const char *name)
{
    shm_t *s;
    shm_options_t o = {.job = "job",
                       .name = name,
                       .initiators_max = 8,
                       .registrations_max = 64,
                       .credits = 4,
                       .message_max = 200,
                       .connections_max = 6,
                       .receive_slots = 24,
                       .peer_timeout_ns = 20000 * MS};
    int rc = shm_create(&o, &s, why, sizeof why);
    if (rc != 0)
        test_fail(__FILE__, __LINE__, "shm_create %s: %d %s", name, rc, why);
    return s;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void shm_server(void *argument)
{
    shm_event_t e;
    snic_key_t key;
    void *m;
    (void)argument;
    start_role(TARGET);
    shm_t *s = open_shm("t");
    CHECK_EQ(snic_memory_alloc(shm_nic(s), SIZE, 0, &m, why, sizeof why), 0);
    CHECK_EQ(snic_register(shm_nic(s), m, SIZE, 7, &key, why, sizeof why), 0);
    shm_listen(s);
    while (!atomic_load(&control->stop)) {
        if (shm_poll(s, &e, 1) == 0) {
            shm_await(s, now_ns() + MS);
            continue;
        }
        if (e.type == SHM_EVENT_CONNECT_REQUEST) {
            char what = e.length ? *(const char *)e.data : 0;
            if (what == 'r')
                CHECK_EQ(shm_reject(s, e.connection), 0);
            else if (what == 'a' && shm_accept(s, e.connection, 0) == 0)
                CHECK_EQ(shm_send(s, e.connection, &key, sizeof key), 0);
        } else if (e.type == SHM_EVENT_MESSAGE) {
            int rc = shm_send(s, e.connection, e.data, (uint32_t)e.length);
            CHECK(rc == 0 || rc == -EAGAIN || rc == -ENOTCONN);
            CHECK_EQ(shm_release(s, e.token), 0);
        }
    }
    CHECK_EQ(shm_close(s), 0);
}

/* 0: the event wanted; 1: the server is lost. */
static int await_event(shm_t *s, shm_event_t *e, uint32_t type)
{
    for (;;) {
        while (shm_poll(s, e, 1) == 0)
            CHECK(shm_await(s, now_ns() + 30000 * MS) >= 0);
        if (e->type == type)
            return 0;
        if (e->type == SHM_EVENT_PEER_LOST || e->type == SHM_EVENT_DISCONNECTED ||
            e->type == SHM_EVENT_CONNECT_FAILED)
            return 1;
        if (e->type == SHM_EVENT_MESSAGE)
            CHECK_EQ(shm_release(s, e->token), 0);
    }
}

static int64_t shm_connect_when_up(shm_t *s, const char *what)
{
    for (int i = 0; i < 40000; i++) {
        int64_t c = shm_connect(s, "t", 0, what, 1, 0, -1, why, sizeof why);
        if (c > 0)
            return c;
        if (c != -ENOENT && c != -ECONNREFUSED && c != -EAGAIN)
            test_fail(__FILE__, __LINE__, "connect: %lld %s", (long long)c, why);
        if (control->kill_role == TARGET && control->reached)
            return 0;
        usleep(500);
    }
    test_fail(__FILE__, __LINE__, "the server does not come up: %s", why);
}

static int shm_talk(shm_t *s, int64_t c)
{
    shm_event_t e;
    snic_key_t key;
    uint64_t before;
    char data[100];
    if (await_event(s, &e, SHM_EVENT_CONNECTED) || await_event(s, &e, SHM_EVENT_MESSAGE))
        return 1;
    memcpy(&key, e.data, sizeof key);
    CHECK_EQ(shm_release(s, e.token), 0);
    for (int i = 0; i < 6; i++) {
        memset(data, i, sizeof data);
        int rc = shm_send(s, c, data, sizeof data);
        if (rc == -ENOTCONN || await_event(s, &e, SHM_EVENT_MESSAGE))
            return 1;
        CHECK_EQ(rc, 0);
        CHECK(memcmp(e.data, data, sizeof data) == 0);
        CHECK_EQ(shm_release(s, e.token), 0);
        int codes[] = {shm_put_notify(s, c, &key, 64, data, sizeof data, 7),
                       snic_put(shm_peer(s, c), &key, 64, data, sizeof data),
                       snic_get(shm_peer(s, c), &key, 64, data, sizeof data),
                       snic_fetch_add(shm_peer(s, c), &key, 0, 1, &before)};
        for (int k = 0; k < COUNT(codes); k++)
            if (codes[k] != 0 && codes[k] != -ESRCH && codes[k] != -EAGAIN)
                test_fail(__FILE__, __LINE__, "operation %d: %d", k, codes[k]);
    }
    return 0;
}

static void shm_client(void *name)
{
    shm_event_t e;
    int64_t c = 0;
    start_role(INITIATOR);
    shm_t *s = open_shm(name);
    int lost = shm_connect_when_up(s, "r") == 0 || await_event(s, &e, SHM_EVENT_CONNECT_FAILED);
    if (!lost && (c = shm_connect_when_up(s, "i")) > 0)
        shm_disconnect(s, c); /* the server leaves it unanswered */
    for (int i = 0; i < 2 && !lost && c; i++) {
        c = shm_connect_when_up(s, "a");
        lost = c == 0 || shm_talk(s, c);
        if (!lost)
            CHECK_EQ(shm_disconnect(s, c), 0);
    }
    if ((lost || !c) && control->kill_role != TARGET)
        test_fail(__FILE__, __LINE__, "the server was lost");
    CHECK_EQ(shm_close(s), 0);
}

static const struct scenario shm = {shm_server, shm_client};

static void kill_at_shm_steps(void)
{
    kill_at_steps(&shm,
                  "control. end. connect. withdraw. accept. reject. send. notify. release. poll. "
                  "ring. attach. detach. close. publish.",
                  "");
}

/* ---- stopped at every step ---- */

/* 1: it stopped; 0: it ended without coming to the step. */
static int await_stop_or_end(int pid)
{
    int status;
    CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    if (!WIFSTOPPED(status))
        test_fail(__FILE__, __LINE__, "neither stopped nor ended well: status %x", status);
    return 1;
}

/* A client that is stopped anywhere disturbs neither the server nor another client, and ends well
 * when it runs again. */
static void run_stopped_client(int label, int at)
{
    fresh_run(INITIATOR, label, at);
    control->signal = SIGSTOP;
    int server = test_fork(shm_server, NULL);
    int first = test_fork(shm_client, "first");
    int stopped = await_stop_or_end(first);
    control->kill_role = -1;
    test_join(test_fork(shm_client, "second"), 0);
    if (stopped) {
        kill(first, SIGCONT);
        test_join(first, 0);
    }
    atomic_store(&control->stop, 1);
    test_join(server, 0);
    check_segments("at the end");
    check_nothing_is_left();
}

/* A server that is stopped anywhere: clients wait, and all ends well when it runs again. */
static void run_stopped_server(int label, int at)
{
    fresh_run(TARGET, label, at);
    control->signal = SIGSTOP;
    int server = test_fork(shm_server, NULL);
    int client = test_fork(shm_client, "first");
    if (starts_with(labels[label], "close.")) { /* the server closes when it is told to */
        test_join(client, 0);
        client = -1;
        atomic_store(&control->stop, 1);
    }
    CHECK_EQ(await_stop_or_end(server), 1);
    check_segments("while the server is stopped");
    kill(server, SIGCONT);
    if (client > 0)
        test_join(client, 0);
    atomic_store(&control->stop, 1);
    test_join(server, 0);
    check_nothing_is_left();
}

static void stop_at_shm_steps(void)
{
    uint32_t counts[ROLES][LABELS_MAX];
    prepare();
    CHECK_EQ(run_kill(&shm, -1, -1, 0), 0);
    memcpy(counts, control->counts, sizeof counts);
    for (int label = 0; label < COUNT(labels); label++) {
        /* open. and file. happen with the job's folder locked: others are refused after 2 s, see
         * below. */
        if (starts_with(labels[label], "open. file.") || !is_due(label))
            continue;
        if (counts[INITIATOR][label])
            run_stopped_client(label, 1);
        if (counts[TARGET][label] && !starts_with(labels[label], "publish. memory. register."))
            run_stopped_server(label, 1);
    }
}

static void open_beside_a_stopped_open(void)
{
    snic_t *nic;
    prepare();
    fresh_run(TARGET, label_index("file.created"), 1);
    control->signal = SIGSTOP;
    int server = test_fork(shm_server, NULL);
    CHECK_EQ(await_stop_or_end(server), 1);
    snic_options_t o = {.job = "job", .name = "late", .registrations_max = 8};
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), -EBUSY);
    CHECK_CONTAINS(why, "locked");
    kill(server, SIGCONT);
    atomic_store(&control->stop, 1);
    CHECK_EQ(snic_open(&o, &nic, why, sizeof why), 0);
    test_join(server, 0);
    CHECK_EQ(snic_close(nic), 0);
}

/* ---- random instants ---- */

static void kill_at_random(const struct scenario *s, int runs)
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

static void kill_core_at_random(void)
{
    kill_at_random(&core, repeats(100));
}

static void kill_shm_at_random(void)
{
    kill_at_random(&shm, repeats(100));
}

/* ---- the list of steps ---- */

static void steps_are_listed(void)
{
    int found[COUNT(labels)] = {0};
    DIR *d = opendir(SOFTNIC_SOURCES);
    struct dirent *e;
    CHECK(d);
    while ((e = readdir(d))) {
        char path[1024], line[1024];
        size_t n = strlen(e->d_name);
        if (n < 3 || strcmp(e->d_name + n - 2, ".c") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", SOFTNIC_SOURCES, e->d_name);
        FILE *f = fopen(path, "r");
        CHECK(f);
        while (fgets(line, sizeof line, f)) {
            char label[64];
            const char *p = strstr(line, "SNIC_STEP(\"");
            if (p && sscanf(p, "SNIC_STEP(\"%63[^\"]\"", label) == 1)
                found[label_index(label)]++;
        }
        fclose(f);
    }
    closedir(d);
    for (int i = 0; i < COUNT(labels); i++)
        if (!found[i])
            test_fail(__FILE__, __LINE__, "%s is listed and nowhere in the code", labels[i]);
}

static const struct test_case cases[] = {
    {"steps_are_listed", steps_are_listed, NULL, 0},
    {"kill_at_every_core_step", kill_at_core_steps, NULL, 600},
    {"kill_at_every_bounce_step", kill_at_bounce_steps, NULL, 300},
    {"kill_while_recovering_from_a_kill", kill_while_recovering, NULL, 300},
    {"deregister_waits_for_a_stopped_initiator", deregister_waits_for_a_stopped_initiator, NULL, 0},
    {"deregister_reclaims_pins_of_the_dead", deregister_reclaims_pins_of_the_dead, NULL, 0},
    {"kill_while_deregister_waits", kill_while_deregister_waits, NULL, 0},
    {"stopped_owner_of_a_lock_gives_busy", stopped_owner_of_a_lock_gives_busy, NULL, 0},
    {"kill_at_every_shm_step", kill_at_shm_steps, NULL, 600},
    {"stop_at_every_shm_step", stop_at_shm_steps, NULL, 300},
    {"open_beside_a_stopped_open", open_beside_a_stopped_open, NULL, 0},
    {"kill_core_at_random_instants", kill_core_at_random, NULL, 300},
    {"kill_shm_at_random_instants", kill_shm_at_random, NULL, 300},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
