/* softnic: memory of other processes, their death and their stopping. */
#define _GNU_SOURCE
#include "nics.h"
#include "softnic_private.h"
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

static void foreign_target(void *foreign)
{
    snic_t *b = open_named("job", "b", (uint32_t)(uintptr_t)foreign);
    uint8_t *m = malloc(SIZE);
    memset(m, 3, SIZE);
    CHECK_EQ(snic_register(b, m, SIZE, 3, &shared->key, why, sizeof why), 0);
    /* Registered, but no longer to be reached when the peer comes. Not unmapped: something else, a
     * sanitizer's memory for example, could come to lie there. */
    uint8_t *gone = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK_EQ(snic_register(b, gone, 65536, 3, &shared->key2, why, sizeof why), 0);
    CHECK_EQ(mprotect(gone, 65536, PROT_NONE), 0);
    atomic_store(&shared->ready, 1);
    await(&shared->done);
    for (int i = 0; i < SIZE; i++)
        CHECK_EQ(m[i], i < 70000 ? 4 : 3);
    CHECK_EQ(snic_close(b), 0);
    free(m);
}

static void foreign_memory(uint32_t foreign)
{
    static uint8_t buffer[SIZE];
    make_shared();
    int pid = test_fork(foreign_target, (void *)(uintptr_t)foreign);
    await(&shared->ready);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    CHECK_EQ(snic_get(peer, &shared->key, 0, buffer, SIZE), 0);
    for (int i = 0; i < SIZE; i++)
        CHECK_EQ(buffer[i], 3);
    uint32_t sum = 1, again = 0;
    CHECK_EQ(snic_get_summed(peer, &shared->key, 0, buffer, SIZE, &sum), 0);
    CHECK_EQ(sum, snic_sum(0, buffer, SIZE));
    memset(buffer, 4, SIZE);
    CHECK_EQ(snic_put_summed(peer, &shared->key, 0, buffer, 70000, 1, &again), 0);
    CHECK_EQ(again, snic_sum(0, buffer, 70000));
    CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 70000), 0);
    CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 0), 0);
    CHECK_EQ(snic_put(peer, &shared->key, SIZE - 10, buffer, 11), -ERANGE);
    CHECK_EQ(snic_put(peer, &shared->key2, 0, buffer, 8), -EFAULT);
    CHECK_EQ(snic_get(peer, &shared->key2, 0, buffer, 8), -EFAULT);
    CHECK_EQ(snic_get_summed(peer, &shared->key2, 0, buffer, 8, &sum), -EFAULT);
    struct snic_header *h;
    snic_view_t view;
    snic_peer_view(peer, &view);
    h = view.header;
    CHECK_EQ(atomic_load(&h->bounced) > 0, foreign == SNIC_FOREIGN_BOUNCE);
    snic_location_t wild = {.kind = 2, .offset = 4096, .length = 4096};
    CHECK_EQ(snic_write(peer, &wild, 0, buffer, 8), -EFAULT);
    wild.offset = UINT64_MAX - 7;
    CHECK_EQ(snic_write(peer, &wild, 0, buffer, 64), -EFAULT);
    atomic_store(&shared->done, 1);
    test_join(pid, 0);
    CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 8), -ESRCH);
    snic_detach(peer);
    snic_close(a);
}

static void foreign_attach(void)
{
    foreign_memory(SNIC_FOREIGN_ATTACH);
}

static void foreign_bounce(void)
{
    foreign_memory(SNIC_FOREIGN_BOUNCE);
}

/* As many as there is room for; then the error says so. */
static void ranges_run_out(void)
{
    snic_location_t location;
    snic_t *b = open_named("job", "b", SNIC_FOREIGN_BOUNCE);
    int rc = 0;
    why[0] = 0;
    for (uintptr_t i = 1; rc == 0; i++)
        rc = snic_locate(b, (void *)(i << 13), 8, &location, why, sizeof why);
    CHECK_EQ(rc, -ENOSPC);
    CHECK_CONTAINS(why, "2048 ranges");
    CHECK_EQ(snic_locate(b, (void *)(1 << 13), 8, &location, why, sizeof why), 0);
    snic_close(b);
}

static void forbid_cross_memory_attach(void)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog prog = {COUNT(f), f};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
        test_skip("no seccomp filter here: %s", strerror(errno));
}

static void foreign_forbidden(void)
{
    static uint8_t m[4096];
    snic_key_t key;
    forbid_cross_memory_attach();
    snic_t *nic = open_nic("a");
    CHECK_EQ(snic_register(nic, m, sizeof m, 3, &key, why, sizeof why), -EOPNOTSUPP);
    CHECK_CONTAINS(why, "ptrace_scope");
    CHECK_CONTAINS(why, "seccomp");
    CHECK_CONTAINS(why, "foreignMemory=bounce");
    snic_close(nic);
    /* With bounce it works all the same. */
    nic = open_named("job", "b", SNIC_FOREIGN_BOUNCE);
    snic_peer_t *self = attach(nic, "b");
    CHECK_EQ(snic_register(nic, m, sizeof m, 3, &key, why, sizeof why), 0);
    CHECK_EQ(snic_put(self, &key, 100, "hello", 5), 0);
    CHECK(memcmp(m + 100, "hello", 5) == 0);
    snic_detach(self);
    snic_close(nic);
}

/* ---- death and stopping ---- */

/* The helper cannot copy while its process is stopped: an answer, not a hang. */
static void bounce_to_a_stopped_target(void)
{
    static uint8_t buffer[70000];
    int status;
    make_shared();
    memset(buffer, 3, sizeof buffer);
    int pid = test_fork(foreign_target, (void *)(uintptr_t)SNIC_FOREIGN_BOUNCE);
    await(&shared->ready);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    kill(pid, SIGSTOP);
    CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 70000), -EBUSY);
    kill(pid, SIGCONT);
    memset(buffer, 4, sizeof buffer);
    CHECK_EQ(snic_put(peer, &shared->key, 0, buffer, 70000), 0);
    snic_detach(peer);
    atomic_store(&shared->done, 1);
    test_join(pid, 0);
    snic_close(a);
}

static void stop_when_claimed(const char *label)
{
    if (strcmp(label, "bounce.claimed") == 0)
        raise(SIGSTOP);
}

static void initiator_that_stops(void *number)
{
    char name[16];
    uint8_t byte = 4;
    snprintf(name, sizeof name, "i%d", (int)(uintptr_t)number);
    await(&shared->ready);
    snic_t *nic = open_nic(name);
    snic_peer_t *peer = attach(nic, "b");
    snic_step_hook = stop_when_claimed;
    CHECK_EQ(snic_put(peer, &shared->key, 0, &byte, 1), 0);
    snic_step_hook = NULL;
    snic_detach(peer);
    snic_close(nic);
}

static void target_for_many(void *unused)
{
    static uint8_t memory[4096];
    snic_t *b = NULL;
    snic_options_t o = {.job = "job",
                        .name = "b",
                        .personality = SNIC_SHM,
                        .initiators_max = SNIC_BOUNCE_SLOTS + 1,
                        .registrations_max = 64,
                        .foreign = SNIC_FOREIGN_BOUNCE,
                        .area_bytes = 8192};
    (void)unused;
    CHECK_EQ(snic_open(&o, &b, why, sizeof why), 0);
    CHECK_EQ(snic_publish(b), 0);
    CHECK_EQ(snic_register(b, memory, sizeof memory, 3, &shared->key, why, sizeof why), 0);
    atomic_store(&shared->ready, 1);
    await(&shared->done);
    snic_close(b);
}

/* Initiators that are stopped have all slots: the others get an answer, not a hang. */
static void bounce_while_stopped_initiators_have_all_slots(void)
{
    int pids[SNIC_BOUNCE_SLOTS], status;
    uint8_t byte = 5, there = 0;
    make_shared();
    for (uintptr_t i = 0; i < SNIC_BOUNCE_SLOTS; i++)
        pids[i] = test_fork(initiator_that_stops, (void *)i);
    int target = test_fork(target_for_many, NULL);
    for (int i = 0; i < COUNT(pids); i++)
        CHECK_EQ(waitpid(pids[i], &status, WUNTRACED), pids[i]);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    CHECK_EQ(snic_put(peer, &shared->key, 0, &byte, 1), -EBUSY);
    for (int i = 0; i < COUNT(pids); i++) {
        kill(pids[i], SIGCONT);
        test_join(pids[i], 0);
    }
    CHECK_EQ(snic_get(peer, &shared->key, 0, &there, 1), 0);
    CHECK_EQ(there, 4);
    CHECK_EQ(snic_put(peer, &shared->key, 0, &byte, 1), 0);
    CHECK_EQ(snic_get(peer, &shared->key, 0, &there, 1), 0);
    CHECK_EQ(there, 5);
    snic_detach(peer);
    atomic_store(&shared->done, 1);
    test_join(target, 0);
    snic_close(a);
}

static void idle_target(void *toolkit)
{
    snic_t *b = open_nic("b");
    void *m = calloc(1, SIZE);
    if (toolkit)
        CHECK_EQ(snic_memory_alloc(b, SIZE, 0, &m, why, sizeof why), 0);
    CHECK_EQ(snic_register(b, m, SIZE, 3, &shared->key, why, sizeof why), 0);
    atomic_store(&shared->ready, 1);
    await(&shared->done);
    snic_close(b);
}

static void liveness_of_a_peer(void)
{
    uint8_t byte = 1;
    int status;
    make_shared();
    int pid = test_fork(idle_target, NULL);
    await(&shared->ready);
    snic_t *a = open_nic("a");
    snic_peer_t *peer = attach(a, "b");
    CHECK_EQ(snic_peer_liveness(peer), SNIC_ALIVE);
    kill(pid, SIGSTOP);
    CHECK_EQ(waitpid(pid, &status, WUNTRACED), pid);
    CHECK_EQ(snic_peer_liveness(peer), SNIC_STOPPED);
    CHECK_EQ(snic_put(peer, &shared->key, 0, &byte, 1), 0); /* a card does not need the CPU */
    kill(pid, SIGCONT);
    CHECK_EQ(waitpid(pid, &status, WCONTINUED), pid);
    CHECK_EQ(snic_peer_liveness(peer), SNIC_ALIVE);
    CHECK_EQ(snic_peer_is_open(peer), 1);
    kill(pid, SIGKILL);
    test_join_killed(pid);
    CHECK_EQ(snic_peer_liveness(peer), SNIC_DEAD);
    CHECK_EQ(snic_put(peer, &shared->key, 0, &byte, 1), -ESRCH);
    CHECK_EQ(snic_detach(peer), 0);
    snic_close(a);
}

static void use_in_forked_child(void *argument)
{
    struct pair *p = argument;
    uint64_t word = 1;
    CHECK_EQ(snic_put(p->peer, &p->key, 0, &word, 8), -ECHILD);
    CHECK_EQ(snic_register(p->b, p->memory, 8, 1, &p->key, why, sizeof why), -ECHILD);
    CHECK_EQ(snic_wait(p->b, snic_doorbell(p->b), 0), -ECHILD);
    CHECK_EQ(snic_detach(p->peer), -ECHILD);
    CHECK_EQ(snic_close(p->b), -ECHILD);
}

static void forked_child_is_refused(void)
{
    struct pair p;
    make_pair(&p, 1, 0, 7);
    test_join(test_fork(use_in_forked_child, &p), 0);
    free_pair(&p, 1);
}

static const struct test_case cases[] = {
    {"foreign_memory_by_attach", foreign_attach, NULL, 0},
    {"foreign_memory_by_bounce", foreign_bounce, NULL, 0},
    {"ranges_run_out", ranges_run_out, NULL, 0},
    {"foreign_memory_forbidden_names_the_remedy", foreign_forbidden, NULL, 0},
    {"bounce_to_a_stopped_target", bounce_to_a_stopped_target, NULL, 0},
    {"bounce_while_stopped_initiators_have_all_slots",
     bounce_while_stopped_initiators_have_all_slots, NULL, 0},
    {"liveness_of_a_peer", liveness_of_a_peer, NULL, 0},
    {"forked_child_is_refused", forked_child_is_refused, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
