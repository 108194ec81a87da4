/* Compiled once for each personality: check.h is its own. */
#define _GNU_SOURCE
#include "check.h"

#include <ftw.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WHY_SIZE 1024
#define SKIPPED 77

struct check_shared *shared;
const struct check_case *check_running;
static char *why; /* shared with the runner */

void check_fail(const char *file, int line, const char *format, ...)
{
    const char *slash = strrchr(file, '/');
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (why[0] == '\0')
        snprintf(why, WHY_SIZE, "%s:%d: %s", slash ? slash + 1 : file, line, text);
    _exit(1);
}

void check_skip(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(why, WHY_SIZE, format, arguments);
    va_end(arguments);
    _exit(SKIPPED);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
    (void)st, (void)flag, (void)ftw;
    return remove(path);
}

static void label_of(const struct check_case *c, char *label, size_t size)
{
    label[0] = '\0';
    for (const char *p = c->assertions; *p;) {
        size_t length = strcspn(p, ",");

        snprintf(label + strlen(label), size - strlen(label), "%s%s-%.*s", label[0] ? "," : "",
                 check_suite.prefix, (int)length, p);
        p += length + (p[length] == ',');
    }
    if (label[0])
        strcat(label, " ");
}

static void explain(int state)
{
    if (why[0] != '\0')
        return;
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM)
        snprintf(why, WHY_SIZE, "time limit of %d s", CHECK_CASE_SECONDS);
    else if (WIFSIGNALED(state))
        snprintf(why, WHY_SIZE, "signal %d", WTERMSIG(state));
    else
        snprintf(why, WHY_SIZE, "exit code %d", WEXITSTATUS(state));
}

/* 1 passed, 0 failed, -1 skipped. */
static int run_case(const struct check_case *c)
{
    char label[512];
    pid_t pid;
    int state;

    check_running = c;
    label_of(c, label, sizeof(label) - 1);
    why[0] = '\0';
    memset(shared, 0, sizeof(*shared));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        end_with_parent();
        check_suite.run(c->run);
        exit(0);
    }
    waitpid(pid, &state, 0);
    kill(-pid, SIGKILL); /* whatever the case left running; only its own group */
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0) {
        printf("ok %s%s\n", label, c->name);
        return 1;
    }
    if (WIFEXITED(state) && WEXITSTATUS(state) == SKIPPED) {
        printf("skip %s%s: %s\n", label, c->name, why);
        return -1;
    }
    explain(state);
    printf("not ok %s%s: %s\n", label, c->name, why);
    return 0;
}

static int is_selected(const struct check_case *c, const char *wanted)
{
    size_t length = strlen(wanted);

    if (strcmp(c->name, wanted) == 0)
        return 1;
    for (const char *p = c->assertions; *p; p += strcspn(p, ","), p += *p == ',')
        if (strncmp(p, wanted, length) == 0 && (p[length] == ',' || p[length] == '\0'))
            return 1;
    return 0;
}

int check_main(const struct check_case *cases, int count, int argc, char **argv)
{
    int passed = 0, failed = 0, skipped = 0;
    char directory[64];

    snprintf(directory, sizeof(directory), "/dev/shm/%s-test-XXXXXX", check_suite.prefix);
    why = mmap(NULL, WHY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (why == MAP_FAILED || shared == MAP_FAILED || mkdtemp(directory) == NULL) {
        perror("check_main");
        return 2;
    }
    setenv(check_suite.folder_variable, directory, 1);
    for (int i = 0; i < count; i++) {
        int result;

        if (check_suite.is_numbered_only && cases[i].assertions[0] == '\0')
            continue;
        if (argc > 1 && !is_selected(&cases[i], argv[1]))
            continue;
        result = run_case(&cases[i]);
        passed += result > 0;
        failed += result == 0;
        skipped += result < 0;
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return failed != 0;
}

void end_with_parent(void)
{
    alarm(CHECK_CASE_SECONDS);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int check_ended(const char *who, int status)
{
    if (WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        check_fail(__FILE__, __LINE__, "the %s died of signal %d", who, WTERMSIG(status));
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        check_fail(__FILE__, __LINE__, "the %s failed", who);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void await_flag(int index, uint32_t value)
{
    const struct timespec pause = {.tv_nsec = 100000};

    for (int tries = 0;
         __atomic_load_n((uint32_t *)&shared->flag[index], __ATOMIC_ACQUIRE) != value; tries++) {
        if (tries < 100)
            sched_yield();
        else
            nanosleep(&pause, NULL);
    }
}

void set_flag(int index, uint32_t value)
{
    __atomic_store_n((uint32_t *)&shared->flag[index], value, __ATOMIC_RELEASE);
}
