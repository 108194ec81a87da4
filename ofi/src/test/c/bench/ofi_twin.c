/*
 * What the transport ofi:// does, in C over the same provider: half round trips of 8-byte puts
 * between two processes that look at memory, and the rate of 1 MiB puts. Use: ofi_twin [PROVIDER]
 */
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MEMORY (2 << 20)
#define KEY 77
#define WARM_UP 2000
#define ROUNDS 20000
#define LARGE (1 << 20)
#define WINDOW 8
#define LARGE_ROUNDS 2000

struct side {
    struct fi_info *info;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    struct fid_mr *mr;
    char *memory;
    fi_addr_t peer;
    uint64_t base, key;
};

static void need(long code, const char *what)
{
    if (code < 0) {
        fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-code));
        exit(1);
    }
}

static void make(struct side *s, const char *provider)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .size = 4096, .wait_obj = FI_WAIT_FD};
    struct fid_fabric *fabric;
    struct fid_domain *domain;

    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    need(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &s->info), "fi_getinfo");
    need(fi_fabric(s->info->fabric_attr, &fabric, NULL), "fi_fabric");
    need(fi_domain(fabric, s->info, &domain, NULL), "fi_domain");
    need(fi_av_open(domain, &av, &s->av, NULL), "fi_av_open");
    need(fi_cq_open(domain, &cq, &s->cq, NULL), "fi_cq_open");
    need(fi_endpoint(domain, s->info, &s->ep, NULL), "fi_endpoint");
    need(fi_ep_bind(s->ep, &s->av->fid, 0), "fi_ep_bind");
    need(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    need(fi_enable(s->ep), "fi_enable");
    s->memory = aligned_alloc(4096, MEMORY);
    memset(s->memory, 0, MEMORY);
    need(fi_mr_reg(domain, s->memory, MEMORY,
                   FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                   KEY, 0, &s->mr, NULL),
         "fi_mr_reg");
}

static void swap(struct side *s, int in, int out)
{
    struct {
        char name[256];
        uint64_t base, key;
    } own, other;
    size_t length = sizeof(own.name);

    need(fi_getname(&s->ep->fid, own.name, &length), "fi_getname");
    own.base = s->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)s->memory : 0;
    own.key = fi_mr_key(s->mr);
    if (write(out, &own, sizeof(own)) != sizeof(own) ||
        read(in, &other, sizeof(other)) != sizeof(other))
        exit(1);
    s->base = other.base;
    s->key = other.key;
    need(fi_av_insert(s->av, other.name, 1, &s->peer, 0, NULL) - 1, "fi_av_insert");
}

static int poll_one(struct side *s)
{
    struct fi_cq_msg_entry entries[16];
    long count = fi_cq_read(s->cq, entries, 16);

    if (count == -FI_EAGAIN)
        return 0;
    need(count, "fi_cq_read");
    return (int)count;
}

static int put(struct side *s, uint64_t from, uint64_t to, size_t length)
{
    struct iovec local = {s->memory + from, length};
    struct fi_rma_iov remote = {s->base + to, length, s->key};
    void *descriptor = fi_mr_desc(s->mr);
    struct fi_msg_rma message = {&local, &descriptor, 1, s->peer, &remote, 1, NULL, 0};
    int done = 0;
    long code;

    while ((code = fi_writemsg(s->ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE)) ==
           -FI_EAGAIN)
        done += poll_one(s);
    need(code, "fi_writemsg");
    return done;
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void round_trip(struct side *s, uint64_t round, int first)
{
    volatile uint64_t *arrived = (volatile uint64_t *)(s->memory + 8);

    *(uint64_t *)s->memory = round;
    if (first)
        put(s, 0, 8, 8);
    while (*arrived != round)
        poll_one(s);
    if (!first)
        put(s, 0, 8, 8);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(struct side *s)
{
    static double times[ROUNDS];
    int posted = 0, done = 0;
    double began;

    for (uint64_t i = 1; i <= WARM_UP + ROUNDS; i++) {
        began = now();
        round_trip(s, i, 1);
        if (i > WARM_UP)
            times[i - WARM_UP - 1] = (now() - began) / 2;
    }
    qsort(times, ROUNDS, sizeof(*times), compare);
    printf("put 8 B, half round trip: p50 %.2f us, p99 %.2f us\n", times[ROUNDS / 2] * 1e6,
           times[ROUNDS * 99 / 100] * 1e6);
    while (poll_one(s))
        ;
    began = now();
    while (done < LARGE_ROUNDS) {
        while (posted < LARGE_ROUNDS && posted - done < WINDOW) {
            done += put(s, 4096, 4096, LARGE);
            posted++;
        }
        done += poll_one(s);
    }
    printf("put 1 MiB, %d under way: %.0f MiB/s\n", WINDOW, LARGE_ROUNDS / (now() - began));
}

int main(int count, char **arguments)
{
    const char *provider = count > 1 ? arguments[1] : "tcp;ofi_rxm";
    int there[2], back[2];
    struct side s;
    pid_t child;

    if (pipe(there) < 0 || pipe(back) < 0)
        return 1;
    child = fork();
    if (child < 0)
        return 1;
    make(&s, provider);
    if (child == 0) {
        swap(&s, there[0], back[1]);
        for (uint64_t i = 1; i <= WARM_UP + ROUNDS; i++)
            round_trip(&s, i, 0);
        for (;;)
            poll_one(&s);
    }
    swap(&s, back[0], there[1]);
    measure(&s);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return 0;
}
