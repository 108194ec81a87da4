/*
 * mpi-hold [--] COMMAND [ARGUMENT]...: a process of an MPI job that runs a command which knows no
 * MPI.
 *
 * It joins MPI, so that the job's other programs start, takes part in the split into programs, and
 * then waits for its command without taking part in anything. Signals that end it go to the
 * command. When the command has ended with 0 it ends MPI, which waits for the other programs to do
 * so; any other end of the command ends the whole job.
 *
 * The command finds in VERBENA_HELD_RANK, VERBENA_HELD_SIZE and VERBENA_HELD_JOB which it is of the
 * job's commands.
 */
#define _GNU_SOURCE
#include "commsplit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t child;

static void pass_on(int signal)
{
    int saved = errno;
    if (child > 0)
        kill((pid_t)child, signal);
    errno = saved;
}

static void set_number(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof(text), "%d", value);
    setenv(name, text, 1);
}

/* MPICH's launcher waits for the end of this connection: it belongs to the process that joined. */
static void drop_launcher(void)
{
    const char *number = getenv("PMI_FD");
    if (number)
        fcntl(atoi(number), F_SETFD, FD_CLOEXEC);
    unsetenv("PMI_FD");
}

/* In the child, which is made before MPI starts: a fork of a process that uses MPI is not safe with
 * every network. */
static void run(char **command, int from_parent, pid_t parent)
{
    struct commsplit_held held;
    size_t taken = 0;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
    while (taken < sizeof(held)) {
        ssize_t count = read(from_parent, (char *)&held + taken, sizeof(held) - taken);
        if (count <= 0 && !(count < 0 && errno == EINTR))
            _exit(1); /* MPI did not start */
        taken += count > 0 ? (size_t)count : 0;
    }
    set_number("VERBENA_HELD_RANK", held.rank);
    set_number("VERBENA_HELD_SIZE", held.size);
    setenv("VERBENA_HELD_JOB", held.job, 1);
    drop_launcher();
    execvp(command[0], command);
    fprintf(stderr, "mpi-hold: %s: %s\n", command[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

static int start(char **command)
{
    int ends[2];
    pid_t parent = getpid(), made;
    if (pipe2(ends, O_CLOEXEC) || (made = fork()) < 0) {
        perror("mpi-hold");
        exit(1);
    }
    if (made == 0) {
        close(ends[1]);
        run(command, ends[0], parent);
    }
    close(ends[0]);
    child = made;
    return ends[1];
}

/* Its exit code, as a shell has it. */
static int await_end(void)
{
    int status;
    while (waitpid((pid_t)child, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
    const int passed[] = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    struct commsplit_held held;
    int first = argc > 1 && !strcmp(argv[1], "--") ? 2 : 1;
    if (argc <= first || (first == 1 && argv[1][0] == '-')) {
        fprintf(stderr, "usage: mpi-hold [--] COMMAND [ARGUMENT]...\n");
        return 2;
    }
    int to_child = start(argv + first);
    PMPI_Init(NULL, NULL);
    memset(&held, 0, sizeof(held));
    commsplit_join(1, &held);
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
        sigaction(passed[i], &action, NULL);
    if (write(to_child, &held, sizeof(held)) != sizeof(held))
        perror("mpi-hold");
    close(to_child);
    int code = await_end();
    if (code) {
        fprintf(stderr, "mpi-hold: %s ended with code %d\n", argv[first], code);
        PMPI_Abort(MPI_COMM_WORLD, code);
    }
    commsplit_leave();
    PMPI_Finalize();
    return code;
}
