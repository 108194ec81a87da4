/*
 * Sizes S, offsets F and constants C of <rdma/rdma_cma.h> and of socket addresses that Java uses,
 * as in verbs_layout_fields.h.
 */
#ifndef VERBENA_CM_LAYOUT_FIELDS_H
#define VERBENA_CM_LAYOUT_FIELDS_H

#include <netinet/in.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>

/* clang-format off */
#define VV_CM_LAYOUT(S, F, C) \
    F(struct rdma_event_channel, fd) F(struct rdma_cm_id, verbs) F(struct rdma_cm_id, route) \
    F(struct rdma_cm_id, port_num) F(struct rdma_route, addr) F(struct rdma_addr, src_addr) \
    F(struct rdma_addr, dst_addr) F(struct rdma_cm_event, id) F(struct rdma_cm_event, listen_id) \
    F(struct rdma_cm_event, event) F(struct rdma_cm_event, status) \
    F(struct rdma_cm_event, param.conn) F(struct rdma_cm_event, param.ud) \
    F(struct rdma_conn_param, private_data) F(struct rdma_conn_param, private_data_len) \
    F(struct rdma_conn_param, responder_resources) F(struct rdma_conn_param, initiator_depth) \
    F(struct rdma_conn_param, flow_control) F(struct rdma_conn_param, retry_count) \
    F(struct rdma_conn_param, rnr_retry_count) F(struct rdma_conn_param, srq) \
    F(struct rdma_conn_param, qp_num) F(struct rdma_ud_param, private_data) \
    F(struct rdma_ud_param, private_data_len) F(struct rdma_ud_param, ah_attr) \
    F(struct rdma_ud_param, qp_num) F(struct rdma_ud_param, qkey) \
    F(struct sockaddr_in, sin_family) F(struct sockaddr_in, sin_port) \
    F(struct sockaddr_in, sin_addr) F(struct sockaddr_in6, sin6_port) \
    F(struct sockaddr_in6, sin6_addr) F(struct sockaddr_in6, sin6_scope_id) C(AF_INET) \
    C(AF_INET6) C(RDMA_PS_IPOIB) C(RDMA_PS_TCP) C(RDMA_PS_UDP) C(RDMA_OPTION_ID_TOS) \
    C(RDMA_OPTION_ID_REUSEADDR) C(RDMA_OPTION_ID_AFONLY) C(RDMA_OPTION_ID_ACK_TIMEOUT) \
    C(RDMA_CM_EVENT_ADDR_RESOLVED) C(RDMA_CM_EVENT_ADDR_ERROR) C(RDMA_CM_EVENT_ROUTE_RESOLVED) \
    C(RDMA_CM_EVENT_ROUTE_ERROR) C(RDMA_CM_EVENT_CONNECT_REQUEST) \
    C(RDMA_CM_EVENT_CONNECT_RESPONSE) C(RDMA_CM_EVENT_CONNECT_ERROR) \
    C(RDMA_CM_EVENT_UNREACHABLE) C(RDMA_CM_EVENT_REJECTED) C(RDMA_CM_EVENT_ESTABLISHED) \
    C(RDMA_CM_EVENT_DISCONNECTED) C(RDMA_CM_EVENT_DEVICE_REMOVAL) \
    C(RDMA_CM_EVENT_MULTICAST_JOIN) C(RDMA_CM_EVENT_MULTICAST_ERROR) \
    C(RDMA_CM_EVENT_ADDR_CHANGE) C(RDMA_CM_EVENT_TIMEWAIT_EXIT)
/* clang-format on */

#endif
