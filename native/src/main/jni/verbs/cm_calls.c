/* The calls of rdma_cm in verbs_calls.h. The library answers -1 with errno, or a null pointer. */
#define _GNU_SOURCE
#include "verbs_calls.h"
#include "verbs_result.h"

#include <string.h>

MAKES(vv_cm_create_channel, rdma_create_event_channel(), struct rdma_event_channel **out)
TELLS(vv_cm_destroy_channel, rdma_destroy_event_channel(channel),
      struct rdma_event_channel *channel)
DOES(vv_cm_create_id, rdma_create_id(channel, out, NULL, (enum rdma_port_space)port_space),
     struct rdma_event_channel *channel, int port_space, struct rdma_cm_id **out)
DOES(vv_cm_destroy_id, rdma_destroy_id(id), struct rdma_cm_id *id)

int vv_cm_set_option(struct rdma_cm_id *id, int option, int value)
{
    uint8_t byte = (uint8_t)value;
    if (option == RDMA_OPTION_ID_TOS || option == RDMA_OPTION_ID_ACK_TIMEOUT)
        DONE(rdma_set_option(id, RDMA_OPTION_ID, option, &byte, sizeof byte));
    DONE(rdma_set_option(id, RDMA_OPTION_ID, option, &value, sizeof value));
}

DOES(vv_cm_bind, rdma_bind_addr(id, address), struct rdma_cm_id *id, struct sockaddr *address)
DOES(vv_cm_resolve_addr, rdma_resolve_addr(id, source, target, timeout_ms), struct rdma_cm_id *id,
     struct sockaddr *source, struct sockaddr *target, int timeout_ms)
DOES(vv_cm_resolve_route, rdma_resolve_route(id, timeout_ms), struct rdma_cm_id *id, int timeout_ms)
DOES(vv_cm_listen, rdma_listen(id, backlog), struct rdma_cm_id *id, int backlog)

int vv_cm_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr)
{
    int mask = 0;
    errno = 0;
    if (rdma_init_qp_attr(id, attr, &mask))
        return failure();
    /* Bits above the destination's number are the kernel's own and mean other things here. */
    return mask & (int)(IBV_QP_DEST_QPN * 2u - 1);
}

DOES(vv_cm_connect, rdma_connect(id, param), struct rdma_cm_id *id, struct rdma_conn_param *param)
DOES(vv_cm_establish, rdma_establish(id), struct rdma_cm_id *id)
DOES(vv_cm_accept, rdma_accept(id, param), struct rdma_cm_id *id, struct rdma_conn_param *param)
DOES(vv_cm_reject, rdma_reject(id, data, (uint8_t)length), struct rdma_cm_id *id, const void *data,
     int length)
DOES(vv_cm_disconnect, rdma_disconnect(id), struct rdma_cm_id *id)
DOES(vv_cm_migrate, rdma_migrate_id(id, channel), struct rdma_cm_id *id,
     struct rdma_event_channel *channel)
DOES(vv_cm_notify, rdma_notify(id, (enum ibv_event_type)event), struct rdma_cm_id *id, int event)

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

DOES(vv_cm_leave, rdma_leave_multicast(id, group), struct rdma_cm_id *id, struct sockaddr *group)
DOES(vv_cm_get_event, rdma_get_cm_event(channel, out), struct rdma_event_channel *channel,
     struct rdma_cm_event **out)
DOES(vv_cm_ack_event, rdma_ack_cm_event(event), struct rdma_cm_event *event)
