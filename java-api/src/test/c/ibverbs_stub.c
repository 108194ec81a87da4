/*
 * A libibverbs without a device, for tests: it records what it is called with, answers what it is
 * told to, and fails when it is told to. Two devices: "stub0" records what is posted, "nothing0"
 * does nothing in post and poll, to measure what a call costs.
 *
 * The test finds the record by its address, which stub0 answers as max_mr_size. With a P_Key index
 * above 100 nothing0 runs loops in C that Java's are compared with: enum measured times a million,
 * plus how many rounds.
 */
#include <infiniband/verbs.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define REQUESTS 16
#define SEGMENTS 4
#define RECEIVES 512
#define EXPORT __attribute__((visibility("default")))

/* Java knows these offsets: VerbsStub. */
struct record {
    uint64_t calls;                 /* 0 */
    char call[32];                  /* 8 */
    uint64_t arg[8];                /* 40 */
    uint8_t bytes[1024];            /* 104 */
    char fail_call[32];             /* 1128 */
    int32_t fail_errno;             /* 1160 */
    int32_t post_bad;               /* 1164: this request of a chain is refused; -1: none */
    int32_t post_errno;             /* 1168 */
    int32_t completions;            /* 1172: what the next poll answers */
    int32_t posted;                 /* 1176: requests of the last post */
    int32_t open_objects;           /* 1180 */
    int32_t event;                  /* 1184: type of the next asynchronous event; -1: none */
    int32_t channel_events;         /* 1188 */
    struct ibv_wc wc[REQUESTS];     /* 1192 */
    uint8_t request[REQUESTS][256]; /* each: struct ibv_send_wr or ibv_recv_wr */
    struct ibv_sge segment[REQUESTS][SEGMENTS];
    char builder[512];      /* 7080: the ibv_wr_* calls */
    uint64_t shared_only;   /* 7592: the completions are for the queue that shared receives have */
    uint64_t receive_count; /* 7600 */
    uint64_t receive[RECEIVES]; /* 7608: ids of shared receives, number n at n % RECEIVES */
};

static struct record record = {.post_bad = -1, .event = -1};
static struct ibv_cq *last_cq;
static struct ibv_cq *shared_cq;
static struct ibv_qp *last_qp;
static int next_number = 17;

/* True, with errno, if this call is to fail. */
static int enter(const char *call)
{
    record.calls++;
    memset(record.call, 0, sizeof record.call);
    strncpy(record.call, call, sizeof record.call - 1);
    if (record.fail_errno && !strcmp(record.fail_call, call)) {
        errno = record.fail_errno;
        record.fail_errno = 0;
        return 1;
    }
    return 0;
}

static void keep(const void *bytes, size_t length)
{
    memcpy(record.bytes, bytes, length < sizeof record.bytes ? length : sizeof record.bytes);
}

static void args(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
{
    uint64_t all[] = {a, b, c, d, e};
    memcpy(record.arg, all, sizeof all);
}

static void *object(size_t size)
{
    record.open_objects++;
    return calloc(1, size);
}

static int destroy(const char *call, void *made)
{
    if (enter(call))
        return errno;
    record.open_objects--;
    free(made);
    return 0;
}

/* ---- data path ---- */

static int poll_cq(struct ibv_cq *cq, int limit, struct ibv_wc *wc)
{
    if (record.shared_only && cq != shared_cq)
        return 0;
    int count = record.completions < limit ? record.completions : limit;
    if (count > 0)
        memcpy(wc, record.wc, (size_t)count * sizeof *wc);
    record.completions = 0;
    return count;
}

static void keep_segments(int at, const struct ibv_sge *list, int count)
{
    for (int i = 0; i < count && i < SEGMENTS; i++)
        record.segment[at][i] = list[i];
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    (void)qp;
    record.posted = 0;
    if (record.fail_errno && !strcmp(record.fail_call, "ibv_post_send") && enter("ibv_post_send"))
        return errno; /* as some providers do, without saying which request is bad */
    for (; wr; wr = wr->next) {
        if (record.posted == record.post_bad) {
            record.post_bad = -1;
            *bad = wr;
            return record.post_errno;
        }
        if (record.posted < REQUESTS) {
            memcpy(record.request[record.posted], wr, sizeof *wr);
            keep_segments(record.posted, wr->sg_list, wr->num_sge);
        }
        record.posted++;
    }
    return 0;
}

static int keep_receives(struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    record.posted = 0;
    for (; wr; wr = wr->next) {
        if (record.posted == record.post_bad) {
            record.post_bad = -1;
            *bad = wr;
            return record.post_errno;
        }
        if (record.posted < REQUESTS) {
            memcpy(record.request[record.posted], wr, sizeof *wr);
            keep_segments(record.posted, wr->sg_list, wr->num_sge);
        }
        record.posted++;
    }
    return 0;
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)qp;
    return keep_receives(wr, bad);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    (void)srq;
    for (struct ibv_recv_wr *next = wr; next; next = next->next)
        record.receive[record.receive_count++ % RECEIVES] = next->wr_id;
    return keep_receives(wr, bad);
}

static int req_notify_cq(struct ibv_cq *cq, int solicited_only)
{
    (void)cq;
    args((uint64_t)solicited_only, 0, 0, 0, 0);
    return enter("ibv_req_notify_cq") ? errno : 0;
}

__attribute__((noinline, noclone)) static int no_post(struct ibv_qp *qp, struct ibv_send_wr *wr,
                                                      struct ibv_send_wr **bad)
{
    __asm__ volatile("" : : "r"(qp), "r"(wr), "r"(bad) : "memory");
    return 0;
}

__attribute__((noinline, noclone)) static int no_poll(struct ibv_cq *cq, int limit,
                                                      struct ibv_wc *wc)
{
    __asm__ volatile("" : : "r"(cq), "r"(limit), "r"(wc) : "memory");
    return 0;
}

#define POLLED 16
static uint64_t noted_ids[POLLED];

/* Notes the ids of a chain, for full_poll. */
static int noting_post(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    (void)qp;
    (void)bad;
    for (int i = 0; wr && i < POLLED; i++, wr = wr->next)
        noted_ids[i] = wr->wr_id;
    return 0;
}

/* Answers 16 completions, again and again the same. */
__attribute__((noinline, noclone)) static int full_poll(struct ibv_cq *cq, int limit,
                                                        struct ibv_wc *wc)
{
    __asm__ volatile("" : : "r"(cq) : "memory");
    int count = limit < POLLED ? limit : POLLED;
    for (int i = 0; i < count; i++) {
        wc[i].wr_id = noted_ids[i];
        wc[i].status = IBV_WC_SUCCESS;
        wc[i].opcode = IBV_WC_RDMA_WRITE;
        wc[i].byte_len = 64;
    }
    return count;
}

/* What C programs do. */
enum measured { EDIT_POST_POLL, POST, FILL_POST, POLL_FULL, NOTE_IDS, ANSWER_FULL, DO_NOTHING };

static struct ibv_sge c_segment = {.addr = 4096, .length = 64, .lkey = 1};
static struct ibv_send_wr c_request = {.sg_list = &c_segment,
                                       .num_sge = 1,
                                       .opcode = IBV_WR_RDMA_WRITE,
                                       .send_flags = IBV_SEND_SIGNALED};

static void c_edit_post_poll(int rounds)
{
    struct ibv_send_wr *bad;
    struct ibv_wc wc[POLLED];
    for (int i = 0; i < rounds; i++) {
        c_request.wr_id = (uint64_t)i;
        c_request.wr.rdma.remote_addr = (uint64_t)i * 64;
        if (ibv_post_send(last_qp, &c_request, &bad) || ibv_poll_cq(last_cq, POLLED, wc))
            abort();
    }
}

static void c_post(int rounds)
{
    struct ibv_send_wr *bad;
    for (int i = 0; i < rounds; i++)
        if (ibv_post_send(last_qp, &c_request, &bad))
            abort();
}

static void c_fill_post(int rounds)
{
    struct ibv_send_wr *bad;
    for (int i = 0; i < rounds; i++) {
        c_segment = (struct ibv_sge){.addr = 4096u + (i & 1023), .length = 64, .lkey = 1};
        c_request = (struct ibv_send_wr){.wr_id = (uint64_t)i,
                                         .sg_list = &c_segment,
                                         .num_sge = 1,
                                         .opcode = IBV_WR_RDMA_WRITE,
                                         .send_flags = IBV_SEND_SIGNALED,
                                         .wr.rdma = {(uint64_t)i * 64, 5}};
        if (ibv_post_send(last_qp, &c_request, &bad))
            abort();
    }
}

static void c_poll_full(int rounds)
{
    struct ibv_wc wc[POLLED];
    uint64_t sum = 0;
    for (int i = 0; i < rounds; i++) {
        int count = ibv_poll_cq(last_cq, POLLED, wc);
        for (int n = 0; n < count; n++)
            sum += wc[n].status == IBV_WC_SUCCESS ? wc[n].wr_id + wc[n].byte_len : 0;
    }
    __asm__ volatile("" : : "r"(sum));
}

static void measure(struct ibv_context *context, enum measured what, int rounds)
{
    switch (what) {
    case EDIT_POST_POLL:
        c_edit_post_poll(rounds);
        break;
    case POST:
        c_post(rounds);
        break;
    case FILL_POST:
        c_fill_post(rounds);
        break;
    case POLL_FULL:
        c_poll_full(rounds);
        break;
    case NOTE_IDS:
        context->ops.post_send = noting_post;
        break;
    case ANSWER_FULL:
        context->ops.post_send = no_post;
        context->ops.poll_cq = full_poll;
        break;
    case DO_NOTHING:
        context->ops.post_send = no_post;
        context->ops.poll_cq = no_poll;
        break;
    }
}

/* ---- devices ---- */

static struct ibv_device devices[2] = {
    {.node_type = IBV_NODE_CA,
     .transport_type = IBV_TRANSPORT_IB,
     .name = "stub0",
     .dev_name = "uverbs0",
     .ibdev_path = "/sys/class/infiniband/stub0"},
    {.node_type = IBV_NODE_CA,
     .transport_type = IBV_TRANSPORT_IB,
     .name = "nothing0",
     .dev_name = "uverbs1",
     .ibdev_path = "/sys/class/infiniband/nothing0"},
};

EXPORT struct ibv_device **ibv_get_device_list(int *count)
{
    if (enter("ibv_get_device_list"))
        return NULL;
    struct ibv_device **list = calloc(3, sizeof *list);
    list[0] = &devices[0];
    list[1] = &devices[1];
    *count = 2;
    return list;
}

EXPORT void ibv_free_device_list(struct ibv_device **list)
{
    free(list);
}

EXPORT __be64 ibv_get_device_guid(struct ibv_device *device)
{
    (void)device;
    return __builtin_bswap64(0x0102030405060708ULL);
}

EXPORT int ibv_get_device_index(struct ibv_device *device)
{
    return (int)(device - devices);
}

static int query_device_ex(struct ibv_context *context,
                           const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t size)
{
    (void)input;
    if (enter("ibv_query_device_ex"))
        return errno;
    memset(attr, 0, size);
    strcpy(attr->orig_attr.fw_ver, "1.2.3");
    attr->orig_attr.max_mr_size = (uintptr_t)&record;
    attr->orig_attr.max_qp_wr = 0x4000;
    attr->orig_attr.max_sge = 30;
    attr->orig_attr.max_pkeys = 65535;
    attr->orig_attr.max_cqe = 0x10000;
    attr->orig_attr.max_srq_wr = 0x4000;
    attr->orig_attr.max_qp_rd_atom = 16;
    attr->orig_attr.max_qp_init_rd_atom = 16;
    attr->orig_attr.phys_port_cnt = 2;
    attr->orig_attr.device_cap_flags = 0xfedcba98u;
    attr->orig_attr.atomic_cap = IBV_ATOMIC_HCA;
    attr->odp_caps.general_caps = IBV_ODP_SUPPORT;
    attr->cq_mod_caps.max_cq_period = 4095;
    attr->rss_caps.rx_hash_fields_mask = 1ull << 40;
    attr->packet_pacing_caps.qp_rate_limit_max = 0x80000001u;
    attr->tm_caps.max_ops = 33;
    attr->pci_atomic_caps.swap = 0xfffe;
    if (context->device == &devices[1]) { /* what a transport asks for */
        attr->orig_attr.max_cqe = 1 << 16;
        attr->orig_attr.max_srq_wr = 1 << 16;
        attr->orig_attr.max_qp_rd_atom = 16;
        attr->orig_attr.max_qp_init_rd_atom = 16;
    }
    return 0;
}

static int query_port(struct ibv_context *context, uint8_t port, struct ibv_port_attr *attr,
                      size_t size)
{
    (void)context;
    (void)size;
    if (enter("ibv_query_port"))
        return errno;
    if (port != 1 && port != 2)
        return EINVAL;
    attr->state = port == 1 ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
    attr->max_mtu = IBV_MTU_4096;
    attr->active_mtu = IBV_MTU_1024;
    attr->gid_tbl_len = 5;
    attr->pkey_tbl_len = 1;
    attr->max_msg_sz = 0x80000000u;
    attr->lid = 0xabcd;
    attr->link_layer = port == 1 ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
    return 0;
}

/* Port 1: link-local v1 and v2, then v1 and v2 of 10.99.0.1; the fifth place is empty. */
EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
                             struct ibv_gid_entry *entry, uint32_t flags, size_t size)
{
    static const uint8_t local[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0xff, 0xfe, 0, 0, 1};
    static const uint8_t ipv4[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 99, 0, 1};
    (void)context;
    (void)flags;
    (void)size;
    if (enter("ibv_query_gid_ex"))
        return errno;
    if (index > 4)
        return EINVAL;
    if (index == 4)
        return ENODATA;
    memcpy(entry->gid.raw, index < 2 ? local : ipv4, 16);
    entry->gid_index = index;
    entry->port_num = port;
    entry->gid_type = index % 2 ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
    entry->ndev_ifindex = 7;
    return 0;
}

EXPORT int ibv_query_pkey(struct ibv_context *context, uint8_t port, int index, __be16 *key)
{
    (void)port;
    if (context->device == &devices[1] && index > 100) {
        measure(context, index / 1000000, index % 1000000);
        *key = 0;
        return 0;
    }
    if (enter("ibv_query_pkey") || index) {
        errno = errno ? errno : EINVAL;
        return -1;
    }
    *key = __builtin_bswap16(0xff7f);
    return 0;
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd);
static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);
static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context,
                                      struct ibv_cq_init_attr_ex *attr);
static struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr);
static int dealloc_td(struct ibv_td *td);
static struct ibv_pd *alloc_parent_domain(struct ibv_context *context,
                                          struct ibv_parent_domain_init_attr *attr);
static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                     struct ibv_sge *list, uint32_t count);
static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr);
static int close_xrcd(struct ibv_xrcd *xrcd);
static struct ibv_srq *create_srq_ex(struct ibv_context *context,
                                     struct ibv_srq_init_attr_ex *attr);
static int get_srq_num(struct ibv_srq *srq, uint32_t *number);
static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type);
static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
static int dealloc_mw(struct ibv_mw *mw);
static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr);
static int free_dm(struct ibv_dm *dm);
static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
                                size_t length, unsigned int access);
static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr);
static int destroy_flow(struct ibv_flow *flow);

static int modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
    (void)cq;
    args(attr->attr_mask, attr->moderate.cq_count, attr->moderate.cq_period, 0, 0);
    return enter("ibv_modify_cq") ? errno : 0;
}

static int query_rt_values(struct ibv_context *context, struct ibv_values_ex *values)
{
    (void)context;
    args(values->comp_mask, 0, 0, 0, 0);
    if (enter("ibv_query_rt_values_ex"))
        return errno;
    values->raw_clock.tv_sec = 3;
    values->raw_clock.tv_nsec = 7;
    return 0;
}

EXPORT struct ibv_context *ibv_open_device(struct ibv_device *device)
{
    if (enter("ibv_open_device"))
        return NULL;
    const char *scatter = getenv("MLX5_SCATTER_TO_CQE");
    keep(scatter ? scatter : "unset", scatter ? strlen(scatter) + 1 : sizeof "unset");
    struct verbs_context *made = object(sizeof *made);
    made->sz = sizeof *made;
    made->context.abi_compat = __VERBS_ABI_IS_EXTENDED;
    made->context.device = device;
    made->context.num_comp_vectors = 3;
    made->context.async_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    made->query_port = query_port;
    made->query_device_ex = query_device_ex;
    made->alloc_null_mr = alloc_null_mr;
    made->create_qp_ex = create_qp_ex;
    made->create_cq_ex = create_cq_ex;
    made->alloc_td = alloc_td;
    made->dealloc_td = dealloc_td;
    made->alloc_parent_domain = alloc_parent_domain;
    made->advise_mr = advise_mr;
    made->open_xrcd = open_xrcd;
    made->close_xrcd = close_xrcd;
    made->create_srq_ex = create_srq_ex;
    made->get_srq_num = get_srq_num;
    made->alloc_dm = alloc_dm;
    made->free_dm = free_dm;
    made->reg_dm_mr = reg_dm_mr;
    made->modify_cq = modify_cq;
    made->query_rt_values = query_rt_values;
    made->ibv_create_flow = create_flow;
    made->ibv_destroy_flow = destroy_flow;
    made->context.ops.alloc_mw = alloc_mw;
    made->context.ops.bind_mw = bind_mw;
    made->context.ops.dealloc_mw = dealloc_mw;
    int silent = device == &devices[1];
    made->context.ops.post_send = silent ? no_post : post_send;
    made->context.ops.poll_cq = silent ? no_poll : poll_cq;
    made->context.ops.post_recv = post_recv;
    made->context.ops.post_srq_recv = post_srq_recv;
    made->context.ops.req_notify_cq = req_notify_cq;
    return &made->context;
}

EXPORT int ibv_close_device(struct ibv_context *context)
{
    if (enter("ibv_close_device"))
        return -1;
    record.open_objects--;
    close(context->async_fd);
    free((char *)context - offsetof(struct verbs_context, context));
    return 0;
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    (void)context;
    if (record.fail_errno && !strcmp(record.fail_call, "ibv_get_async_event") &&
        enter("ibv_get_async_event"))
        return -1;
    if (record.event < 0) {
        errno = EAGAIN;
        return -1;
    }
    event->event_type = (enum ibv_event_type)record.event;
    switch (record.event) {
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_LID_CHANGE:
        event->element.port_num = 1;
        break;
    default:
        event->element.qp = last_qp;
    }
    record.event = -1;
    return 0;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event)
{
    (void)event;
    enter("ibv_ack_async_event");
}

/* ---- objects ---- */

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
    if (enter("ibv_alloc_pd"))
        return NULL;
    struct ibv_pd *pd = object(sizeof *pd);
    pd->context = context;
    pd->handle = 5;
    return pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd)
{
    return destroy("ibv_dealloc_pd", pd);
}

static struct ibv_mr *region(struct ibv_pd *pd, void *address, size_t length)
{
    struct ibv_mr *mr = object(sizeof *mr);
    mr->context = pd->context;
    mr->pd = pd;
    mr->addr = address;
    mr->length = length;
    mr->lkey = 0x11220000u + (uint32_t)next_number++;
    mr->rkey = 0x99aa0000u + (uint32_t)next_number;
    return mr;
}

static struct ibv_mr *alloc_null_mr(struct ibv_pd *pd)
{
    return enter("ibv_alloc_null_mr") ? NULL : region(pd, NULL, 0);
}

/* A macro in the header. */
#undef ibv_reg_mr
#undef ibv_reg_mr_iova
EXPORT struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *address, size_t length, int access)
{
    args((uintptr_t)address, length, (uintptr_t)address, (uint64_t)access, 0);
    return enter("ibv_reg_mr") ? NULL : region(pd, address, length);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
                                       uint64_t iova, unsigned int access)
{
    args((uintptr_t)address, length, iova, access, 2);
    return enter("ibv_reg_mr") ? NULL : region(pd, address, length);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova(struct ibv_pd *pd, void *address, size_t length,
                                      uint64_t iova, int access)
{
    return ibv_reg_mr_iova2(pd, address, length, iova, (unsigned int)access);
}

EXPORT struct ibv_mr *ibv_reg_dmabuf_mr(struct ibv_pd *pd, uint64_t offset, size_t length,
                                        uint64_t iova, int file, int access)
{
    args(offset, length, iova, (uint64_t)file, (uint64_t)access);
    return enter("ibv_reg_dmabuf_mr") ? NULL : region(pd, NULL, length);
}

EXPORT int ibv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address,
                        size_t length, int access)
{
    args((uint64_t)flags, (uintptr_t)pd, (uintptr_t)address, length, (uint64_t)access);
    if (!enter("ibv_rereg_mr")) {
        mr->lkey += 0x100; /* as a device may */
        mr->rkey += 0x100;
        return 0;
    }
    switch (errno) {
    case EFAULT:
    case EOPNOTSUPP:
        return IBV_REREG_MR_ERR_CMD;
    case EIO:
        return IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW;
    case ENOMEM:
        return IBV_REREG_MR_ERR_DONT_FORK_NEW;
    case EAGAIN:
        mr->rkey += 0x200;
        return IBV_REREG_MR_ERR_DO_FORK_OLD;
    default:
        return IBV_REREG_MR_ERR_INPUT;
    }
}

/* Memory of the card: behind its handle. */
struct stub_dm {
    struct ibv_dm dm;
    uint8_t bytes[4096];
};

static int memcpy_to_dm(struct ibv_dm *dm, uint64_t offset, const void *host, size_t length)
{
    args(offset, (uintptr_t)host, length, 0, 0);
    if (enter("ibv_memcpy_to_dm"))
        return errno;
    memcpy(((struct stub_dm *)dm)->bytes + offset, host, length);
    return 0;
}

static int memcpy_from_dm(void *host, struct ibv_dm *dm, uint64_t offset, size_t length)
{
    args(offset, (uintptr_t)host, length, 0, 0);
    if (enter("ibv_memcpy_from_dm"))
        return errno;
    memcpy(host, ((struct stub_dm *)dm)->bytes + offset, length);
    return 0;
}

static struct ibv_dm *alloc_dm(struct ibv_context *context, struct ibv_alloc_dm_attr *attr)
{
    args(attr->length, attr->log_align_req, attr->comp_mask, 0, 0);
    if (enter("ibv_alloc_dm"))
        return NULL;
    struct stub_dm *made = object(sizeof *made);
    made->dm.context = context;
    made->dm.memcpy_to_dm = memcpy_to_dm;
    made->dm.memcpy_from_dm = memcpy_from_dm;
    return &made->dm;
}

static int free_dm(struct ibv_dm *dm)
{
    return destroy("ibv_free_dm", dm);
}

static struct ibv_mr *reg_dm_mr(struct ibv_pd *pd, struct ibv_dm *dm, uint64_t offset,
                                size_t length, unsigned int access)
{
    args((uintptr_t)dm, offset, length, access, 0);
    return enter("ibv_reg_dm_mr") ? NULL : region(pd, NULL, length);
}

static struct ibv_flow *create_flow(struct ibv_qp *qp, struct ibv_flow_attr *attr)
{
    keep(attr, attr->size);
    if (enter("ibv_create_flow"))
        return NULL;
    struct ibv_flow *flow = object(sizeof *flow);
    flow->context = qp->context;
    return flow;
}

static int destroy_flow(struct ibv_flow *flow)
{
    return destroy("ibv_destroy_flow", flow);
}

EXPORT int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    if (enter("ibv_query_ece"))
        return errno;
    ece->vendor_id = 0x15b3;
    ece->options = 0x80000001u;
    return 0;
}

EXPORT int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    args(ece->vendor_id, ece->options, ece->comp_mask, 0, 0);
    return enter("ibv_set_ece") ? errno : 0;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *mr)
{
    return destroy("ibv_dereg_mr", mr);
}

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
    if (enter("ibv_create_comp_channel"))
        return NULL;
    struct ibv_comp_channel *channel = object(sizeof *channel);
    channel->context = context;
    channel->fd = eventfd(0, EFD_CLOEXEC);
    return channel;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
    int file = channel->fd;
    int result = destroy("ibv_destroy_comp_channel", channel);
    if (!result)
        close(file);
    return result;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq, void **context)
{
    (void)channel;
    if (!record.channel_events) {
        errno = EAGAIN;
        return -1;
    }
    record.channel_events--;
    *cq = last_cq;
    *context = NULL;
    return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *cq, unsigned int count)
{
    (void)cq;
    args(count, 0, 0, 0, 0);
    enter("ibv_ack_cq_events");
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int entries, void *cq_context,
                                    struct ibv_comp_channel *channel, int vector)
{
    args((uint64_t)entries, (uintptr_t)cq_context, channel != NULL, (uint64_t)vector, 0);
    if (enter("ibv_create_cq"))
        return NULL;
    struct ibv_cq *cq = object(sizeof *cq);
    cq->context = context;
    cq->channel = channel;
    cq->cqe = entries + 1;
    cq->handle = (uint32_t)next_number++;
    last_cq = cq;
    return cq;
}

EXPORT int ibv_resize_cq(struct ibv_cq *cq, int entries)
{
    args((uint64_t)entries, 0, 0, 0, 0);
    if (enter("ibv_resize_cq"))
        return errno;
    cq->cqe = entries;
    return 0;
}

EXPORT int ibv_destroy_cq(struct ibv_cq *cq)
{
    return destroy("ibv_destroy_cq", cq);
}

/* ---- extended completion queues: they tell record.wc, and of number n time stamps 1000 + n ----
 */

static int at_wc;

static int show(struct ibv_cq_ex *cq)
{
    if (at_wc >= record.completions)
        return ENOENT;
    cq->wr_id = record.wc[at_wc].wr_id;
    cq->status = record.wc[at_wc].status;
    return 0;
}

static int start_poll(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr)
{
    if (enter("start_poll"))
        return errno;
    at_wc = 0;
    return attr->comp_mask ? EINVAL : show(cq);
}

static int next_poll(struct ibv_cq_ex *cq)
{
    at_wc++;
    return show(cq);
}

static void end_poll(struct ibv_cq_ex *cq)
{
    (void)cq;
    enter("end_poll");
    int taken = at_wc < record.completions ? at_wc + 1 : at_wc;
    memmove(record.wc, record.wc + taken, (REQUESTS - (size_t)taken) * sizeof *record.wc);
    record.completions -= taken;
}

#define READ(type, name, value)                                                                    \
    static type read_##name(struct ibv_cq_ex *cq)                                                  \
    {                                                                                              \
        (void)cq;                                                                                  \
        return (type)(value);                                                                      \
    }
READ(enum ibv_wc_opcode, opcode, record.wc[at_wc].opcode)
READ(uint32_t, vendor_err, record.wc[at_wc].vendor_err)
READ(uint32_t, byte_len, record.wc[at_wc].byte_len)
READ(__be32, imm_data, record.wc[at_wc].imm_data)
READ(uint32_t, qp_num, record.wc[at_wc].qp_num)
READ(uint32_t, src_qp, 77)
READ(unsigned int, wc_flags, record.wc[at_wc].wc_flags)
READ(uint32_t, slid, 55)
READ(uint8_t, sl, 5)
READ(uint8_t, dlid_path_bits, 3)
READ(uint64_t, completion_ts, 1000 + at_wc)
READ(uint16_t, cvlan, 12)
READ(uint32_t, flow_tag, 13)
READ(uint64_t, completion_wallclock_ns, 2000 + at_wc)

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context, struct ibv_cq_init_attr_ex *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_cq_ex"))
        return NULL;
    struct ibv_cq_ex *cq = object(sizeof *cq);
    uint64_t fields = attr->wc_flags;
    cq->context = context;
    cq->channel = attr->channel;
    cq->cqe = (int)attr->cqe;
    cq->handle = (uint32_t)next_number++;
    cq->start_poll = start_poll;
    cq->next_poll = next_poll;
    cq->end_poll = end_poll;
    cq->read_opcode = read_opcode;
    cq->read_vendor_err = read_vendor_err;
    cq->read_wc_flags = read_wc_flags;
    /* As providers do it: no function for what was not asked for. */
    cq->read_byte_len = fields & IBV_WC_EX_WITH_BYTE_LEN ? read_byte_len : NULL;
    cq->read_imm_data = fields & IBV_WC_EX_WITH_IMM ? read_imm_data : NULL;
    cq->read_qp_num = fields & IBV_WC_EX_WITH_QP_NUM ? read_qp_num : NULL;
    cq->read_src_qp = fields & IBV_WC_EX_WITH_SRC_QP ? read_src_qp : NULL;
    cq->read_slid = fields & IBV_WC_EX_WITH_SLID ? read_slid : NULL;
    cq->read_sl = fields & IBV_WC_EX_WITH_SL ? read_sl : NULL;
    cq->read_dlid_path_bits = fields & IBV_WC_EX_WITH_DLID_PATH_BITS ? read_dlid_path_bits : NULL;
    cq->read_completion_ts =
        fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP ? read_completion_ts : NULL;
    cq->read_cvlan = fields & IBV_WC_EX_WITH_CVLAN ? read_cvlan : NULL;
    cq->read_flow_tag = fields & IBV_WC_EX_WITH_FLOW_TAG ? read_flow_tag : NULL;
    cq->read_completion_wallclock_ns = fields & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK
                                           ? read_completion_wallclock_ns
                                           : NULL;
    last_cq = ibv_cq_ex_to_cq(cq);
    return cq;
}

/* ---- windows, thread and parent domains, advice ---- */

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type)
{
    args((uint64_t)type, 0, 0, 0, 0);
    if (enter("ibv_alloc_mw"))
        return NULL;
    struct ibv_mw *mw = object(sizeof *mw);
    mw->context = pd->context;
    mw->pd = pd;
    mw->type = type;
    mw->rkey = 0x00345ffe;
    return mw;
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    (void)qp;
    keep(bind, sizeof *bind);
    args((uintptr_t)mw, 0, 0, 0, 0);
    if (enter("ibv_bind_mw"))
        return errno;
    memcpy(record.request[0], &bind->wr_id, sizeof bind->wr_id);
    record.posted = 1;
    mw->rkey = ibv_inc_rkey(mw->rkey);
    return 0;
}

static int dealloc_mw(struct ibv_mw *mw)
{
    return destroy("ibv_dealloc_mw", mw);
}

static struct ibv_td *alloc_td(struct ibv_context *context, struct ibv_td_init_attr *attr)
{
    args(attr->comp_mask, 0, 0, 0, 0);
    if (enter("ibv_alloc_td"))
        return NULL;
    struct ibv_td *td = object(sizeof *td);
    td->context = context;
    return td;
}

static int dealloc_td(struct ibv_td *td)
{
    return destroy("ibv_dealloc_td", td);
}

static struct ibv_pd *alloc_parent_domain(struct ibv_context *context,
                                          struct ibv_parent_domain_init_attr *attr)
{
    args((uintptr_t)attr->pd, (uintptr_t)attr->td, attr->comp_mask, 0, 0);
    if (enter("ibv_alloc_parent_domain"))
        return NULL;
    struct ibv_pd *pd = object(sizeof *pd);
    pd->context = context;
    pd->handle = attr->pd->handle;
    return pd;
}

static int advise_mr(struct ibv_pd *pd, enum ibv_advise_mr_advice advice, uint32_t flags,
                     struct ibv_sge *list, uint32_t count)
{
    (void)pd;
    keep(list, sizeof *list);
    args((uint64_t)advice, flags, count, 0, 0);
    return enter("ibv_advise_mr") ? errno : 0;
}

static struct ibv_xrcd *open_xrcd(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
    args(attr->comp_mask, (uint64_t)attr->fd, (uint64_t)attr->oflags, 0, 0);
    if (enter("ibv_open_xrcd"))
        return NULL;
    struct ibv_xrcd *xrcd = object(sizeof *xrcd);
    xrcd->context = context;
    return xrcd;
}

static int close_xrcd(struct ibv_xrcd *xrcd)
{
    return destroy("ibv_close_xrcd", xrcd);
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_srq_ex"))
        return NULL;
    struct ibv_srq *srq = object(sizeof *srq);
    srq->context = context;
    srq->pd = attr->pd;
    return srq;
}

static int get_srq_num(struct ibv_srq *srq, uint32_t *number)
{
    (void)srq;
    *number = 4242;
    return enter("ibv_get_srq_num") ? errno : 0;
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_srq"))
        return NULL;
    struct ibv_srq *srq = object(sizeof *srq);
    srq->context = pd->context;
    srq->pd = pd;
    return srq;
}

EXPORT int ibv_modify_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask)
{
    (void)srq;
    keep(attr, sizeof *attr);
    args((uint64_t)mask, 0, 0, 0, 0);
    return enter("ibv_modify_srq") ? errno : 0;
}

EXPORT int ibv_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
    (void)srq;
    attr->srq_limit = 9;
    return enter("ibv_query_srq") ? errno : 0;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *srq)
{
    return destroy("ibv_destroy_srq", srq);
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_qp"))
        return NULL;
    struct ibv_qp *qp = object(sizeof(struct ibv_qp_ex));
    qp->context = pd->context;
    qp->pd = pd;
    qp->qp_num = (uint32_t)next_number++;
    qp->qp_type = attr->qp_type;
    if (attr->srq)
        shared_cq = attr->recv_cq;
    last_qp = qp;
    return qp;
}

/* ---- the builder: what it builds is recorded as if it had been posted ---- */

static struct ibv_send_wr *built(struct ibv_qp_ex *qp, const char *call)
{
    (void)qp;
    strncat(record.builder, call, sizeof record.builder - strlen(record.builder) - 2);
    strcat(record.builder, " ");
    return (struct ibv_send_wr *)record.request[record.posted ? record.posted - 1 : 0];
}

static struct ibv_send_wr *begin(struct ibv_qp_ex *qp, const char *call, enum ibv_wr_opcode opcode)
{
    record.posted++;
    struct ibv_send_wr *wr = built(qp, call);
    memset(wr, 0, sizeof *wr);
    wr->wr_id = qp->wr_id;
    wr->send_flags = qp->wr_flags;
    wr->opcode = opcode;
    return wr;
}

static void wr_start(struct ibv_qp_ex *qp)
{
    record.posted = 0;
    memset(record.builder, 0, sizeof record.builder);
    built(qp, "start");
}

static int wr_complete(struct ibv_qp_ex *qp)
{
    built(qp, "complete");
    return enter("ibv_wr_complete") ? errno : 0;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
    built(qp, "abort");
}

static void wr_send(struct ibv_qp_ex *qp)
{
    begin(qp, "send", IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 data)
{
    begin(qp, "send_imm", IBV_WR_SEND_WITH_IMM)->imm_data = data;
}

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t key)
{
    begin(qp, "send_inv", IBV_WR_SEND_WITH_INV)->invalidate_rkey = key;
}

static void remote(struct ibv_send_wr *wr, uint32_t key, uint64_t address)
{
    wr->wr.rdma.rkey = key;
    wr->wr.rdma.remote_addr = address;
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t key, uint64_t address)
{
    remote(begin(qp, "write", IBV_WR_RDMA_WRITE), key, address);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, __be32 data)
{
    struct ibv_send_wr *wr = begin(qp, "write_imm", IBV_WR_RDMA_WRITE_WITH_IMM);
    remote(wr, key, address);
    wr->imm_data = data;
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t key, uint64_t address)
{
    remote(begin(qp, "read", IBV_WR_RDMA_READ), key, address);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t key, uint64_t address,
                              uint64_t compare, uint64_t swap)
{
    struct ibv_send_wr *wr = begin(qp, "cmp_swp", IBV_WR_ATOMIC_CMP_AND_SWP);
    wr->wr.atomic.remote_addr = address;
    wr->wr.atomic.compare_add = compare;
    wr->wr.atomic.swap = swap;
    wr->wr.atomic.rkey = key;
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, uint64_t add)
{
    struct ibv_send_wr *wr = begin(qp, "fetch_add", IBV_WR_ATOMIC_FETCH_AND_ADD);
    wr->wr.atomic.remote_addr = address;
    wr->wr.atomic.compare_add = add;
    wr->wr.atomic.rkey = key;
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t key)
{
    begin(qp, "local_inv", IBV_WR_LOCAL_INV)->invalidate_rkey = key;
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t key,
                       const struct ibv_mw_bind_info *info)
{
    struct ibv_send_wr *wr = begin(qp, "bind_mw", IBV_WR_BIND_MW);
    wr->bind_mw.mw = mw;
    wr->bind_mw.rkey = key;
    wr->bind_mw.bind_info = *info;
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah, uint32_t number, uint32_t key)
{
    struct ibv_send_wr *wr = built(qp, "ud_addr");
    wr->wr.ud.ah = ah;
    wr->wr.ud.remote_qpn = number;
    wr->wr.ud.remote_qkey = key;
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t count, const struct ibv_sge *list)
{
    built(qp, "sge_list")->num_sge = (int)count;
    keep_segments(record.posted - 1, list, (int)count);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t key, uint64_t address, uint32_t length)
{
    struct ibv_sge sge = {.addr = address, .length = length, .lkey = key};
    built(qp, "sge")->num_sge = 1;
    keep_segments(record.posted - 1, &sge, 1);
}

/* The bytes are copied, as a device does; to where the last structure is kept. */
static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t count,
                                    const struct ibv_data_buf *list)
{
    size_t at = 0;
    built(qp, "inline")->num_sge = (int)count;
    for (size_t i = 0; i < count && at + list[i].length <= sizeof record.bytes; i++) {
        memcpy(record.bytes + at, list[i].addr, list[i].length);
        at += list[i].length;
    }
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *from, size_t length)
{
    struct ibv_data_buf one = {.addr = from, .length = length};
    wr_set_inline_data_list(qp, 1, &one);
}

EXPORT struct ibv_qp_ex *ibv_qp_to_qp_ex(struct ibv_qp *qp)
{
    struct ibv_qp_ex *extended = (struct ibv_qp_ex *)qp;
    return extended->wr_start ? extended : NULL;
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
    struct ibv_pd of_context = {.context = context};
    struct ibv_qp_ex *qp = (struct ibv_qp_ex *)ibv_create_qp(attr->pd ? attr->pd : &of_context,
                                                             (struct ibv_qp_init_attr *)attr);
    keep(attr, sizeof *attr);
    if (!qp)
        return NULL;
    uint64_t operations = attr->send_ops_flags;
    qp->wr_start = wr_start;
    qp->wr_complete = wr_complete;
    qp->wr_abort = wr_abort;
    qp->wr_set_sge = wr_set_sge;
    qp->wr_set_sge_list = wr_set_sge_list;
    qp->wr_set_inline_data = wr_set_inline_data;
    qp->wr_set_inline_data_list = wr_set_inline_data_list;
    qp->wr_set_ud_addr = attr->qp_type == IBV_QPT_UD ? wr_set_ud_addr : NULL;
    /* As providers do it: no function for what was not asked for. */
    if (operations & IBV_QP_EX_WITH_SEND)
        qp->wr_send = wr_send;
    if (operations & IBV_QP_EX_WITH_SEND_WITH_IMM)
        qp->wr_send_imm = wr_send_imm;
    if (operations & IBV_QP_EX_WITH_SEND_WITH_INV)
        qp->wr_send_inv = wr_send_inv;
    if (operations & IBV_QP_EX_WITH_RDMA_WRITE)
        qp->wr_rdma_write = wr_rdma_write;
    if (operations & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
        qp->wr_rdma_write_imm = wr_rdma_write_imm;
    if (operations & IBV_QP_EX_WITH_RDMA_READ)
        qp->wr_rdma_read = wr_rdma_read;
    if (operations & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
        qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
    if (operations & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
        qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
    if (operations & IBV_QP_EX_WITH_LOCAL_INV)
        qp->wr_local_inv = wr_local_inv;
    if (operations & IBV_QP_EX_WITH_BIND_MW)
        qp->wr_bind_mw = wr_bind_mw;
    return &qp->qp_base;
}

EXPORT int ibv_query_qp_data_in_order(struct ibv_qp *qp, enum ibv_wr_opcode opcode, uint32_t flags)
{
    (void)qp;
    args((uint64_t)opcode, flags, 0, 0, 0);
    enter("ibv_query_qp_data_in_order");
    return opcode == IBV_WR_RDMA_WRITE;
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
    keep(attr, sizeof *attr);
    args((uint64_t)mask, 0, 0, 0, 0);
    if (enter("ibv_modify_qp"))
        return errno;
    qp->state = attr->qp_state;
    return 0;
}

EXPORT int ibv_query_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask,
                        struct ibv_qp_init_attr *init)
{
    (void)mask;
    (void)init;
    attr->qp_state = qp->state;
    return 0;
}

EXPORT int ibv_destroy_qp(struct ibv_qp *qp)
{
    return destroy("ibv_destroy_qp", qp);
}

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr)
{
    keep(attr, sizeof *attr);
    if (enter("ibv_create_ah"))
        return NULL;
    struct ibv_ah *ah = object(sizeof *ah);
    ah->pd = pd;
    return ah;
}

EXPORT struct ibv_ah *ibv_create_ah_from_wc(struct ibv_pd *pd, struct ibv_wc *wc,
                                            struct ibv_grh *grh, uint8_t port)
{
    keep(wc, sizeof *wc);
    if (grh)
        memcpy(record.bytes + sizeof *wc, grh, sizeof *grh);
    args(grh != NULL, port, 0, 0, 0);
    if (enter("ibv_create_ah_from_wc"))
        return NULL;
    struct ibv_ah *ah = object(sizeof *ah);
    ah->pd = pd;
    return ah;
}

EXPORT int ibv_destroy_ah(struct ibv_ah *ah)
{
    return destroy("ibv_destroy_ah", ah);
}

EXPORT int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp;
    keep(gid, sizeof *gid);
    args(lid, 0, 0, 0, 0);
    return enter("ibv_attach_mcast") ? errno : 0;
}

EXPORT int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp;
    keep(gid, sizeof *gid);
    args(lid, 0, 0, 0, 0);
    return enter("ibv_detach_mcast") ? errno : 0;
}

EXPORT int ibv_fork_init(void)
{
    args(0, 0, 0, 0, 0);
    return enter("ibv_fork_init") ? errno : 0;
}

EXPORT enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}
