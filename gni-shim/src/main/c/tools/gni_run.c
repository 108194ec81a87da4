/*
 * gni-run: starts the processes of a uGNI program on this host and gives them what Cray's launcher
 * gave them: ranks, a protection tag and cookie, the device and its address.
 *
 *     gni-run -n 4 PROGRAM [ARGUMENTS] [: -n 1 OTHER [ARGUMENTS]]...
 *
 * Exit code: 0 when all processes ended with 0, else that of the first one that did not (128 and
 * the signal's number if it was killed); then the others are ended, too.
 */
#define _GNU_SOURCE
#include "pmi_shared.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROGRAMS_MAX 64
#define GRACE_TENTHS 20 /* tenths of a second between the request to end and the end */

struct program {
    int count;
    char **arguments;
};
struct job {
    struct program program[PROGRAMS_MAX];
    int programs;
    int size;
    pid_t *pid;
    int started; /* pids known so far */
    char path[256];
    struct pmi_shared *shared;
    unsigned ptag, cookie;
};

static volatile sig_atomic_t stopped_by;

static int usage(const char *what)
{
    fprintf(stderr,
            "gni-run: %s\n"
            "usage: gni-run -n COUNT PROGRAM [ARGUMENTS] [: -n COUNT PROGRAM [ARGUMENTS]]...\n"
            "  --ptag N, --cookie N   of the protection domain; otherwise chosen for this job\n",
            what);
    return 2;
}

/* ---- arguments ---- */

static int number(const char *text, long most, long *value)
{
    char *end;

    errno = 0;
    *value = strtol(text, &end, 0);
    return errno == 0 && end != text && *end == '\0' && *value >= 1 && *value <= most ? 0 : -1;
}

/* Takes the options of one program; its name stays at **argv. */
static const char *take_options(struct job *job, struct program *program, char ***argv)
{
    long value;

    while (**argv != NULL && (**argv)[0] == '-') {
        const char *option = *(*argv)++;
        const char *text = **argv;

        if (strcmp(option, "--") == 0)
            break;
        if (text == NULL)
            return "an option without its value";
        if (strcmp(option, "-n") == 0 || strcmp(option, "-np") == 0) {
            if (number(text, PMI_SIZE_MAX, &value) != 0)
                return "-n: 1 to 4096";
            program->count = (int)value;
        } else if (strcmp(option, "--ptag") == 0) {
            if (number(text, 253, &value) != 0)
                return "--ptag: 3 to 253";
            job->ptag = (unsigned)value;
        } else if (strcmp(option, "--cookie") == 0) {
            if (number(text, 0xffffffffl, &value) != 0)
                return "--cookie: 1 to 4294967295";
            job->cookie = (unsigned)value;
        } else {
            return "an option that it does not know";
        }
        (*argv)++;
    }
    return NULL;
}

static const char *parse(struct job *job, char **argv)
{
    for (;;) {
        struct program *program = &job->program[job->programs];
        const char *wrong;

        program->count = 1;
        wrong = take_options(job, program, &argv);
        if (wrong != NULL)
            return wrong;
        if (*argv == NULL || strcmp(*argv, ":") == 0)
            return "no program";
        program->arguments = argv;
        job->size += program->count;
        job->programs++;
        while (*argv != NULL && strcmp(*argv, ":") != 0)
            argv++;
        if (job->size > PMI_SIZE_MAX)
            return "more than 4096 processes";
        if (*argv == NULL)
            return NULL;
        if (job->programs == PROGRAMS_MAX)
            return "more than 64 programs";
        *argv++ = NULL;
    }
}

/* ---- what the processes share ---- */

static int share(struct job *job)
{
    const char *directory = getenv("VERBENA_SHM_DIR");
    int fd;

    snprintf(job->path, sizeof(job->path), "%s/gni-run-XXXXXX", directory ? directory : "/dev/shm");
    fd = mkstemp(job->path);
    if (fd < 0 || posix_fallocate(fd, 0, sizeof(*job->shared)) != 0) {
        fprintf(stderr, "gni-run: %s: %s\n", job->path, strerror(errno));
        if (fd >= 0)
            unlink(job->path);
        return -1;
    }
    job->shared = mmap(NULL, sizeof(*job->shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (job->shared == MAP_FAILED) {
        unlink(job->path);
        return -1;
    }
    job->shared->size = (uint32_t)job->size;
    job->shared->magic = PMI_SHARED_MAGIC;
    return 0;
}

static void set_number(const char *name, unsigned long value)
{
    char text[32];

    snprintf(text, sizeof(text), "%lu", value);
    setenv(name, text, 1);
}

/* As the library answers for device 0, so that programs that read it from the environment agree. */
static unsigned long nic_address(void)
{
    const char *given = getenv("GNI_SHIM_NIC_ADDR");
    char host[256] = "";
    uint32_t hash = 2166136261u;

    if (given != NULL)
        return strtoul(given, NULL, 0) & 0x3ffffu;
    gethostname(host, sizeof(host) - 1);
    for (const char *p = host; *p; p++)
        hash = (hash ^ (uint8_t)*p) * 16777619u;
    return (hash ^ hash >> 18) & 0x3ffffu;
}

static void domain(struct job *job)
{
    uint32_t chance[2] = {(uint32_t)time(NULL), (uint32_t)getpid()};

    if (getrandom(chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
        chance[0] ^= (uint32_t)getpid() << 16;
    if (job->ptag == 0)
        job->ptag = 3 + chance[0] % 251;
    if (job->cookie == 0) /* the upper half is the protection key, of a user's range */
        job->cookie = (128 + chance[1] % 65000u) << 16;
    set_number("PMI_GNI_PTAG", job->ptag);
    set_number("PMI_GNI_COOKIE", job->cookie);
    set_number("CRAY_COOKIES", job->cookie);
    set_number("PMI_GNI_DEV_ID", 0);
    set_number("PMI_GNI_LOC_ADDR", nic_address());
    set_number("PMI_SIZE", (unsigned long)job->size);
    setenv("VERBENA_PMI_FILE", job->path, 1);
}

/* Programs linked with -lugni -lpmi find the libraries beside this command, or in ../lib of it. */
static void library_path(void)
{
    static const char *const beside[] = {"", "/../lib"};
    const char *before = getenv("LD_LIBRARY_PATH");
    char self[512], library[640], path[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

    if (length <= 0)
        return;
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    for (int i = 0; i < 2; i++) {
        snprintf(library, sizeof(library), "%s%s/libugni.so.0", self, beside[i]);
        if (access(library, R_OK) != 0)
            continue;
        snprintf(path, sizeof(path), "%s%s%s%s", self, beside[i], before ? ":" : "",
                 before ? before : "");
        setenv("LD_LIBRARY_PATH", path, 1);
        return;
    }
}

/* ---- processes ---- */

static void run_one(const struct job *job, const struct program *program, int rank)
{
    set_number("PMI_RANK", (unsigned long)rank);
    set_number("PMI_FORK_RANK", (unsigned long)rank);
    set_number("ALPS_APP_PE", (unsigned long)rank);
    set_number("PMI_APPNUM", (unsigned long)(program - job->program));
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* a launcher that is killed takes them along */
    execvp(program->arguments[0], program->arguments);
    fprintf(stderr, "gni-run: %s: %s\n", program->arguments[0], strerror(errno));
    _exit(127);
}

static void end_all(const struct job *job, int with)
{
    for (int i = 0; i < job->started; i++)
        if (job->pid[i] > 0)
            kill(job->pid[i], with);
}

static int start_all(struct job *job)
{
    for (int p = 0; p < job->programs; p++)
        for (int i = 0; i < job->program[p].count; i++) {
            pid_t pid;

            fflush(NULL);
            pid = fork();
            if (pid == 0)
                run_one(job, &job->program[p], job->started);
            if (pid < 0) {
                fprintf(stderr, "gni-run: fork: %s\n", strerror(errno));
                return -1;
            }
            job->pid[job->started++] = pid;
        }
    return 0;
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

static void on_signal(int signal)
{
    stopped_by = signal;
}

/* The first failure ends the others: asked, and after a while killed. */
static int wait_all(struct job *job, int code)
{
    int tenths = 0, is_ending = 0;

    for (int left = job->started; left > 0;) {
        const struct timespec tenth = {.tv_nsec = 100000000};
        int state;
        pid_t pid = waitpid(-1, &state, is_ending ? WNOHANG : 0);

        if (pid > 0) {
            int its = ended(job, pid, state);

            left--;
            code = code ? code : its;
        } else if (pid == 0) {
            if (++tenths == GRACE_TENTHS)
                end_all(job, SIGKILL);
            nanosleep(&tenth, NULL);
        } else if (errno != EINTR) {
            break;
        }
        if (stopped_by && code == 0)
            code = 128 + stopped_by;
        if (code != 0 && !is_ending) {
            is_ending = 1;
            atomic_store_explicit(&job->shared->aborted, 1, memory_order_release);
            end_all(job, SIGTERM);
        }
    }
    return code;
}

int main(int argc, char **argv)
{
    static struct job job;
    struct sigaction action = {.sa_handler = on_signal};
    const char *wrong;
    int code;

    (void)argc;
    wrong = parse(&job, argv + 1);
    if (wrong != NULL)
        return usage(wrong);
    job.pid = calloc((size_t)job.size, sizeof(*job.pid));
    if (job.pid == NULL || share(&job) != 0)
        return 1;
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    domain(&job);
    library_path();
    code = wait_all(&job, start_all(&job) == 0 ? 0 : 1);
    unlink(job.path);
    free(job.pid);
    return code;
}
