/*
 * What the transport ofi:// does, in C over the same provider, between two hosts.
 *   ofi_twin OPERATION BYTES WINDOW [PROVIDER]             serves one measurement, prints "ready"
 *   ofi_twin OPERATION BYTES WINDOW PROVIDER HOST          measures against it, prints {"value": N}
 * OPERATION: send_lat, put_lat (half a round trip, ns: the median over batches), put_bw (GB/s,
 * likewise). Each waits for the end of its operation before it begins the next of a
 * latency, as ./verbena lat does. Behind "spin_": as fi_pingpong does it, at a queue without a
 * descriptor to sleep at and without locks between threads.
 */
#include <netdb.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define KEY 77
#define PORT "18599"
#define SLOTS 64
#define SLOT 4096
#define INBOX 4096
#define WARM_UP 20000
#define BATCHES 50
#define BATCH 1000
#define LARGE_BATCHES 20
#define LARGE_BATCH 200
#define LARGE_WARM_UP 1000

struct side {
    struct fi_info *info;
    struct fid_ep *ep;
    struct fid_cq *cq;
    struct fid_av *av;
    struct fid_mr *mr;
    char *memory; /* what is sent, what the peer puts, slots of messages */
    size_t length;
    size_t slots_at;
    fi_addr_t peer;
    uint64_t base, key;
    long outstanding;
    long messages;
    int is_first;
    int is_put;
    int is_spinning;
};

static void need(long code, const char *what)
{
    if (code < 0) {
        fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-code));
        exit(1);
    }
}

static struct fi_info *find(const char *provider, enum fi_threading threading)
{
    struct fi_info *hints = fi_allocinfo(), *found;

    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->fabric_attr->prov_name = strdup(provider);
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = threading;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    need(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &found), "fi_getinfo");
    fi_freeinfo(hints);
    return found;
}

static void receive(struct side *s, char *slot)
{
    need(fi_recv(s->ep, slot, SLOT, fi_mr_desc(s->mr), FI_ADDR_UNSPEC, slot), "fi_recv");
}

static void make(struct side *s, const char *provider, size_t length)
{
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_MSG, .size = 4096, .wait_obj = FI_WAIT_FD};
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    size_t total;

    if (s->is_spinning)
        cq.wait_obj = FI_WAIT_NONE;
    s->info = find(provider, s->is_spinning ? FI_THREAD_DOMAIN : FI_THREAD_SAFE);
    need(fi_fabric(s->info->fabric_attr, &fabric, NULL), "fi_fabric");
    need(fi_domain(fabric, s->info, &domain, NULL), "fi_domain");
    need(fi_av_open(domain, &av, &s->av, NULL), "fi_av_open");
    need(fi_cq_open(domain, &cq, &s->cq, NULL), "fi_cq_open");
    need(fi_endpoint(domain, s->info, &s->ep, NULL), "fi_endpoint");
    need(fi_ep_bind(s->ep, &s->av->fid, 0), "fi_ep_bind");
    need(fi_ep_bind(s->ep, &s->cq->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    need(fi_enable(s->ep), "fi_enable");
    s->length = (length + INBOX - 1) / INBOX * INBOX;
    s->slots_at = 2 * s->length;
    total = s->slots_at + SLOTS * SLOT;
    s->memory = aligned_alloc(INBOX, total);
    memset(s->memory, 0, total);
    need(fi_mr_reg(domain, s->memory, total,
                   FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                   KEY, 0, &s->mr, NULL),
         "fi_mr_reg");
    for (int i = 0; i < SLOTS; i++)
        receive(s, s->memory + s->slots_at + (size_t)i * SLOT);
}

/* ---- the two sides find each other ---- */

static int join(const char *host)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    int link, one = 1, listener;

    hints.ai_flags = host ? 0 : AI_PASSIVE;
    if (getaddrinfo(host, PORT, &hints, &found) != 0)
        return -1;
    link = socket(AF_INET, SOCK_STREAM, 0);
    if (host)
        return connect(link, found->ai_addr, found->ai_addrlen) == 0 ? link : -1;
    listener = link;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(listener, found->ai_addr, found->ai_addrlen) < 0 || listen(listener, 1) < 0)
        return -1;
    puts("ready");
    fflush(stdout);
    return accept(listener, NULL, NULL);
}

static void swap(struct side *s, int link)
{
    struct {
        char name[256];
        uint64_t base, key;
    } own, other;
    size_t length = sizeof(own.name);

    memset(&own, 0, sizeof(own));
    need(fi_getname(&s->ep->fid, own.name, &length), "fi_getname");
    own.base = s->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)s->memory : 0;
    own.key = fi_mr_key(s->mr);
    if (write(link, &own, sizeof(own)) != sizeof(own) ||
        recv(link, &other, sizeof(other), MSG_WAITALL) != sizeof(other))
        exit(1);
    s->base = other.base;
    s->key = other.key;
    need(fi_av_insert(s->av, other.name, 1, &s->peer, 0, NULL) - 1, "fi_av_insert");
}

/* ---- operations ---- */

static void look(struct side *s)
{
    struct fi_cq_msg_entry entries[16];
    long count = fi_cq_read(s->cq, entries, 16);

    if (count == -FI_EAGAIN)
        return;
    need(count, "fi_cq_read");
    for (long i = 0; i < count; i++) {
        if (entries[i].flags & FI_RECV) {
            s->messages++;
            receive(s, entries[i].op_context);
        } else {
            s->outstanding--;
        }
    }
}

static void put(struct side *s, size_t length)
{
    struct iovec local = {s->memory, length};
    struct fi_rma_iov remote = {s->base + s->length, length, s->key};
    void *descriptor = fi_mr_desc(s->mr);
    struct fi_msg_rma message = {&local, &descriptor, 1, s->peer, &remote, 1, NULL, 0};
    long code;

    while ((code = fi_writemsg(s->ep, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE)) ==
           -FI_EAGAIN)
        look(s);
    need(code, "fi_writemsg");
    s->outstanding++;
}

static void drain(struct side *s)
{
    while (s->outstanding > 0)
        look(s);
}

static void say(struct side *s, size_t length, long number)
{
    long code;

    if (s->is_put) {
        drain(s);
        s->memory[length - 1] = (char)(1 + number % 127);
        put(s, length);
        return;
    }
    while ((code = fi_inject(s->ep, s->memory, length, s->peer)) == -FI_EAGAIN)
        look(s);
    need(code, "fi_inject");
}

static void hear(struct side *s, size_t length, long number)
{
    volatile char *mark = s->memory + s->length + length - 1;

    if (s->is_put)
        while (*mark != (char)(1 + number % 127))
            look(s);
    else
        while (s->messages < number)
            look(s);
}

static void round_trip(struct side *s, size_t length, long number)
{
    if (s->is_first)
        say(s, length, number);
    hear(s, length, number);
    if (!s->is_first)
        say(s, length, number);
}

/* ---- measurements ---- */

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof(*values), compare);
    return values[count / 2];
}

static double latency(struct side *s, size_t length)
{
    double batches[BATCHES];
    long number = 1;

    for (; number <= WARM_UP; number++)
        round_trip(s, length, number);
    for (int i = 0; i < BATCHES; i++) {
        double began = now();

        for (int k = 0; k < BATCH; k++)
            round_trip(s, length, number++);
        batches[i] = (now() - began) / (2.0 * BATCH);
    }
    drain(s);
    return median(batches, BATCHES);
}

static void puts_of(struct side *s, size_t length, int count, int window)
{
    for (int i = 0; i < count; i++) {
        while (s->outstanding >= window)
            look(s);
        put(s, length);
    }
    drain(s);
}

static double bandwidth(struct side *s, size_t length, int window)
{
    double batches[LARGE_BATCHES];

    puts_of(s, length, LARGE_WARM_UP, window);
    for (int i = 0; i < LARGE_BATCHES; i++) {
        double began = now();

        puts_of(s, length, LARGE_BATCH, window);
        batches[i] = (double)LARGE_BATCH * (double)length / (now() - began);
    }
    return median(batches, LARGE_BATCHES);
}

/* Until the other side has gone. */
static void serve(struct side *s, int link)
{
    char byte;

    while (recv(link, &byte, 1, MSG_DONTWAIT) != 0)
        for (int i = 0; i < 1000; i++)
            look(s);
}

int main(int count, char **arguments)
{
    const char *host = count > 5 ? arguments[5] : NULL;
    struct side s;
    size_t length;
    int link, is_latency;

    if (count < 4)
        return 2;
    memset(&s, 0, sizeof(s));
    length = strtoul(arguments[2], NULL, 10);
    is_latency = strstr(arguments[1], "lat") != NULL;
    s.is_put = strstr(arguments[1], "put") != NULL;
    s.is_spinning = strstr(arguments[1], "spin") != NULL;
    s.is_first = host != NULL;
    make(&s, count > 4 ? arguments[4] : "tcp;ofi_rxm", length);
    link = join(host);
    if (link < 0)
        return 1;
    swap(&s, link);
    if (s.is_first)
        printf("{\"value\": %.4f}\n",
               is_latency ? latency(&s, length) : bandwidth(&s, length, atoi(arguments[3])));
    else if (is_latency)
        latency(&s, length);
    if (s.is_first)
        close(link);
    else
        serve(&s, link);
    return 0;
}
