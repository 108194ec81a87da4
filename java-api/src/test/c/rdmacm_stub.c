/*
 * A librdmacm without a device, for tests, beside ibverbs_stub.c: it records what it is called
 * with, answers the events that it is told, and fails when it is told to. Its identifiers are of
 * the device "stub0" from when the real library's have one: bound to an address that is not the
 * wildcard, or resolved. Where the real library follows a pointer, it does, too. Where that would
 * wait for an event that was not acknowledged, it answers EBUSY.
 *
 * The test finds the record by its address, which lies 8 bytes behind an event channel's beginning.
 */
#include <rdma/rdma_cma.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EVENTS 4
/* Reads that every peer answers at once; those that it asks for are REQUESTED_READS. */
#define OFFERED_READS 9
#define REQUESTED_READS 4
#define EXPORT __attribute__((visibility("default")))

/* Java knows these offsets: CmStub. */
struct told_event {
    int32_t type;      /* 0 */
    int32_t status;    /* 4 */
    uint64_t id;       /* 8: about this one; 0: a new one, heard by listener */
    uint64_t listener; /* 16 */
    int32_t is_ud;     /* 24 */
    int32_t length;    /* 28: of the private data, which counts up from 1 */
};

struct record {
    uint64_t calls;                  /* 0 */
    char call[32];                   /* 8 */
    uint64_t arg[4];                 /* 40 */
    uint8_t bytes[512];              /* 72 */
    uint8_t data[256];               /* 584 */
    char fail_call[32];              /* 840 */
    int32_t fail_errno;              /* 872 */
    int32_t open_objects;            /* 876 */
    int32_t unacknowledged;          /* 880 */
    int32_t event_count;             /* 884 */
    struct told_event event[EVENTS]; /* 888 */
    char calls_in_order[512];        /* 1016 */
    int32_t passes;                  /* 1528: calls that succeed before the one that fails */
};

static struct record record;
static struct ibv_device device = {.name = "stub0", .node_type = IBV_NODE_CA};
static struct ibv_context context = {.device = &device};

static int enter(const char *call)
{
    record.calls++;
    memset(record.call, 0, sizeof record.call);
    strncpy(record.call, call, sizeof record.call - 1);
    size_t used = strlen(record.calls_in_order), length = strlen(call);
    if (used + length + 2 < sizeof record.calls_in_order) {
        memcpy(record.calls_in_order + used, call, length);
        record.calls_in_order[used + length] = ' ';
    }
    if (record.fail_errno && !strcmp(record.fail_call, call) && record.passes-- <= 0) {
        errno = record.fail_errno;
        record.fail_errno = 0;
        return 1;
    }
    return 0;
}

static void args(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
    uint64_t all[] = {a, b, c, d};
    memcpy(record.arg, all, sizeof all);
}

static size_t length_of(const struct sockaddr *address)
{
    return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                          : sizeof(struct sockaddr_in);
}

static void keep_address(size_t at, const struct sockaddr *address)
{
    memset(record.bytes + at, 0, 128);
    if (address)
        memcpy(record.bytes + at, address, length_of(address));
}

static void keep_parameters(const struct rdma_conn_param *param)
{
    memcpy(record.bytes, param, sizeof *param);
    memset(record.data, 0, sizeof record.data);
    memcpy(record.data, param->private_data, param->private_data_len);
}

static struct rdma_cm_id *new_id(struct rdma_event_channel *channel, int space)
{
    struct rdma_cm_id *id = calloc(1, sizeof *id);
    record.open_objects++;
    id->channel = channel;
    id->ps = (enum rdma_port_space)space;
    return id;
}

static int is_wildcard(const struct sockaddr *address)
{
    static const struct in6_addr any6;
    if (address->sa_family == AF_INET6)
        return !memcmp(&((const struct sockaddr_in6 *)address)->sin6_addr, &any6, sizeof any6);
    return !((const struct sockaddr_in *)address)->sin_addr.s_addr;
}

static void bind_to_device(struct rdma_cm_id *id)
{
    id->verbs = &context;
    id->port_num = 1;
}

EXPORT struct rdma_event_channel *rdma_create_event_channel(void)
{
    if (enter("rdma_create_event_channel"))
        return NULL;
    uint64_t *made = calloc(2, sizeof *made);
    struct rdma_event_channel *channel = (void *)made;
    channel->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    made[1] = (uintptr_t)&record;
    record.open_objects++;
    return channel;
}

EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel)
{
    enter("rdma_destroy_event_channel");
    record.open_objects--;
    close(channel->fd);
    free(channel);
}

EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **id, void *given,
                          enum rdma_port_space space)
{
    (void)given;
    args((uint64_t)space, 0, 0, 0);
    if (enter("rdma_create_id"))
        return -1;
    *id = new_id(channel, (int)space);
    return 0;
}

EXPORT int rdma_destroy_id(struct rdma_cm_id *id)
{
    if (enter("rdma_destroy_id"))
        return -1;
    if (record.unacknowledged) {
        errno = EBUSY;
        return -1;
    }
    record.open_objects--;
    free(id);
    return 0;
}

EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int option, void *value, size_t length)
{
    (void)id;
    uint64_t given = 0;
    memcpy(&given, value, length);
    args((uint64_t)level, (uint64_t)option, given, length);
    return enter("rdma_set_option") ? -1 : 0;
}

EXPORT int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
    keep_address(0, address);
    if (enter("rdma_bind_addr"))
        return -1;
    memcpy(&id->route.addr.src_storage, address, length_of(address));
    if (!is_wildcard(address))
        bind_to_device(id);
    return 0;
}

EXPORT int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source,
                             struct sockaddr *target, int timeout_ms)
{
    keep_address(0, target);
    keep_address(128, source);
    args((uint64_t)timeout_ms, source != NULL, 0, 0);
    if (enter("rdma_resolve_addr"))
        return -1;
    memcpy(&id->route.addr.dst_storage, target, length_of(target));
    return 0;
}

EXPORT int rdma_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    args((uint64_t)timeout_ms, (uint64_t)id->verbs->device->transport_type, 0, 0);
    return enter("rdma_resolve_route") ? -1 : 0;
}

EXPORT int rdma_listen(struct rdma_cm_id *id, int backlog)
{
    (void)id;
    args((uint64_t)backlog, 0, 0, 0);
    return enter("rdma_listen") ? -1 : 0;
}

EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask)
{
    args((uint64_t)attr->qp_state, 0, 0, 0);
    if (enter("rdma_init_qp_attr"))
        return -1;
    /* The kernel leaves bits of its own in the mask. */
    *mask = IBV_QP_STATE | 0xe00000;
    attr->port_num = 1;
    if (attr->qp_state == IBV_QPS_INIT) {
        *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
        *mask |= id->ps == RDMA_PS_TCP ? IBV_QP_ACCESS_FLAGS : IBV_QP_QKEY;
        attr->qkey = RDMA_UDP_QKEY;
    } else if (attr->qp_state == IBV_QPS_RTR) {
        *mask |= IBV_QP_AV | IBV_QP_DEST_QPN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
        attr->dest_qp_num = 0x777;
        attr->max_dest_rd_atomic = OFFERED_READS;
    } else {
        *mask |= IBV_QP_TIMEOUT | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
        attr->timeout = 20;
        attr->max_rd_atomic = OFFERED_READS;
        attr->sq_psn = 0x123;
    }
    return 0;
}

EXPORT int rdma_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    (void)id;
    keep_parameters(param);
    return enter("rdma_connect") ? -1 : 0;
}

EXPORT int rdma_establish(struct rdma_cm_id *id)
{
    (void)id;
    return enter("rdma_establish") ? -1 : 0;
}

EXPORT int rdma_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    (void)id;
    keep_parameters(param);
    return enter("rdma_accept") ? -1 : 0;
}

EXPORT int rdma_reject(struct rdma_cm_id *id, const void *data, uint8_t length)
{
    (void)id;
    args(length, 0, 0, 0);
    memset(record.data, 0, sizeof record.data);
    if (length)
        memcpy(record.data, data, length);
    return enter("rdma_reject") ? -1 : 0;
}

EXPORT int rdma_disconnect(struct rdma_cm_id *id)
{
    args((uint64_t)id->verbs->device->transport_type, 0, 0, 0);
    return enter("rdma_disconnect") ? -1 : 0;
}

EXPORT int rdma_notify(struct rdma_cm_id *id, enum ibv_event_type event)
{
    args((uint64_t)event, (uint64_t)id->verbs->device->transport_type, 0, 0);
    return enter("rdma_notify") ? -1 : 0;
}

EXPORT int rdma_migrate_id(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
    args((uintptr_t)id, (uintptr_t)channel, 0, 0);
    if (enter("rdma_migrate_id"))
        return -1;
    id->channel = channel;
    return 0;
}

EXPORT int rdma_join_multicast(struct rdma_cm_id *id, struct sockaddr *group, void *given)
{
    (void)id;
    (void)given;
    keep_address(0, group);
    return enter("rdma_join_multicast") ? -1 : 0;
}

EXPORT int rdma_join_multicast_ex(struct rdma_cm_id *id, struct rdma_cm_join_mc_attr_ex *attr,
                                  void *given)
{
    (void)id;
    (void)given;
    keep_address(0, attr->addr);
    args(attr->comp_mask, attr->join_flags, 0, 0);
    return enter("rdma_join_multicast_ex") ? -1 : 0;
}

EXPORT int rdma_leave_multicast(struct rdma_cm_id *id, struct sockaddr *group)
{
    (void)id;
    keep_address(0, group);
    return enter("rdma_leave_multicast") ? -1 : 0;
}

static uint8_t private_data[256];

static void fill_ud(struct rdma_ud_param *ud, int type, int length)
{
    ud->private_data = length ? private_data : NULL;
    ud->private_data_len = (uint8_t)length;
    if (type != RDMA_CM_EVENT_ESTABLISHED && type != RDMA_CM_EVENT_MULTICAST_JOIN)
        return;
    ud->ah_attr.is_global = 1;
    ud->ah_attr.port_num = 1;
    ud->ah_attr.grh.dgid.raw[15] = 0x42;
    ud->qp_num = 0xffffff;
    ud->qkey = RDMA_UDP_QKEY;
}

static void fill_conn(struct rdma_conn_param *conn, int length)
{
    conn->private_data = length ? private_data : NULL;
    conn->private_data_len = (uint8_t)length;
    conn->responder_resources = REQUESTED_READS;
    conn->initiator_depth = OFFERED_READS;
    conn->qp_num = 0x555;
}

EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
    if (!record.event_count) {
        errno = EAGAIN;
        return -1;
    }
    if (enter("rdma_get_cm_event"))
        return -1;
    struct told_event told = record.event[0];
    record.event_count--;
    memmove(record.event, record.event + 1, sizeof told * (EVENTS - 1));
    struct rdma_cm_event *event = calloc(1, sizeof *event);
    event->event = (enum rdma_cm_event_type)told.type;
    event->status = told.status;
    event->id = (void *)(uintptr_t)told.id;
    event->listen_id = (void *)(uintptr_t)told.listener;
    if (!event->id) {
        event->id = new_id(channel, event->listen_id->ps);
        bind_to_device(event->id);
    } else if (told.type == RDMA_CM_EVENT_ADDR_RESOLVED) {
        bind_to_device(event->id);
    }
    for (int i = 0; i < told.length; i++)
        private_data[i] = (uint8_t)(i + 1);
    if (told.is_ud)
        fill_ud(&event->param.ud, told.type, told.length);
    else
        fill_conn(&event->param.conn, told.length);
    record.unacknowledged++;
    *out = event;
    return 0;
}

EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event)
{
    record.unacknowledged--;
    /* Who reads what an acknowledged event points to gets nonsense. */
    memset(private_data, 0xee, sizeof private_data);
    memset(event, 0xee, sizeof *event);
    free(event);
    return enter("rdma_ack_cm_event") ? -1 : 0;
}
