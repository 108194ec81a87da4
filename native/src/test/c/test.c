#define _GNU_SOURCE
#include "test.h"
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define EXIT_FAIL 101
#define EXIT_SKIP 102

char test_folder[256];
uint64_t test_seed;
static char *reason; /* shared: the first failure's text */

uint64_t test_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

void test_fail(const char *file, int line, const char *format, ...)
{
    char text[900];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *slash = strrchr(file, '/');
    if (!reason[0])
        snprintf(reason, 1024, "%s:%d: %s", slash ? slash + 1 : file, line, text);
    _exit(EXIT_FAIL);
}

void test_skip(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, 1024, format, arguments);
    va_end(arguments);
    _exit(EXIT_SKIP);
}

int test_fork(void (*f)(void *), void *argument)
{
    fflush(stdout);
    int pid = fork();
    if (pid < 0)
        test_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        f(argument);
        exit(0); /* with sanitizers' checks at exit */
    }
    return pid;
}

static int join(int pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            test_fail(__FILE__, __LINE__, "waitpid: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_FAIL)
        _exit(EXIT_FAIL); /* its reason is written already */
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP)
        _exit(EXIT_SKIP);
    return status;
}

void test_join(int pid, int code)
{
    int status = join(pid);
    if (WIFSIGNALED(status))
        test_fail(__FILE__, __LINE__, "child was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != code)
        test_fail(__FILE__, __LINE__, "child exited with %d, expected %d", WEXITSTATUS(status),
                  code);
}

int test_join_killed(int pid)
{
    int status = join(pid);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        return 1;
    if (WIFSIGNALED(status))
        test_fail(__FILE__, __LINE__, "child was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) != 0)
        test_fail(__FILE__, __LINE__, "child exited with %d", WEXITSTATUS(status));
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st, (void)type, (void)f;
    return remove(path);
}

/* In the group leader: run the case. */
static void run_child(const struct test_case *c)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("VERBENA_SHM_DIR", test_folder, 1);
    c->run();
    exit(0);
}

static int wait_limited(int pid, unsigned seconds, int *status)
{
    struct timespec slice = {0, 2000000}, now, start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (;;) {
        if (waitpid(pid, status, WNOHANG) == pid)
            return 1;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - start.tv_sec > (time_t)seconds)
            return 0;
        nanosleep(&slice, NULL);
    }
}

/* 0 passed, 1 failed, 2 skipped */
static int run_case(const struct test_case *c)
{
    int status = 0;
    const char *covers = c->covers ? c->covers : "-";
    const char *root = getenv("VERBENA_TEST_DIR");
    snprintf(test_folder, sizeof test_folder, "%s/verbena-test-XXXXXX", root ? root : "/dev/shm");
    if (!mkdtemp(test_folder)) {
        printf("not ok %s %s: mkdtemp %s: %s\n", covers, c->name, test_folder, strerror(errno));
        return 1;
    }
    reason[0] = 0;
    fflush(stdout);
    int pid = fork();
    if (pid == 0)
        run_child(c);
    unsigned limit = c->time_limit ? c->time_limit : 60;
    int ended = wait_limited(pid, limit, &status);
    kill(-pid, SIGKILL); /* children that the case left */
    if (!ended)
        waitpid(pid, &status, 0);
    nftw(test_folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    int skipped = ended && WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SKIP;
    if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        printf("ok %s %s\n", covers, c->name);
    else if (skipped)
        printf("skip %s %s: %s\n", covers, c->name, reason);
    else if (!ended)
        printf("not ok %s %s: over its time limit of %u s\n", covers, c->name, limit);
    else if (reason[0])
        printf("not ok %s %s: %s (seed %llu)\n", covers, c->name, reason,
               (unsigned long long)test_seed);
    else if (WIFSIGNALED(status))
        printf("not ok %s %s: killed by signal %d (seed %llu)\n", covers, c->name, WTERMSIG(status),
               (unsigned long long)test_seed);
    else
        printf("not ok %s %s: exit code %d\n", covers, c->name, WEXITSTATUS(status));
    return skipped ? 2 : ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

/* Is the case among those that whoever runs us does not want, with the reason for all of them? */
static int is_left_out(const char *name)
{
    const char *reason_given = getenv("VERBENA_TEST_SKIP_REASON");
    const char *list = getenv("VERBENA_TEST_SKIP");
    char wanted[128], padded[1024];
    snprintf(wanted, sizeof wanted, " %s ", name);
    snprintf(padded, sizeof padded, " %s ", list ? list : "");
    if (!strstr(padded, wanted))
        return 0;
    printf("skip - %s: %s\n", name, reason_given ? reason_given : "left out");
    return 1;
}

int test_main(int argc, char **argv, const struct test_case *cases, int count)
{
    int counts[3] = {0, 0, 0};
    const char *seed = getenv("VERBENA_SEED");
    test_seed = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL) ^ (uint64_t)getpid() << 20;
    reason = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (reason == MAP_FAILED)
        return 2;
    for (int i = 0; i < count; i++) {
        int wanted = argc < 2;
        for (int a = 1; a < argc; a++)
            wanted |= strcmp(argv[a], cases[i].name) == 0;
        if (wanted)
            counts[is_left_out(cases[i].name) ? 2 : run_case(&cases[i])]++;
    }
    printf("%d passed, %d failed, %d skipped\n", counts[0], counts[1], counts[2]);
    return counts[1] != 0;
}
