/*
 * The loops of "verbena lat" and "verbena bw" over a device in C, to compare with: both sides are
 * threads of this process, as both of Java's are in "./verbena compare verbs". Usage:
 * verbs_twin write_lat|write_bw|read_lat|read_bw|send_lat|send_bw DEVICE GID_INDEX SIZE COUNT
 * prints microseconds, the median (half a round trip of writes and sends), or MiB/s.
 */
#include <errno.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH 128
#define RECEIVES 512
#define MODERATION 100
#define MODERATED_SIZE_MAX 8192
#define BATCH 16
#define PAGE 4096
#define CHECK(ok, what)                                                                            \
    do {                                                                                           \
        if (!(ok)) {                                                                               \
            fprintf(stderr, "verbs_twin: %s: %s\n", what, strerror(errno));                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

struct side {
    struct ibv_context *context;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    struct ibv_cq *send_cq, *recv_cq;
    struct ibv_qp *qp;
    union ibv_gid gid;
    struct ibv_recv_wr receive;
    struct ibv_sge receive_segment;
    uint8_t reads;
    uint8_t *memory; /* to send from, and behind it to be written into */
    int is_client;
};

static size_t size, half;
static int count, gid_index, is_send, is_latency;
static enum ibv_wr_opcode opcode;
static struct side sides[2];
static pthread_barrier_t ready;

static int64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void open_device(struct side *side, const char *device)
{
    struct ibv_device **list = ibv_get_device_list(NULL);
    CHECK(list, "ibv_get_device_list");
    for (int i = 0; list[i]; i++)
        if (!strcmp(ibv_get_device_name(list[i]), device))
            side->context = ibv_open_device(list[i]);
    ibv_free_device_list(list);
    CHECK(side->context, "ibv_open_device");
    struct ibv_device_attr attr;
    CHECK(!ibv_query_device(side->context, &attr), "ibv_query_device");
    side->reads = (uint8_t)(attr.max_qp_rd_atom > 255 ? 255 : attr.max_qp_rd_atom);
    CHECK(!ibv_query_gid(side->context, 1, gid_index, &side->gid), "ibv_query_gid");
}

static void open_side(struct side *side, const char *device)
{
    open_device(side, device);
    side->pd = ibv_alloc_pd(side->context);
    CHECK(side->pd, "ibv_alloc_pd");
    CHECK(!posix_memalign((void **)&side->memory, PAGE, 2 * half), "memory");
    memset(side->memory, 0, 2 * half);
    side->mr =
        ibv_reg_mr(side->pd, side->memory, 2 * half,
                   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    CHECK(side->mr, "ibv_reg_mr");
    int depth = is_latency ? 1 : DEPTH;
    side->send_cq = ibv_create_cq(side->context, depth, NULL, NULL, 0);
    side->recv_cq = ibv_create_cq(side->context, RECEIVES, NULL, NULL, 0);
    CHECK(side->send_cq && side->recv_cq, "ibv_create_cq");
    struct ibv_qp_init_attr init = {.send_cq = side->send_cq,
                                    .recv_cq = side->recv_cq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = (uint32_t)depth,
                                            .max_recv_wr = RECEIVES,
                                            .max_send_sge = 1,
                                            .max_recv_sge = 1}};
    side->qp = ibv_create_qp(side->pd, &init);
    CHECK(side->qp, "ibv_create_qp");
    side->receive_segment = (struct ibv_sge){
        .addr = (uintptr_t)side->memory + half, .length = (uint32_t)size, .lkey = side->mr->lkey};
    side->receive = (struct ibv_recv_wr){.sg_list = &side->receive_segment, .num_sge = 1};
}

static void connect_side(struct side *side, struct side *peer)
{
    struct ibv_port_attr port;
    CHECK(!ibv_query_port(side->context, 1, &port), "ibv_query_port");
    struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                               .port_num = 1,
                               .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};
    CHECK(!ibv_modify_qp(side->qp, &attr,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
          "to INIT");
    attr = (struct ibv_qp_attr){
        .qp_state = IBV_QPS_RTR,
        .path_mtu = port.active_mtu,
        .dest_qp_num = peer->qp->qp_num,
        .rq_psn = 7,
        .max_dest_rd_atomic = side->reads,
        .min_rnr_timer = 12,
        .ah_attr = {.is_global = 1,
                    .port_num = 1,
                    .grh = {.dgid = peer->gid, .sgid_index = (uint8_t)gid_index, .hop_limit = 64}}};
    CHECK(!ibv_modify_qp(side->qp, &attr,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
          "to ready to receive");
    attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                .sq_psn = 7,
                                .timeout = 14,
                                .retry_cnt = 7,
                                .rnr_retry = 7,
                                .max_rd_atomic = peer->reads};
    CHECK(!ibv_modify_qp(side->qp, &attr,
                         IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                             IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC),
          "to ready to send");
}

static void post_receive(struct side *side)
{
    struct ibv_recv_wr *bad;
    errno = ibv_post_recv(side->qp, &side->receive, &bad);
    CHECK(!errno, "ibv_post_recv");
}

static void post_receives(struct side *side)
{
    for (int i = 0; is_send && i < RECEIVES && i < count; i++)
        post_receive(side);
}

static struct ibv_send_wr request_of(struct side *side, struct ibv_sge *segment)
{
    struct side *peer = &sides[!side->is_client];
    *segment = (struct ibv_sge){
        .addr = (uintptr_t)side->memory, .length = (uint32_t)size, .lkey = side->mr->lkey};
    struct ibv_send_wr request = {
        .sg_list = segment, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
    if (!is_send) {
        request.wr.rdma.remote_addr = (uintptr_t)peer->memory + half;
        request.wr.rdma.rkey = peer->mr->rkey;
    }
    return request;
}

static int poll_some(struct ibv_cq *cq, struct ibv_wc *wc, int limit)
{
    int came = ibv_poll_cq(cq, limit, wc);
    CHECK(came >= 0, "ibv_poll_cq");
    for (int i = 0; i < came; i++) {
        errno = EIO;
        CHECK(wc[i].status == IBV_WC_SUCCESS, ibv_wc_status_str(wc[i].status));
    }
    return came;
}

static void post_and_wait(struct side *side, struct ibv_send_wr *request)
{
    struct ibv_send_wr *bad;
    struct ibv_wc wc;
    errno = ibv_post_send(side->qp, request, &bad);
    CHECK(!errno, "ibv_post_send");
    while (!poll_some(side->send_cq, &wc, 1))
        ;
}

/* The number of a message in its last byte, as "lat write" has it. */
static void await_write(struct side *side, int number)
{
    volatile uint8_t *last = side->memory + half + size - 1;
    while (*last != (uint8_t)number)
        ;
    atomic_thread_fence(memory_order_acquire); /* after what the kernel copied */
}

static void await_message(struct side *side, int number)
{
    struct ibv_wc wc;
    while (!poll_some(side->recv_cq, &wc, 1))
        ;
    errno = EPROTO;
    CHECK(wc.byte_len == size, "length of a message");
    if (number + RECEIVES <= count)
        post_receive(side);
}

static int in_order(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void report(int64_t *stamps, int ways)
{
    for (int i = 0; i + 1 < count; i++)
        stamps[i] = stamps[i + 1] - stamps[i];
    qsort(stamps, (size_t)count - 1, sizeof *stamps, in_order);
    printf("%.3f\n", (double)stamps[(count - 1) / 2] / 1000 / ways);
}

/* Writes begin at the server, sends at the client, as perftest's do. */
static void ping_pong(struct side *side, int64_t *stamps)
{
    struct ibv_sge segment;
    struct ibv_send_wr request = request_of(side, &segment);
    int is_first = side->is_client == is_send;
    for (int sent = 0, received = 0; sent < count || received < count;) {
        if (received < count && (sent > 0 || !is_first)) {
            received++;
            if (is_send)
                await_message(side, received);
            else
                await_write(side, received);
        }
        if (sent < count) {
            stamps[sent++] = now();
            if (!is_send)
                side->memory[size - 1] = (uint8_t)sent;
            post_and_wait(side, &request);
        }
    }
}

static void *latency(void *argument)
{
    struct side *side = argument;
    int64_t *stamps = calloc((size_t)count, sizeof *stamps);
    CHECK(stamps, "memory");
    post_receives(side);
    pthread_barrier_wait(&ready);
    if (opcode != IBV_WR_RDMA_READ) {
        ping_pong(side, stamps);
    } else if (side->is_client) {
        struct ibv_sge segment;
        struct ibv_send_wr request = request_of(side, &segment);
        for (int i = 0; i < count; i++) {
            stamps[i] = now();
            post_and_wait(side, &request);
        }
    }
    pthread_barrier_wait(&ready);
    if (side->is_client)
        report(stamps, opcode == IBV_WR_RDMA_READ ? 1 : 2);
    free(stamps);
    return NULL;
}

static void post_all(struct side *side, int messages)
{
    struct ibv_sge segment;
    struct ibv_send_wr request = request_of(side, &segment), *bad;
    struct ibv_wc wc[BATCH];
    int moderation = size > MODERATED_SIZE_MAX ? 1 : MODERATION;
    for (int posted = 0, completed = 0; completed < messages;) {
        while (posted < messages && posted - completed < DEPTH) {
            posted++;
            request.wr_id = (uint64_t)posted;
            request.send_flags =
                posted % moderation == 0 || posted == messages ? IBV_SEND_SIGNALED : 0;
            errno = ibv_post_send(side->qp, &request, &bad);
            CHECK(!errno, "ibv_post_send");
        }
        int came = poll_some(side->send_cq, wc, BATCH);
        if (came > 0)
            completed = (int)wc[came - 1].wr_id;
    }
}

static void receive_all(struct side *side)
{
    struct ibv_wc wc[BATCH];
    for (int received = 0; received < count;) {
        int came = poll_some(side->recv_cq, wc, BATCH);
        for (int i = 0; i < came; i++)
            if (++received + RECEIVES <= count)
                post_receive(side);
    }
}

static void *bandwidth(void *argument)
{
    struct side *side = argument;
    if (!side->is_client)
        post_receives(side);
    pthread_barrier_wait(&ready);
    if (side->is_client) {
        if (!is_send)
            post_all(side, count < DEPTH ? count : DEPTH);
        int64_t begin = now();
        post_all(side, count);
        printf("%.3f\n", (double)size * count / (1 << 20) / ((double)(now() - begin) / 1e9));
    } else if (is_send) {
        receive_all(side);
    }
    pthread_barrier_wait(&ready);
    return NULL;
}

static int understood(const char *what)
{
    is_latency = strstr(what, "_lat") != NULL;
    is_send = !strncmp(what, "send_", 5);
    opcode = is_send                      ? IBV_WR_SEND
             : !strncmp(what, "read_", 5) ? IBV_WR_RDMA_READ
                                          : IBV_WR_RDMA_WRITE;
    return is_send || opcode == IBV_WR_RDMA_READ || !strncmp(what, "write_", 6);
}

int main(int argc, char **argv)
{
    if (argc != 6 || !understood(argv[1]) || (size = (size_t)atol(argv[4])) < 1 ||
        (count = atoi(argv[5])) < 2) {
        fprintf(stderr, "usage: verbs_twin write_lat|write_bw|read_lat|read_bw|send_lat|send_bw "
                        "DEVICE GID_INDEX SIZE COUNT\n");
        return 2;
    }
    half = (size + PAGE - 1) / PAGE * PAGE;
    gid_index = atoi(argv[3]);
    for (int i = 0; i < 2; i++) {
        sides[i].is_client = i;
        open_side(&sides[i], argv[2]);
    }
    connect_side(&sides[0], &sides[1]);
    connect_side(&sides[1], &sides[0]);
    pthread_barrier_init(&ready, NULL, 2);
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        CHECK(!pthread_create(&threads[i], NULL, is_latency ? latency : bandwidth, &sides[i]),
              "pthread_create");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0; /* the kernel closes all */
}
