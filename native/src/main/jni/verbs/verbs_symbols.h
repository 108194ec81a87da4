/*
 * Every function that libibverbs and librdmacm export and their headers declare, with what a
 * library that lacks it answers: P a null pointer, E the errno, M -1 (both with errno set), V
 * nothing.
 */
#ifndef VERBENA_VERBS_SYMBOLS_H
#define VERBENA_VERBS_SYMBOLS_H

/* clang-format off */
#define VV_IBVERBS(X) \
    X(P, ibv_get_device_list) X(V, ibv_free_device_list) X(P, ibv_get_device_name) \
    X(M, ibv_get_device_index) X(V, ibv_get_device_guid) X(P, ibv_open_device) \
    X(M, ibv_close_device) X(P, ibv_import_device) X(P, ibv_import_pd) X(V, ibv_unimport_pd) \
    X(P, ibv_import_mr) X(V, ibv_unimport_mr) X(P, ibv_import_dm) X(V, ibv_unimport_dm) \
    X(M, ibv_get_async_event) X(V, ibv_ack_async_event) X(E, ibv_query_device) \
    X(E, ibv_query_port) X(M, ibv_query_gid) X(E, _ibv_query_gid_ex) \
    X(L, _ibv_query_gid_table) X(M, ibv_query_pkey) X(M, ibv_get_pkey_index) \
    X(P, ibv_alloc_pd) X(E, ibv_dealloc_pd) X(P, ibv_reg_mr) X(P, ibv_reg_mr_iova) \
    X(P, ibv_reg_mr_iova2) X(P, ibv_reg_dmabuf_mr) X(M, ibv_rereg_mr) X(E, ibv_dereg_mr) \
    X(P, ibv_create_comp_channel) X(E, ibv_destroy_comp_channel) X(P, ibv_create_cq) \
    X(E, ibv_resize_cq) X(E, ibv_destroy_cq) X(M, ibv_get_cq_event) X(V, ibv_ack_cq_events) \
    X(P, ibv_create_srq) X(E, ibv_modify_srq) X(E, ibv_query_srq) X(E, ibv_destroy_srq) \
    X(P, ibv_create_qp) X(E, ibv_modify_qp) X(E, ibv_query_qp) X(E, ibv_destroy_qp) \
    X(V, ibv_query_qp_data_in_order) X(P, ibv_qp_to_qp_ex) X(P, ibv_create_ah) \
    X(M, ibv_init_ah_from_wc) X(P, ibv_create_ah_from_wc) X(E, ibv_destroy_ah) \
    X(E, ibv_attach_mcast) X(E, ibv_detach_mcast) X(E, ibv_fork_init) \
    X(V, ibv_is_fork_initialized) X(P, ibv_node_type_str) X(P, ibv_port_state_str) \
    X(P, ibv_event_type_str) X(P, ibv_wc_status_str) X(E, ibv_resolve_eth_l2_from_gid) \
    X(E, ibv_set_ece) X(E, ibv_query_ece) X(M, ibv_rate_to_mbps) X(M, ibv_rate_to_mult) \
    X(V, mbps_to_ibv_rate) X(V, mult_to_ibv_rate)

#define VV_RDMACM(X) \
    X(M, rdma_accept) X(M, rdma_ack_cm_event) X(M, rdma_bind_addr) X(M, rdma_connect) \
    X(M, rdma_create_ep) X(P, rdma_create_event_channel) X(M, rdma_create_id) \
    X(M, rdma_create_qp) X(M, rdma_create_qp_ex) X(M, rdma_create_srq) \
    X(M, rdma_create_srq_ex) X(V, rdma_destroy_ep) X(V, rdma_destroy_event_channel) \
    X(M, rdma_destroy_id) X(V, rdma_destroy_qp) X(V, rdma_destroy_srq) X(M, rdma_disconnect) \
    X(M, rdma_establish) X(P, rdma_event_str) X(V, rdma_free_devices) X(V, rdma_freeaddrinfo) \
    X(M, rdma_get_cm_event) X(P, rdma_get_devices) X(V, rdma_get_dst_port) \
    X(M, rdma_get_remote_ece) X(M, rdma_get_request) X(V, rdma_get_src_port) \
    X(M, rdma_getaddrinfo) X(M, rdma_init_qp_attr) X(M, rdma_join_multicast) \
    X(M, rdma_join_multicast_ex) X(M, rdma_leave_multicast) X(M, rdma_listen) \
    X(M, rdma_migrate_id) X(M, rdma_notify) X(M, rdma_reject) X(M, rdma_reject_ece) \
    X(M, rdma_resolve_addr) X(M, rdma_resolve_route) X(M, rdma_set_local_ece) \
    X(M, rdma_set_option)
/* clang-format on */

#endif
