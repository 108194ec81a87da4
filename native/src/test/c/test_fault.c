/*
 * Somebody cuts a file that is mapped here: the operation fails, the peer counts as dead, the owner
 * is told which file it was; and no signal that is none of our business stays with us.
 */
#define _GNU_SOURCE
#include "nics.h"
#include "softnic_private.h"
#include <fcntl.h>
#include <signal.h>
#include <setjmp.h>
#include <sys/wait.h>

static void cut(const char *name, uint64_t bytes)
{
    char path[512];
    snprintf(path, sizeof path, "%s/verbena-%u/job/%s", test_folder, (unsigned)geteuid(), name);
    CHECK_EQ(truncate(path, (off_t)bytes), 0);
}

/* ---- files of a peer ---- */

static void cut_memory_fails_what_touches_it(void)
{
    static uint8_t data[SIZE];
    struct pair p;
    uint64_t before;
    snic_key_t key;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), kept = page < 8192 ? 8192 : page;
    memset(data, 7, sizeof data);
    for (int op = 0; op < 5; op++) {
        make_pair(&p, 1, SNIC_FOREIGN_ATTACH, SNIC_READ | SNIC_WRITE | SNIC_ATOMIC);
        CHECK_EQ(snic_put(p.peer, &p.key, 0, data, SIZE), 0);
        cut("b+m0", kept);
        key = p.key;
        CHECK_EQ(snic_damage(p.b, why, sizeof why), 0); /* nobody has met it */
        CHECK_EQ(snic_put(p.peer, &key, 0, data, 8192), 0);
        if (op == 0)
            CHECK_EQ(snic_put(p.peer, &key, 0, data, SIZE), -ESRCH);
        else if (op == 1)
            CHECK_EQ(snic_get(p.peer, &key, 0, data, SIZE), -ESRCH);
        else if (op == 2)
            CHECK_EQ(snic_fetch_add(p.peer, &key, kept + 8192, 1, &before), -ESRCH);
        else if (op == 3)
            CHECK_EQ(snic_compare_swap(p.peer, &key, kept + 8192, 0, 1, &before), -ESRCH);
        else
            CHECK_EQ(snic_put(p.peer, &key, SIZE - 8, data, 8), -ESRCH);
        CHECK_EQ(snic_peer_liveness(p.peer), SNIC_DEAD);
        CHECK_EQ(snic_peer_is_open(p.peer), 0);
        p.memory[SIZE - 1]++;
        CHECK_EQ(p.memory[0], 7);
        CHECK_EQ(snic_damage(p.b, why, sizeof why), -EIO);
        CHECK_CONTAINS(why, "/job/b+m0: somebody cut this file");
        free_pair(&p, 1);
    }
}

static void cut_segment_ends_its_peers(void)
{
    struct pair p;
    uint64_t sizes[] = {0, 100, 4096, 8192};
    for (int i = 0; i < COUNT(sizes); i++) {
        make_pair(&p, 1, SNIC_FOREIGN_ATTACH, SNIC_READ | SNIC_WRITE);
        cut("b", sizes[i]);
        snic_ring(p.peer);
        CHECK(snic_put(p.peer, &p.key, 0, why, 8) < 0);
        CHECK_EQ(snic_peer_liveness(p.peer), SNIC_DEAD);
        CHECK_EQ(snic_peer_is_open(p.peer), 0);
        snic_wait(p.b, snic_doorbell(p.b), 1000000);
        CHECK_EQ(snic_deregister(p.b, &p.key, 100), 0);
        CHECK_EQ(snic_damage(p.b, why, sizeof why), -EIO);
        CHECK_CONTAINS(why, "/job/b: somebody cut this file");
        CHECK_EQ(snic_detach(p.peer), 0);
        CHECK_EQ(snic_close(p.a), 0);
        CHECK_EQ(snic_close(p.b), 0);
    }
}

/* More mappings than a table holds, made and unmade in another order. */
static void every_mapping_is_watched(void)
{
    enum { MEMORIES = 400 };
    static uint8_t *memory[MEMORIES];
    char name[32];
    snic_t *a = open_nic("a");
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < MEMORIES; i++)
            CHECK_EQ(snic_memory_alloc(a, 4096, 0, (void **)&memory[i], why, sizeof why), 0);
        for (int i = 0; i < MEMORIES; i += 2)
            CHECK_EQ(snic_memory_free(a, memory[i]), 0);
        for (int i = 0; i < MEMORIES; i += 2)
            CHECK_EQ(snic_memory_alloc(a, 4096, 0, (void **)&memory[i], why, sizeof why), 0);
        for (int i = 0; round == 1 && i < MEMORIES; i++) {
            snprintf(name, sizeof name, "a+m%d", i);
            cut(name, 0);
        }
        for (int i = 0; i < MEMORIES; i++) {
            memory[i][i % 4096] = 1;
            CHECK_EQ(snic_damage(a, why, sizeof why), round == 0 ? 0 : -EIO);
            CHECK_EQ(snic_memory_free(a, memory[i]), 0);
        }
    }
    CHECK_EQ(snic_close(a), 0);
}

/* ---- faults of others ---- */

static sigjmp_buf back;
static volatile sig_atomic_t seen;

static void on_theirs(int signal)
{
    seen = signal;
    siglongjmp(back, 1);
}

static void on_theirs_with_info(int signal, siginfo_t *info, void *context)
{
    (void)context;
    seen = info->si_code == BUS_ADRERR ? signal : -1;
    siglongjmp(back, 1);
}

/* A page of a file that was cut, none of softnic's. */
static volatile uint8_t *foreign_page(void)
{
    char path[512];
    snprintf(path, sizeof path, "%s/foreign", test_folder);
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    CHECK(fd >= 0 && ftruncate(fd, 4096) == 0);
    volatile uint8_t *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(page != MAP_FAILED && ftruncate(fd, 0) == 0);
    close(fd);
    return page;
}

static void faults_of_others_reach_their_handler(void)
{
    struct sigaction theirs = {.sa_handler = on_theirs};
    for (int with_info = 0; with_info < 2; with_info++) {
        int child = fork();
        if (child == 0) {
            if (with_info) {
                theirs.sa_flags = SA_SIGINFO;
                theirs.sa_sigaction = on_theirs_with_info;
            }
            CHECK_EQ(sigaction(SIGBUS, &theirs, NULL), 0);
            snic_t *a = open_nic("a");
            volatile uint8_t *page = foreign_page();
            if (sigsetjmp(back, 1) == 0)
                page[0] = 1;
            CHECK_EQ(seen, SIGBUS);
            CHECK_EQ(snic_close(a), 0);
            exit(0);
        }
        test_join(child, 0);
    }
}

enum end { BY_FAULT, BY_SIGNAL, BY_OWN_FAULT_SWITCHED_OFF, IGNORED };

static void end_as(enum end how)
{
    struct sigaction former = {.sa_handler = how == IGNORED ? SIG_IGN : SIG_DFL};
    sigaction(SIGBUS, &former, NULL);
    if (how == BY_OWN_FAULT_SWITCHED_OFF)
        setenv("VERBENA_SIGBUS", "off", 1);
    snic_t *a = open_nic("a");
    if (how == BY_FAULT)
        foreign_page()[0] = 1;
    if (how == BY_SIGNAL || how == IGNORED)
        raise(SIGBUS);
    if (how == BY_OWN_FAULT_SWITCHED_OFF) {
        cut("a", 0);
        snic_ring_self(a);
    }
    exit(0);
}

static void other_ends_are_as_without_us(void)
{
    for (enum end how = BY_FAULT; how <= IGNORED; how++) {
        int status, child = fork();
        if (child == 0)
            end_as(how);
        CHECK_EQ(waitpid(child, &status, 0), child);
        if (how == IGNORED)
            CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        else
            CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    }
}

/* An empty file of the job is a segment that was cut; unless one alive is still making it. */
static void files_that_are_being_made_stay(void)
{
    char path[512], unfinished[128];
    uint32_t pid;
    uint64_t start, space;
    snic_t *a = open_nic("a");
    CHECK_EQ(snic_process_self(&pid, &start, &space), 0);
    snprintf(unfinished, sizeof unfinished, ".new-%u-%llu-%llu-0", pid, (unsigned long long)start,
             (unsigned long long)space);
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/verbena-%u/job/%s", test_folder, (unsigned)geteuid(),
                 i == 0 ? unfinished : "cut");
        int fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
        CHECK(fd >= 0);
        close(fd);
        CHECK_EQ(snic_close(open_nic("b")), 0);
        CHECK_EQ(access(path, F_OK), i == 0 ? 0 : -1);
    }
    CHECK_EQ(snic_close(a), 0);
}

static const struct test_case cases[] = {
    {"files_that_are_being_made_stay", files_that_are_being_made_stay, NULL, 0},
    {"cut_memory_fails_what_touches_it", cut_memory_fails_what_touches_it, NULL, 0},
    {"cut_segment_ends_its_peers", cut_segment_ends_its_peers, NULL, 0},
    {"every_mapping_is_watched", every_mapping_is_watched, NULL, 0},
    {"faults_of_others_reach_their_handler", faults_of_others_reach_their_handler, NULL, 0},
    {"other_ends_are_as_without_us", other_ends_are_as_without_us, NULL, 0},
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, cases, COUNT(cases));
}
