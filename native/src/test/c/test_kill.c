/*
 * kill -9 of softnic's processes, a target and an initiator, at every labelled step and at random
 * instants; pins and locks of who was stopped or is dead.
 */
#define _GNU_SOURCE
#include "kill_steps.h"
#include <sched.h>
#include <time.h>

static uint32_t foreign;

/* ---- softnic itself ---- */

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

static const struct scenario core = {core_target, core_initiator};

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

static void kill_core_at_random(void)
{
    kill_at_random(&core, repeats(100));
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
    {"kill_core_at_random_instants", kill_core_at_random, NULL, 300},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
