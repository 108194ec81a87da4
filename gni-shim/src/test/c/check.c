#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
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

#define CASE_SECONDS 120
#define WHY_SIZE 1024
#define SKIPPED 77

struct check_shared *shared;
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

/* ---- cases ---- */

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

        snprintf(label + strlen(label), size - strlen(label), "%sugni-%.*s", label[0] ? "," : "",
                 (int)length, p);
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
        snprintf(why, WHY_SIZE, "time limit of %d s", CASE_SECONDS);
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

    label_of(c, label, sizeof(label) - 1);
    why[0] = '\0';
    memset(shared, 0, sizeof(*shared));
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        end_with_parent();
        c->run();
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

/* argv[1], if given, selects cases: a name or one of the numbers. */
static int selected(const struct check_case *c, const char *wanted)
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
    char directory[] = "/dev/shm/ugni-test-XXXXXX";

    why = mmap(NULL, WHY_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (why == MAP_FAILED || shared == MAP_FAILED || mkdtemp(directory) == NULL) {
        perror("check_main");
        return 2;
    }
    setenv("GNI_SHIM_DIR", directory, 1);
    for (int i = 0; i < count; i++) {
        if (argc > 1 && !selected(&cases[i], argv[1]))
            continue;
        int result = run_case(&cases[i]);

        passed += result > 0;
        failed += result == 0;
        skipped += result < 0;
    }
    printf("%d passed, %d failed, %d skipped\n", passed, failed, skipped);
    nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    return failed != 0;
}

/* ---- processes ---- */

void end_with_parent(void)
{
    alarm(CASE_SECONDS);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

pid_t start(void (*body)(void))
{
    pid_t pid = fork();

    if (pid < 0)
        check_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
    if (pid == 0) {
        end_with_parent();
        body();
        _exit(0);
    }
    return pid;
}

int join(pid_t pid)
{
    int state;

    while (waitpid(pid, &state, 0) < 0)
        if (errno != EINTR)
            check_fail(__FILE__, __LINE__, "waitpid: %s", strerror(errno));
    if (WIFSIGNALED(state) && WTERMSIG(state) != SIGKILL)
        check_fail(__FILE__, __LINE__, "the other process died of signal %d", WTERMSIG(state));
    if (WIFEXITED(state) && WEXITSTATUS(state) != 0)
        check_fail(__FILE__, __LINE__, "the other process failed");
    return WIFSIGNALED(state) ? WTERMSIG(state) : 0;
}

void sleep_ms(unsigned ms)
{
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&pause, NULL);
}

uint64_t check_seed(void)
{
    const char *text = getenv("VERBENA_SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : now_ms();

    printf("# VERBENA_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

uint64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void await_flag(int index, uint32_t value)
{
    for (int tries = 0;
         __atomic_load_n((uint32_t *)&shared->flag[index], __ATOMIC_ACQUIRE) != value; tries++) {
        if (tries < 100)
            sched_yield();
        else
            sleep_ms(1);
    }
}

void set_flag(int index, uint32_t value)
{
    __atomic_store_n((uint32_t *)&shared->flag[index], value, __ATOMIC_RELEASE);
}

/* ---- nodes ---- */

void node_attach(struct node *n, uint32_t inst, uint32_t cookie, uint32_t modes)
{
    memset(n, 0, sizeof(*n));
    n->inst = inst;
    OK(GNI_CdmCreate(inst, PTAG, cookie, modes, &n->cdm));
    OK(GNI_CdmAttach(n->cdm, 0, &n->pe, &n->nic));
}

void node_open(struct node *n, uint32_t inst, uint32_t modes, int mapped)
{
    void *memory = NULL;

    node_attach(n, inst, COOKIE, modes);
    OK(GNI_CqCreate(n->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &n->cq));
    OK(GNI_CqCreate(n->nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &n->dst));
    OK(GNI_EpCreate(n->nic, n->cq, &n->ep));
    if (mapped)
        OK(GNI_ExtMemAlloc(n->nic, MEMORY_BYTES, &memory));
    else
        memory =
            mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED);
    n->memory = memory;
    OK(GNI_MemRegister(n->nic, (uint64_t)(uintptr_t)memory, MEMORY_BYTES, n->dst, GNI_MEM_READWRITE,
                       (uint32_t)-1, &n->handle));
}

void node_close(struct node *n)
{
    OK(GNI_CdmDestroy(n->cdm));
}

void pair_open(struct node *a, struct node *b, uint32_t modes, int mapped)
{
    node_open(a, 1, modes, mapped);
    node_open(b, 2, modes, mapped);
    OK(GNI_EpBind(a->ep, b->pe, b->inst));
    OK(GNI_EpBind(b->ep, a->pe, a->inst));
}

gni_post_descriptor_t transaction(gni_post_type_t type, const struct node *local,
                                  const struct node *remote, uint64_t length)
{
    gni_post_descriptor_t d;

    memset(&d, 0, sizeof(d));
    d.type = type;
    d.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    d.dlvr_mode = GNI_DLVMODE_PERFORMANCE;
    d.local_addr = (uint64_t)(uintptr_t)local->memory;
    d.local_mem_hndl = local->handle;
    d.remote_addr = (uint64_t)(uintptr_t)remote->memory;
    d.remote_mem_hndl = remote->handle;
    d.length = length;
    return d;
}

gni_return_t next_event(gni_cq_handle_t cq, gni_cq_entry_t *entry)
{
    gni_return_t code = GNI_RC_NOT_DONE;

    for (uint64_t end = now_ms() + 30000; code == GNI_RC_NOT_DONE && now_ms() < end;) {
        code = GNI_CqGetEvent(cq, entry);
        if (code == GNI_RC_NOT_DONE)
            sleep_ms(1);
    }
    return code;
}

static gni_return_t post(const struct node *n, gni_post_descriptor_t *d)
{
    if (d->type == GNI_POST_RDMA_PUT || d->type == GNI_POST_RDMA_GET)
        return GNI_PostRdma(n->ep, d);
    return d->type == GNI_POST_CQWRITE ? GNI_PostCqWrite(n->ep, d) : GNI_PostFma(n->ep, d);
}

gni_return_t post_and_wait(const struct node *n, gni_post_descriptor_t *d)
{
    gni_post_descriptor_t *done = NULL;
    gni_return_t fetched, code;
    gni_cq_entry_t entry = 0;

    OK(post(n, d));
    fetched = next_event(n->cq, &entry);
    code = GNI_GetCompleted(n->cq, entry, &done);
    CHECK(done == d);
    CODE(fetched, code);
    return code;
}

void expect_error(const struct node *n, gni_post_descriptor_t *d, unsigned status)
{
    gni_post_descriptor_t *done = NULL;
    gni_cq_entry_t entry = 0;

    OK(post(n, d));
    CODE(GNI_RC_TRANSACTION_ERROR, next_event(n->cq, &entry));
    CHECK_EQ(status, GNI_CQ_GET_STATUS(entry));
    CODE(GNI_RC_TRANSACTION_ERROR, GNI_GetCompleted(n->cq, entry, &done));
    CHECK(done == d);
}

void expect_empty(gni_cq_handle_t cq)
{
    gni_cq_entry_t entry;

    CODE(GNI_RC_NOT_DONE, GNI_CqGetEvent(cq, &entry));
}

void fill(uint8_t *at, uint64_t length, uint32_t seed)
{
    for (uint64_t i = 0; i < length; i++)
        at[i] = (uint8_t)((i * 131 + seed * 17 + (i >> 8)) | 1);
}

int is_filled(const uint8_t *at, uint64_t length, uint32_t seed)
{
    for (uint64_t i = 0; i < length; i++)
        if (at[i] != (uint8_t)((i * 131 + seed * 17 + (i >> 8)) | 1))
            return 0;
    return 1;
}

int is_zero(const uint8_t *at, uint64_t length)
{
    for (uint64_t i = 0; i < length; i++)
        if (at[i] != 0)
            return 0;
    return 1;
}
