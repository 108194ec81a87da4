/*
 * The tests' interface by the calls of portals3.h alone. Nothing is assumed of the implementation
 * but what the assertions say: operations may complete after their call, and a process that has
 * Portals open is never forked. Initiators are therefore forked by a process that was there before
 * the first call; it learns by a pipe which one to start.
 */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STARTS_MAX 128

/* One process to start. Functions are at the same address in every process of a case. */
struct start {
    void (*body)(void);
    ptl_process_id_t target;
    uint32_t flavor;
    _Atomic pid_t pid;
    int status;
    _Atomic int has_ended;
};

static struct start *starts;
static unsigned started;
static int requests = -1;

static void sleep_ms(long ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&pause, NULL);
}

static long setting(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return text ? atol(text) : otherwise;
}

/* How long nothing has to happen for the tests to believe that nothing will. */
static long settle_ms(void)
{
    return setting("PORTALS_SETTLE_MS", 10);
}

static void run_start(struct start *s)
{
    pid_t pid;

    signal(SIGCHLD, SIG_DFL);
    pid = fork();
    if (pid == 0) {
        target_id = s->target;
        check_flavor = s->flavor;
        check_initiator(s->body);
    }
    s->pid = pid;
    waitpid(pid, &s->status, 0);
    s->has_ended = 1;
    _exit(0);
}

static void serve(int from)
{
    unsigned index;

    signal(SIGCHLD, SIG_IGN);
    while (read(from, &index, sizeof(index)) == (ssize_t)sizeof(index))
        if (fork() == 0) {
            close(from);
            run_start(&starts[index]);
        }
    _exit(0);
}

void nic_prepare(void)
{
    int ends[2];
    pid_t pid;

    starts = mmap(NULL, STARTS_MAX * sizeof(*starts), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (starts == MAP_FAILED || pipe(ends) != 0 || (pid = fork()) < 0)
        check_fail(__FILE__, __LINE__, "no pipe, memory or process for the initiators");
    if (pid == 0) {
        close(ends[1]);
        serve(ends[0]);
    }
    close(ends[0]);
    requests = ends[1];
}

int nic_open(uint32_t flavor, ptl_ni_limits_t *wanted, ptl_ni_limits_t *granted,
             ptl_handle_ni_t *handle)
{
    (void)flavor; /* it is that of the header */
    return PtlNIInit(PTL_IFACE_DEFAULT, PTL_PID_ANY, wanted, granted, handle);
}

pid_t nic_start(void (*body)(void))
{
    unsigned index = started++;
    struct start *s = &starts[index];

    CHECK(index < STARTS_MAX);
    s->body = body;
    s->target = target_id;
    s->flavor = check_flavor;
    CHECK(write(requests, &index, sizeof(index)) == (ssize_t)sizeof(index));
    while (s->pid == 0)
        sleep_ms(1);
    CHECK(s->pid > 0);
    return s->pid;
}

int nic_join(pid_t pid)
{
    unsigned i = 0;

    while (i < started && starts[i].pid != pid)
        i++;
    CHECK(i < started);
    while (!starts[i].has_ended)
        sleep_ms(1);
    nic_settle();
    return starts[i].status;
}

void nic_settle(void)
{
    sleep_ms(settle_ms());
}

int nic_event_due(ptl_handle_eq_t eq, ptl_event_t *event)
{
    int which;

    return PtlEQPoll(&eq, 1, (ptl_time_t)setting("PORTALS_DUE_MS", 20000), event, &which);
}

int nic_event_not_due(ptl_handle_eq_t eq, ptl_event_t *event)
{
    int which;

    return PtlEQPoll(&eq, 1, (ptl_time_t)settle_ms(), event, &which);
}

const char *nic_error(void)
{
    return "no text";
}

int nic_faults(ptl_handle_ni_t handle, char *text, size_t size)
{
    (void)handle;
    (void)text;
    (void)size;
    return 0;
}
