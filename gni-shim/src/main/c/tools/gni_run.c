/*
 * gni-run: starts the processes of a uGNI program on this host and gives them what Cray's launcher
 * gave them: ranks, a protection tag and cookie, the device and its address. "gni-run --help" says
 * how. Signals are taken from a queue, one at a time; nothing happens in a handler.
 */
#define _GNU_SOURCE
#include "gni_run.h"
#include "pmi_shared.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACE_SECONDS 2 /* between the request to end and the end */

/* ---- starting ---- */

static int is_runnable(const char *name)
{
    const char *path = getenv("PATH");
    char file[4096];

    if (strchr(name, '/') != NULL || path == NULL)
        return access(name, X_OK) == 0;
    errno = ENOENT;
    while (*path != '\0') {
        size_t length = strcspn(path, ":");

        snprintf(file, sizeof(file), "%.*s/%s", (int)length, path, name);
        if (access(file, X_OK) == 0)
            return 1;
        path += length + (path[length] == ':');
    }
    return 0;
}

static void become(const struct job *job, const struct program *program, int rank, pid_t launcher,
                   const sigset_t *mask)
{
    char **arguments = program->arguments;

    prctl(PR_SET_PDEATHSIG, SIGTERM); /* a launcher that is killed takes them along */
    if (getppid() != launcher)
        _exit(1);
    if (job->stdin_rank != -2 && job->stdin_rank != rank) {
        int fd = open("/dev/null", O_RDONLY);

        if (fd >= 0 && dup2(fd, STDIN_FILENO) >= 0 && fd != STDIN_FILENO)
            close(fd);
    }
    run_set_rank(job, rank, (int)(program - job->program));
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(arguments[0], arguments);
    fprintf(stderr, "gni-run: %s: %s\n", arguments[0], strerror(errno));
    _exit(127);
}

static int start_all(struct job *job, const sigset_t *mask)
{
    pid_t self = getpid();

    for (int p = 0; p < job->programs; p++)
        for (int i = 0; i < job->program[p].count; i++) {
            pid_t pid;

            fflush(NULL);
            pid = fork();
            if (pid == 0)
                become(job, &job->program[p], job->started, self, mask);
            if (pid < 0) {
                fprintf(stderr, "gni-run: fork: %s\n", strerror(errno));
                return 1;
            }
            job->pid[job->started++] = pid;
        }
    return 0;
}

/* ---- until the end ---- */

static void signal_all(const struct job *job, int with)
{
    for (int i = 0; i < job->started; i++)
        if (job->pid[i] > 0)
            kill(job->pid[i], with);
}

/* Forgets a process that ended; answers its exit code as a shell would tell it. */
static int ended(struct job *job, pid_t pid, int state)
{
    int code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);

    for (int i = 0; i < job->started; i++)
        if (job->pid[i] == pid) {
            job->pid[i] = 0;
            if (code != 0)
                fprintf(stderr, "gni-run: rank %d ended with %s %d\n", i,
                        WIFSIGNALED(state) ? "signal" : "exit code",
                        WIFSIGNALED(state) ? WTERMSIG(state) : code);
        }
    return code;
}

/* Those that have ended, without waiting: their number; *code becomes the first failure's. */
static int collect(struct job *job, int *code)
{
    int state, count = 0;
    pid_t pid;

    while ((pid = waitpid(-1, &state, WNOHANG)) > 0) {
        int its = ended(job, pid, state);

        *code = *code ? *code : its;
        count++;
    }
    return count;
}

static uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* The first failure, or a signal of ours, ends the others: asked, and after a while killed. */
static int wait_all(struct job *job, int code, const sigset_t *signals)
{
    const struct timespec tenth = {.tv_nsec = 100000000};
    uint64_t asked = 0;

    for (int left = job->started; left > 0;) {
        int with = SIGTERM, number;

        left -= collect(job, &code);
        if (left == 0)
            break;
        number = code == 0 || !asked ? 0 : sigtimedwait(signals, NULL, &tenth);
        if (code == 0)
            number = sigwaitinfo(signals, NULL);
        if (number == SIGUSR1 || number == SIGUSR2) {
            signal_all(job, number);
        } else if (number > 0 && number != SIGCHLD) {
            code = code ? code : 128 + number;
            with = number;
            if (asked) /* whoever insists */
                signal_all(job, number);
        }
        if (code != 0 && !asked) {
            asked = now_ms();
            atomic_store_explicit(&job->shared->aborted, 1, memory_order_release);
            signal_all(job, with);
        } else if (asked && now_ms() - asked >= GRACE_SECONDS * 1000) {
            signal_all(job, SIGKILL);
        }
    }
    return code;
}

static void block_signals(sigset_t *signals, sigset_t *before)
{
    static const int taken[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

    sigemptyset(signals);
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        sigaddset(signals, taken[i]);
    sigprocmask(SIG_BLOCK, signals, before);
    /* Of a signal that is ignored nothing is queued; nohup, and a shell's "&", do that. */
    signal(SIGCHLD, SIG_DFL);
}

int main(int argc, char **argv)
{
    static struct job job;
    sigset_t signals, before;
    const char *wrong;
    int code;

    (void)argc;
    wrong = run_parse(&job, argv + 1);
    if (wrong != NULL)
        fprintf(stderr, "gni-run: %s\n", wrong);
    if (wrong != NULL || job.wants_help) {
        run_usage(wrong != NULL);
        return wrong != NULL ? 2 : 0;
    }
    for (int p = 0; p < job.programs; p++)
        if (!is_runnable(job.program[p].arguments[0])) {
            fprintf(stderr, "gni-run: %s: %s\n", job.program[p].arguments[0], strerror(errno));
            return 127;
        }
    job.pid = calloc((size_t)job.size, sizeof(*job.pid));
    if (job.pid == NULL || run_share(&job) != 0)
        return 1;
    block_signals(&signals, &before);
    run_library_path();
    code = run_domain(&job) == 0 ? 0 : 1;
    if (code == 0)
        code = wait_all(&job, start_all(&job, &before), &signals);
    run_clean(&job);
    free(job.pid);
    return code;
}
