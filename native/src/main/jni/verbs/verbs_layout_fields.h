/*
 * Sizes S, offsets F and constants C of <infiniband/verbs.h> that Java uses. What older headers
 * lack does not belong here: the list must compile with rdma-core 32 and newer. Nor do sizes of
 * what the library makes with a lock inside (ibv_context, ibv_cq, ibv_qp): they differ between
 * processors, and one Java class is for all.
 */
#ifndef VERBENA_VERBS_LAYOUT_FIELDS_H
#define VERBENA_VERBS_LAYOUT_FIELDS_H

/* clang-format off */
#define VV_LAYOUT(S, F, C) \
    F(struct ibv_gid_entry, gid) F(struct ibv_gid_entry, gid_type) \
    F(struct ibv_gid_entry, ndev_ifindex) F(struct ibv_device, node_type) \
    F(struct ibv_device, transport_type) F(struct ibv_device, name) \
    F(struct ibv_device, dev_name) F(struct ibv_device, ibdev_path) \
    F(struct ibv_context, device) F(struct ibv_context, cmd_fd) F(struct ibv_context, async_fd) \
    F(struct ibv_context, num_comp_vectors) F(struct ibv_device_attr, fw_ver) \
    F(struct ibv_device_attr, node_guid) F(struct ibv_device_attr, sys_image_guid) \
    F(struct ibv_device_attr, max_mr_size) F(struct ibv_device_attr, page_size_cap) \
    F(struct ibv_device_attr, vendor_id) F(struct ibv_device_attr, vendor_part_id) \
    F(struct ibv_device_attr, hw_ver) F(struct ibv_device_attr, max_qp) \
    F(struct ibv_device_attr, max_qp_wr) F(struct ibv_device_attr, device_cap_flags) \
    F(struct ibv_device_attr, max_sge) F(struct ibv_device_attr, max_sge_rd) \
    F(struct ibv_device_attr, max_cq) F(struct ibv_device_attr, max_cqe) \
    F(struct ibv_device_attr, max_mr) F(struct ibv_device_attr, max_pd) \
    F(struct ibv_device_attr, max_qp_rd_atom) F(struct ibv_device_attr, max_ee_rd_atom) \
    F(struct ibv_device_attr, max_res_rd_atom) F(struct ibv_device_attr, max_qp_init_rd_atom) \
    F(struct ibv_device_attr, max_ee_init_rd_atom) F(struct ibv_device_attr, atomic_cap) \
    F(struct ibv_device_attr, max_ee) F(struct ibv_device_attr, max_rdd) \
    F(struct ibv_device_attr, max_mw) F(struct ibv_device_attr, max_raw_ipv6_qp) \
    F(struct ibv_device_attr, max_raw_ethy_qp) F(struct ibv_device_attr, max_mcast_grp) \
    F(struct ibv_device_attr, max_mcast_qp_attach) \
    F(struct ibv_device_attr, max_total_mcast_qp_attach) F(struct ibv_device_attr, max_ah) \
    F(struct ibv_device_attr, max_fmr) F(struct ibv_device_attr, max_map_per_fmr) \
    F(struct ibv_device_attr, max_srq) F(struct ibv_device_attr, max_srq_wr) \
    F(struct ibv_device_attr, max_srq_sge) F(struct ibv_device_attr, max_pkeys) \
    F(struct ibv_device_attr, local_ca_ack_delay) F(struct ibv_device_attr, phys_port_cnt) \
    F(struct ibv_device_attr_ex, odp_caps.general_caps) \
    F(struct ibv_device_attr_ex, odp_caps.per_transport_caps.rc_odp_caps) \
    F(struct ibv_device_attr_ex, odp_caps.per_transport_caps.uc_odp_caps) \
    F(struct ibv_device_attr_ex, odp_caps.per_transport_caps.ud_odp_caps) \
    F(struct ibv_device_attr_ex, completion_timestamp_mask) \
    F(struct ibv_device_attr_ex, hca_core_clock) \
    F(struct ibv_device_attr_ex, device_cap_flags_ex) \
    F(struct ibv_device_attr_ex, tso_caps.max_tso) \
    F(struct ibv_device_attr_ex, tso_caps.supported_qpts) \
    F(struct ibv_device_attr_ex, rss_caps.supported_qpts) \
    F(struct ibv_device_attr_ex, rss_caps.max_rwq_indirection_tables) \
    F(struct ibv_device_attr_ex, rss_caps.max_rwq_indirection_table_size) \
    F(struct ibv_device_attr_ex, rss_caps.rx_hash_fields_mask) \
    F(struct ibv_device_attr_ex, rss_caps.rx_hash_function) \
    F(struct ibv_device_attr_ex, max_wq_type_rq) \
    F(struct ibv_device_attr_ex, packet_pacing_caps.qp_rate_limit_min) \
    F(struct ibv_device_attr_ex, packet_pacing_caps.qp_rate_limit_max) \
    F(struct ibv_device_attr_ex, packet_pacing_caps.supported_qpts) \
    F(struct ibv_device_attr_ex, raw_packet_caps) \
    F(struct ibv_device_attr_ex, tm_caps.max_rndv_hdr_size) \
    F(struct ibv_device_attr_ex, tm_caps.max_num_tags) \
    F(struct ibv_device_attr_ex, tm_caps.flags) F(struct ibv_device_attr_ex, tm_caps.max_ops) \
    F(struct ibv_device_attr_ex, tm_caps.max_sge) \
    F(struct ibv_device_attr_ex, cq_mod_caps.max_cq_count) \
    F(struct ibv_device_attr_ex, cq_mod_caps.max_cq_period) \
    F(struct ibv_device_attr_ex, max_dm_size) \
    F(struct ibv_device_attr_ex, pci_atomic_caps.fetch_add) \
    F(struct ibv_device_attr_ex, pci_atomic_caps.swap) \
    F(struct ibv_device_attr_ex, pci_atomic_caps.compare_swap) \
    F(struct ibv_device_attr_ex, xrc_odp_caps) F(struct ibv_device_attr_ex, phys_port_cnt_ex) \
    F(struct ibv_port_attr, state) F(struct ibv_port_attr, max_mtu) \
    F(struct ibv_port_attr, active_mtu) F(struct ibv_port_attr, gid_tbl_len) \
    F(struct ibv_port_attr, port_cap_flags) F(struct ibv_port_attr, max_msg_sz) \
    F(struct ibv_port_attr, bad_pkey_cntr) F(struct ibv_port_attr, qkey_viol_cntr) \
    F(struct ibv_port_attr, pkey_tbl_len) F(struct ibv_port_attr, lid) \
    F(struct ibv_port_attr, sm_lid) F(struct ibv_port_attr, lmc) \
    F(struct ibv_port_attr, max_vl_num) F(struct ibv_port_attr, sm_sl) \
    F(struct ibv_port_attr, subnet_timeout) F(struct ibv_port_attr, init_type_reply) \
    F(struct ibv_port_attr, active_width) F(struct ibv_port_attr, active_speed) \
    F(struct ibv_port_attr, phys_state) F(struct ibv_port_attr, link_layer) \
    F(struct ibv_async_event, element.cq) F(struct ibv_async_event, element.port_num) \
    F(struct ibv_async_event, event_type) F(struct ibv_pd, handle) F(struct ibv_mr, length) \
    F(struct ibv_mr, handle) F(struct ibv_mr, lkey) F(struct ibv_mr, rkey) \
    F(struct ibv_mw, rkey) F(struct ibv_mw_bind_info, mr) F(struct ibv_mw_bind_info, addr) \
    F(struct ibv_mw_bind_info, length) F(struct ibv_mw_bind_info, mw_access_flags) \
    F(struct ibv_mw_bind, wr_id) F(struct ibv_mw_bind, send_flags) \
    F(struct ibv_mw_bind, bind_info.mr) F(struct ibv_mw_bind, bind_info.addr) \
    F(struct ibv_mw_bind, bind_info.length) F(struct ibv_mw_bind, bind_info.mw_access_flags) \
    F(struct ibv_comp_channel, fd) F(struct ibv_cq, channel) F(struct ibv_cq, handle) \
    F(struct ibv_cq, cqe) F(struct ibv_cq_init_attr_ex, cqe) \
    F(struct ibv_cq_init_attr_ex, channel) F(struct ibv_cq_init_attr_ex, comp_vector) \
    F(struct ibv_cq_init_attr_ex, wc_flags) F(struct ibv_cq_init_attr_ex, comp_mask) \
    F(struct ibv_cq_init_attr_ex, flags) F(struct ibv_cq_init_attr_ex, parent_domain) \
    S(struct ibv_wc) F(struct ibv_wc, wr_id) F(struct ibv_wc, status) F(struct ibv_wc, opcode) \
    F(struct ibv_wc, vendor_err) F(struct ibv_wc, byte_len) F(struct ibv_wc, imm_data) \
    F(struct ibv_wc, invalidated_rkey) F(struct ibv_wc, qp_num) F(struct ibv_wc, src_qp) \
    F(struct ibv_wc, wc_flags) F(struct ibv_wc, slid) F(struct ibv_wc, sl) S(struct ibv_ah_attr) \
    F(struct ibv_ah_attr, grh.dgid) F(struct ibv_ah_attr, grh.flow_label) \
    F(struct ibv_ah_attr, grh.sgid_index) F(struct ibv_ah_attr, grh.hop_limit) \
    F(struct ibv_ah_attr, grh.traffic_class) F(struct ibv_ah_attr, dlid) \
    F(struct ibv_ah_attr, sl) F(struct ibv_ah_attr, is_global) F(struct ibv_ah_attr, port_num) \
    F(struct ibv_srq_attr, srq_limit) F(struct ibv_srq_init_attr_ex, attr.max_wr) \
    F(struct ibv_srq_init_attr_ex, attr.max_sge) F(struct ibv_srq_init_attr_ex, comp_mask) \
    F(struct ibv_srq_init_attr_ex, srq_type) F(struct ibv_srq_init_attr_ex, pd) \
    F(struct ibv_srq_init_attr_ex, xrcd) F(struct ibv_srq_init_attr_ex, cq) \
    F(struct ibv_xrcd_init_attr, comp_mask) F(struct ibv_xrcd_init_attr, fd) \
    F(struct ibv_xrcd_init_attr, oflags) F(struct ibv_qp_cap, max_send_wr) \
    F(struct ibv_qp_cap, max_recv_wr) F(struct ibv_qp_cap, max_send_sge) \
    F(struct ibv_qp_cap, max_recv_sge) F(struct ibv_qp_cap, max_inline_data) \
    F(struct ibv_qp_init_attr, recv_cq) F(struct ibv_qp_init_attr, srq) \
    F(struct ibv_qp_init_attr, cap) F(struct ibv_qp_init_attr, qp_type) \
    F(struct ibv_qp_init_attr, sq_sig_all) S(struct ibv_qp_init_attr_ex) \
    F(struct ibv_qp_init_attr_ex, send_cq) F(struct ibv_qp_init_attr_ex, recv_cq) \
    F(struct ibv_qp_init_attr_ex, srq) F(struct ibv_qp_init_attr_ex, cap) \
    F(struct ibv_qp_init_attr_ex, qp_type) F(struct ibv_qp_init_attr_ex, sq_sig_all) \
    F(struct ibv_qp_init_attr_ex, comp_mask) F(struct ibv_qp_init_attr_ex, pd) \
    F(struct ibv_qp_init_attr_ex, xrcd) F(struct ibv_qp_init_attr_ex, send_ops_flags) \
    F(struct ibv_qp_attr, qp_state) F(struct ibv_qp_attr, cur_qp_state) \
    F(struct ibv_qp_attr, path_mtu) F(struct ibv_qp_attr, path_mig_state) \
    F(struct ibv_qp_attr, qkey) F(struct ibv_qp_attr, rq_psn) F(struct ibv_qp_attr, sq_psn) \
    F(struct ibv_qp_attr, dest_qp_num) F(struct ibv_qp_attr, qp_access_flags) \
    F(struct ibv_qp_attr, cap) F(struct ibv_qp_attr, ah_attr) F(struct ibv_qp_attr, alt_ah_attr) \
    F(struct ibv_qp_attr, pkey_index) F(struct ibv_qp_attr, alt_pkey_index) \
    F(struct ibv_qp_attr, en_sqd_async_notify) F(struct ibv_qp_attr, max_rd_atomic) \
    F(struct ibv_qp_attr, max_dest_rd_atomic) F(struct ibv_qp_attr, min_rnr_timer) \
    F(struct ibv_qp_attr, port_num) F(struct ibv_qp_attr, timeout) \
    F(struct ibv_qp_attr, retry_cnt) F(struct ibv_qp_attr, rnr_retry) \
    F(struct ibv_qp_attr, alt_port_num) F(struct ibv_qp_attr, alt_timeout) \
    F(struct ibv_qp, qp_num) F(struct ibv_qp, state) F(struct ibv_values_ex, comp_mask) \
    F(struct ibv_values_ex, raw_clock.tv_sec) F(struct ibv_values_ex, raw_clock.tv_nsec) \
    S(struct ibv_sge) F(struct ibv_sge, addr) F(struct ibv_sge, length) F(struct ibv_sge, lkey) \
    S(struct ibv_send_wr) F(struct ibv_send_wr, wr_id) F(struct ibv_send_wr, next) \
    F(struct ibv_send_wr, sg_list) F(struct ibv_send_wr, num_sge) F(struct ibv_send_wr, opcode) \
    F(struct ibv_send_wr, send_flags) F(struct ibv_send_wr, imm_data) \
    F(struct ibv_send_wr, invalidate_rkey) F(struct ibv_send_wr, wr.rdma.remote_addr) \
    F(struct ibv_send_wr, wr.rdma.rkey) F(struct ibv_send_wr, wr.atomic.remote_addr) \
    F(struct ibv_send_wr, wr.atomic.compare_add) F(struct ibv_send_wr, wr.atomic.swap) \
    F(struct ibv_send_wr, wr.atomic.rkey) F(struct ibv_send_wr, wr.ud.ah) \
    F(struct ibv_send_wr, wr.ud.remote_qpn) F(struct ibv_send_wr, wr.ud.remote_qkey) \
    F(struct ibv_send_wr, qp_type.xrc.remote_srqn) F(struct ibv_send_wr, bind_mw.mw) \
    F(struct ibv_send_wr, bind_mw.rkey) F(struct ibv_send_wr, bind_mw.bind_info) \
    S(struct ibv_recv_wr) F(struct ibv_recv_wr, wr_id) F(struct ibv_recv_wr, next) \
    F(struct ibv_recv_wr, sg_list) F(struct ibv_recv_wr, num_sge) C(IBV_NODE_CA) \
    C(IBV_NODE_SWITCH) C(IBV_NODE_ROUTER) C(IBV_NODE_RNIC) C(IBV_NODE_USNIC) \
    C(IBV_NODE_USNIC_UDP) C(IBV_NODE_UNSPECIFIED) C(IBV_TRANSPORT_IB) C(IBV_TRANSPORT_IWARP) \
    C(IBV_TRANSPORT_USNIC) C(IBV_TRANSPORT_USNIC_UDP) C(IBV_TRANSPORT_UNSPECIFIED) \
    C(IBV_FORK_ENABLED) C(IBV_FORK_UNNEEDED) C(IBV_ATOMIC_HCA) C(IBV_ATOMIC_GLOB) \
    C(IBV_ODP_SUPPORT) C(IBV_MTU_256) C(IBV_MTU_4096) C(IBV_PORT_DOWN) C(IBV_PORT_INIT) \
    C(IBV_PORT_ARMED) C(IBV_PORT_ACTIVE) C(IBV_PORT_ACTIVE_DEFER) C(IBV_EVENT_CQ_ERR) \
    C(IBV_EVENT_QP_FATAL) C(IBV_EVENT_QP_REQ_ERR) C(IBV_EVENT_QP_ACCESS_ERR) \
    C(IBV_EVENT_COMM_EST) C(IBV_EVENT_SQ_DRAINED) C(IBV_EVENT_PATH_MIG) \
    C(IBV_EVENT_PATH_MIG_ERR) C(IBV_EVENT_DEVICE_FATAL) C(IBV_EVENT_PORT_ACTIVE) \
    C(IBV_EVENT_PORT_ERR) C(IBV_EVENT_LID_CHANGE) C(IBV_EVENT_PKEY_CHANGE) \
    C(IBV_EVENT_SM_CHANGE) C(IBV_EVENT_SRQ_ERR) C(IBV_EVENT_SRQ_LIMIT_REACHED) \
    C(IBV_EVENT_QP_LAST_WQE_REACHED) C(IBV_EVENT_CLIENT_REREGISTER) C(IBV_EVENT_GID_CHANGE) \
    C(IBV_EVENT_WQ_FATAL) C(IBV_WC_SUCCESS) C(IBV_WC_LOC_LEN_ERR) C(IBV_WC_LOC_QP_OP_ERR) \
    C(IBV_WC_LOC_EEC_OP_ERR) C(IBV_WC_LOC_PROT_ERR) C(IBV_WC_WR_FLUSH_ERR) C(IBV_WC_MW_BIND_ERR) \
    C(IBV_WC_BAD_RESP_ERR) C(IBV_WC_LOC_ACCESS_ERR) C(IBV_WC_REM_INV_REQ_ERR) \
    C(IBV_WC_REM_ACCESS_ERR) C(IBV_WC_REM_OP_ERR) C(IBV_WC_RETRY_EXC_ERR) \
    C(IBV_WC_RNR_RETRY_EXC_ERR) C(IBV_WC_LOC_RDD_VIOL_ERR) C(IBV_WC_REM_INV_RD_REQ_ERR) \
    C(IBV_WC_REM_ABORT_ERR) C(IBV_WC_INV_EECN_ERR) C(IBV_WC_INV_EEC_STATE_ERR) \
    C(IBV_WC_FATAL_ERR) C(IBV_WC_RESP_TIMEOUT_ERR) C(IBV_WC_GENERAL_ERR) C(IBV_WC_TM_ERR) \
    C(IBV_WC_TM_RNDV_INCOMPLETE) C(IBV_WC_SEND) C(IBV_WC_RDMA_WRITE) C(IBV_WC_RDMA_READ) \
    C(IBV_WC_COMP_SWAP) C(IBV_WC_FETCH_ADD) C(IBV_WC_BIND_MW) C(IBV_WC_LOCAL_INV) C(IBV_WC_RECV) \
    C(IBV_WC_RECV_RDMA_WITH_IMM) C(IBV_WC_EX_WITH_BYTE_LEN) C(IBV_WC_EX_WITH_IMM) \
    C(IBV_WC_EX_WITH_QP_NUM) C(IBV_WC_EX_WITH_SRC_QP) C(IBV_WC_EX_WITH_SLID) \
    C(IBV_WC_EX_WITH_SL) C(IBV_WC_EX_WITH_DLID_PATH_BITS) C(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) \
    C(IBV_WC_EX_WITH_CVLAN) C(IBV_WC_EX_WITH_FLOW_TAG) \
    C(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK) C(IBV_WC_GRH) C(IBV_WC_WITH_IMM) \
    C(IBV_WC_WITH_INV) C(IBV_ACCESS_LOCAL_WRITE) C(IBV_ACCESS_REMOTE_WRITE) \
    C(IBV_ACCESS_REMOTE_READ) C(IBV_ACCESS_REMOTE_ATOMIC) C(IBV_ACCESS_MW_BIND) \
    C(IBV_ACCESS_ZERO_BASED) C(IBV_ACCESS_ON_DEMAND) C(IBV_ACCESS_HUGETLB) \
    C(IBV_ACCESS_RELAXED_ORDERING) C(IBV_REREG_MR_CHANGE_TRANSLATION) C(IBV_REREG_MR_CHANGE_PD) \
    C(IBV_REREG_MR_CHANGE_ACCESS) C(IBV_MW_TYPE_1) C(IBV_MW_TYPE_2) C(IBV_SRQ_LIMIT) \
    C(IBV_SRQT_XRC) C(IBV_SRQ_INIT_ATTR_TYPE) C(IBV_SRQ_INIT_ATTR_PD) C(IBV_SRQ_INIT_ATTR_XRCD) \
    C(IBV_SRQ_INIT_ATTR_CQ) C(IBV_QPT_RC) C(IBV_QPT_UC) C(IBV_QPT_UD) C(IBV_QPT_RAW_PACKET) \
    C(IBV_QPT_XRC_SEND) C(IBV_QPT_XRC_RECV) C(IBV_QP_INIT_ATTR_PD) C(IBV_QP_INIT_ATTR_XRCD) \
    C(IBV_QP_INIT_ATTR_IND_TABLE) C(IBV_QP_INIT_ATTR_RX_HASH) C(IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) \
    C(IBV_QP_EX_WITH_RDMA_WRITE) C(IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM) C(IBV_QP_EX_WITH_SEND) \
    C(IBV_QP_EX_WITH_SEND_WITH_IMM) C(IBV_QP_EX_WITH_RDMA_READ) \
    C(IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP) C(IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD) \
    C(IBV_QP_EX_WITH_LOCAL_INV) C(IBV_QP_EX_WITH_BIND_MW) C(IBV_QP_EX_WITH_SEND_WITH_INV) \
    C(IBV_QP_STATE) C(IBV_QP_CUR_STATE) C(IBV_QP_EN_SQD_ASYNC_NOTIFY) C(IBV_QP_ACCESS_FLAGS) \
    C(IBV_QP_PKEY_INDEX) C(IBV_QP_PORT) C(IBV_QP_QKEY) C(IBV_QP_AV) C(IBV_QP_PATH_MTU) \
    C(IBV_QP_TIMEOUT) C(IBV_QP_RETRY_CNT) C(IBV_QP_RNR_RETRY) C(IBV_QP_RQ_PSN) \
    C(IBV_QP_MAX_QP_RD_ATOMIC) C(IBV_QP_ALT_PATH) C(IBV_QP_MIN_RNR_TIMER) C(IBV_QP_SQ_PSN) \
    C(IBV_QP_MAX_DEST_RD_ATOMIC) C(IBV_QP_PATH_MIG_STATE) C(IBV_QP_CAP) C(IBV_QP_DEST_QPN) \
    C(IBV_QPS_RESET) C(IBV_QPS_INIT) C(IBV_QPS_RTR) C(IBV_QPS_RTS) C(IBV_QPS_SQD) C(IBV_QPS_SQE) \
    C(IBV_QPS_ERR) C(IBV_MIG_MIGRATED) C(IBV_MIG_REARM) C(IBV_WR_RDMA_WRITE) \
    C(IBV_WR_RDMA_WRITE_WITH_IMM) C(IBV_WR_SEND) C(IBV_WR_SEND_WITH_IMM) C(IBV_WR_RDMA_READ) \
    C(IBV_WR_ATOMIC_CMP_AND_SWP) C(IBV_WR_ATOMIC_FETCH_AND_ADD) C(IBV_WR_LOCAL_INV) \
    C(IBV_WR_BIND_MW) C(IBV_WR_SEND_WITH_INV) C(IBV_SEND_FENCE) C(IBV_SEND_SIGNALED) \
    C(IBV_SEND_SOLICITED) C(IBV_SEND_INLINE) C(IBV_CQ_INIT_ATTR_MASK_FLAGS) \
    C(IBV_CQ_INIT_ATTR_MASK_PD) C(IBV_CREATE_CQ_ATTR_SINGLE_THREADED) \
    C(IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN) C(IBV_XRCD_INIT_ATTR_FD) C(IBV_XRCD_INIT_ATTR_OFLAGS) \
    C(IBV_VALUES_MASK_RAW_CLOCK) C(IBV_LINK_LAYER_ETHERNET) C(IBV_SYSFS_NAME_MAX) \
    C(IBV_SYSFS_PATH_MAX) C(IBV_ADVISE_MR_ADVICE_PREFETCH) \
    C(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE) C(IBV_ADVISE_MR_FLAG_FLUSH) \
    F(struct ibv_ece, vendor_id) F(struct ibv_ece, options) S(struct ibv_flow_attr) \
    F(struct ibv_flow_attr, type) F(struct ibv_flow_attr, size) \
    F(struct ibv_flow_attr, priority) F(struct ibv_flow_attr, num_of_specs) \
    F(struct ibv_flow_attr, port) F(struct ibv_flow_attr, flags) S(struct ibv_flow_spec_eth) \
    F(struct ibv_flow_spec_eth, type) F(struct ibv_flow_spec_eth, size) \
    F(struct ibv_flow_spec_eth, val) F(struct ibv_flow_spec_eth, mask) \
    F(struct ibv_flow_eth_filter, dst_mac) F(struct ibv_flow_eth_filter, src_mac) \
    F(struct ibv_flow_eth_filter, ether_type) F(struct ibv_flow_eth_filter, vlan_tag) \
    S(struct ibv_flow_spec_ipv4_ext) F(struct ibv_flow_spec_ipv4_ext, val) \
    F(struct ibv_flow_spec_ipv4_ext, mask) F(struct ibv_flow_ipv4_ext_filter, src_ip) \
    F(struct ibv_flow_ipv4_ext_filter, dst_ip) S(struct ibv_flow_spec_ipv6) \
    F(struct ibv_flow_spec_ipv6, val) F(struct ibv_flow_spec_ipv6, mask) \
    F(struct ibv_flow_ipv6_filter, src_ip) F(struct ibv_flow_ipv6_filter, dst_ip) \
    S(struct ibv_flow_spec_tcp_udp) F(struct ibv_flow_spec_tcp_udp, val) \
    F(struct ibv_flow_spec_tcp_udp, mask) F(struct ibv_flow_tcp_udp_filter, dst_port) \
    F(struct ibv_flow_tcp_udp_filter, src_port) S(struct ibv_flow_spec_tunnel) \
    F(struct ibv_flow_spec_tunnel, val) F(struct ibv_flow_spec_tunnel, mask) \
    S(struct ibv_flow_spec_action_tag) F(struct ibv_flow_spec_action_tag, tag_id) \
    S(struct ibv_flow_spec_action_drop) C(IBV_FLOW_ATTR_NORMAL) C(IBV_FLOW_ATTR_ALL_DEFAULT) \
    C(IBV_FLOW_ATTR_MC_DEFAULT) C(IBV_FLOW_ATTR_SNIFFER) C(IBV_FLOW_ATTR_FLAGS_DONT_TRAP) \
    C(IBV_FLOW_ATTR_FLAGS_EGRESS) C(IBV_FLOW_SPEC_ETH) C(IBV_FLOW_SPEC_IPV4_EXT) \
    C(IBV_FLOW_SPEC_IPV6) C(IBV_FLOW_SPEC_TCP) C(IBV_FLOW_SPEC_UDP) \
    C(IBV_FLOW_SPEC_VXLAN_TUNNEL) C(IBV_FLOW_SPEC_ACTION_TAG) C(IBV_FLOW_SPEC_ACTION_DROP) \
    F(struct ibv_dm, handle) F(struct ibv_wq_init_attr, wq_type) \
    F(struct ibv_wq_init_attr, max_wr) F(struct ibv_wq_init_attr, max_sge) \
    F(struct ibv_wq_init_attr, pd) F(struct ibv_wq_init_attr, cq) \
    F(struct ibv_wq_attr, attr_mask) F(struct ibv_wq_attr, wq_state) F(struct ibv_wq, wq_num) \
    F(struct ibv_rwq_ind_table_init_attr, log_ind_tbl_size) \
    F(struct ibv_rwq_ind_table_init_attr, ind_tbl) F(struct ibv_qp_init_attr_ex, rwq_ind_tbl) \
    F(struct ibv_qp_init_attr_ex, rx_hash_conf.rx_hash_function) \
    F(struct ibv_qp_init_attr_ex, rx_hash_conf.rx_hash_key_len) \
    F(struct ibv_qp_init_attr_ex, rx_hash_conf.rx_hash_key) \
    F(struct ibv_qp_init_attr_ex, rx_hash_conf.rx_hash_fields_mask) C(IBV_WQT_RQ) \
    C(IBV_WQS_RESET) C(IBV_WQS_RDY) C(IBV_WQS_ERR) C(IBV_WQ_ATTR_STATE) \
    C(IBV_RX_HASH_FUNC_TOEPLITZ) C(IBV_RX_HASH_SRC_IPV4) C(IBV_RX_HASH_DST_IPV4) \
    C(IBV_RX_HASH_SRC_IPV6) C(IBV_RX_HASH_DST_IPV6) C(IBV_RX_HASH_SRC_PORT_TCP) \
    C(IBV_RX_HASH_DST_PORT_TCP) C(IBV_RX_HASH_SRC_PORT_UDP) C(IBV_RX_HASH_DST_PORT_UDP)
/* clang-format on */

#endif
