/* The calls of rdma_cm in verbs_calls.h. The library answers -1 with errno, or a null pointer. */
#define _GNU_SOURCE
#include "verbs_calls.h"
#include "verbs_result.h"

#include <string.h>

int vv_cm_create_channel(struct rdma_event_channel **out)
{
    MADE(rdma_create_event_channel());
}

int vv_cm_destroy_channel(struct rdma_event_channel *channel)
{
    rdma_destroy_event_channel(channel);
    return 0;
}

int vv_cm_create_id(struct rdma_event_channel *channel, int port_space, struct rdma_cm_id **out)
{
    DONE(rdma_create_id(channel, out, NULL, (enum rdma_port_space)port_space));
}

ENDS(vv_cm_destroy_id, rdma_destroy_id, struct rdma_cm_id)

int vv_cm_set_option(struct rdma_cm_id *id, int option, int value)
{
    uint8_t byte = (uint8_t)value;
    if (option == RDMA_OPTION_ID_TOS || option == RDMA_OPTION_ID_ACK_TIMEOUT)
        DONE(rdma_set_option(id, RDMA_OPTION_ID, option, &byte, sizeof byte));
    DONE(rdma_set_option(id, RDMA_OPTION_ID, option, &value, sizeof value));
}

int vv_cm_bind(struct rdma_cm_id *id, struct sockaddr *address)
{
    DONE(rdma_bind_addr(id, address));
}

int vv_cm_resolve_addr(struct rdma_cm_id *id, struct sockaddr *source, struct sockaddr *target,
                       int timeout_ms)
{
    DONE(rdma_resolve_addr(id, source, target, timeout_ms));
}

int vv_cm_resolve_route(struct rdma_cm_id *id, int timeout_ms)
{
    DONE(rdma_resolve_route(id, timeout_ms));
}

int vv_cm_listen(struct rdma_cm_id *id, int backlog)
{
    DONE(rdma_listen(id, backlog));
}

int vv_cm_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr)
{
    int mask = 0;
    errno = 0;
    if (rdma_init_qp_attr(id, attr, &mask))
        return errno ? -errno : -EIO;
    /* Bits above the destination's number are the kernel's own and mean other things here. */
    return mask & (int)(IBV_QP_DEST_QPN * 2u - 1);
}

int vv_cm_connect(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    DONE(rdma_connect(id, param));
}

int vv_cm_establish(struct rdma_cm_id *id)
{
    DONE(rdma_establish(id));
}

int vv_cm_accept(struct rdma_cm_id *id, struct rdma_conn_param *param)
{
    DONE(rdma_accept(id, param));
}

int vv_cm_reject(struct rdma_cm_id *id, const void *data, int length)
{
    DONE(rdma_reject(id, data, (uint8_t)length));
}

int vv_cm_disconnect(struct rdma_cm_id *id)
{
    DONE(rdma_disconnect(id));
}

int vv_cm_migrate(struct rdma_cm_id *id, struct rdma_event_channel *channel)
{
    DONE(rdma_migrate_id(id, channel));
}

int vv_cm_notify(struct rdma_cm_id *id, int event)
{
    DONE(rdma_notify(id, (enum ibv_event_type)event));
}

int vv_cm_join(struct rdma_cm_id *id, struct sockaddr *group, int is_send_only)
{
    if (!is_send_only)
        DONE(rdma_join_multicast(id, group, NULL));
    struct rdma_cm_join_mc_attr_ex attr = {
        .comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS,
        .join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER,
        .addr = group,
    };
    DONE(rdma_join_multicast_ex(id, &attr, NULL));
}

int vv_cm_leave(struct rdma_cm_id *id, struct sockaddr *group)
{
    DONE(rdma_leave_multicast(id, group));
}

int vv_cm_get_event(struct rdma_event_channel *channel, struct rdma_cm_event **out)
{
    DONE(rdma_get_cm_event(channel, out));
}

int vv_cm_ack_event(struct rdma_cm_event *event)
{
    DONE(rdma_ack_cm_event(event));
}
