#define _GNU_SOURCE
#include "check.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void run_body(void (*body)(void))
{
    body();
}

const struct check_suite check_suite = {
    .prefix = "ugni",
    .folder_variable = "GNI_SHIM_DIR",
    .run = run_body,
};

const char *check_error(void)
{
    return GNI_ExtError();
}

/* ---- processes ---- */

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
    return check_ended("other process", state);
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
