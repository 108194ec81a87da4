/* The header: layouts, values, version (assertions 1 to 5). The values expected are those of the
 * specification's tables, and of its two formulas for atomic commands; header-check fails if the
 * header has a name that is not here. */
#include "check.h"
#include <stddef.h>

/* clang-format off */
_Static_assert(sizeof(gni_mem_handle_t) == 16, "gni_mem_handle_t");
_Static_assert(offsetof(gni_mem_handle_t, qword1) == 0, "gni_mem_handle_t.qword1");
_Static_assert(offsetof(gni_mem_handle_t, qword2) == 8, "gni_mem_handle_t.qword2");
_Static_assert(sizeof(gni_smsg_attr_t) == 56, "gni_smsg_attr_t");
_Static_assert(offsetof(gni_smsg_attr_t, msg_type) == 0, "gni_smsg_attr_t.msg_type");
_Static_assert(offsetof(gni_smsg_attr_t, msg_buffer) == 8, "gni_smsg_attr_t.msg_buffer");
_Static_assert(offsetof(gni_smsg_attr_t, buff_size) == 16, "gni_smsg_attr_t.buff_size");
_Static_assert(offsetof(gni_smsg_attr_t, mem_hndl) == 24, "gni_smsg_attr_t.mem_hndl");
_Static_assert(offsetof(gni_smsg_attr_t, mbox_offset) == 40, "gni_smsg_attr_t.mbox_offset");
_Static_assert(offsetof(gni_smsg_attr_t, mbox_maxcredit) == 44, "gni_smsg_attr_t.mbox_maxcredit");
_Static_assert(offsetof(gni_smsg_attr_t, msg_maxsize) == 48, "gni_smsg_attr_t.msg_maxsize");
_Static_assert(sizeof(gni_mem_segment_t) == 16, "gni_mem_segment_t");
_Static_assert(offsetof(gni_mem_segment_t, address) == 0, "gni_mem_segment_t.address");
_Static_assert(offsetof(gni_mem_segment_t, length) == 8, "gni_mem_segment_t.length");
_Static_assert(sizeof(gni_ntt_entry_t) == 12, "gni_ntt_entry_t");
_Static_assert(offsetof(gni_ntt_entry_t, blck_addr) == 0, "gni_ntt_entry_t.blck_addr");
_Static_assert(offsetof(gni_ntt_entry_t, rplc_addr) == 4, "gni_ntt_entry_t.rplc_addr");
_Static_assert(offsetof(gni_ntt_entry_t, rplc_size) == 8, "gni_ntt_entry_t.rplc_size");
_Static_assert(sizeof(gni_ntt_descriptor_t) == 24, "gni_ntt_descriptor_t");
_Static_assert(offsetof(gni_ntt_descriptor_t, group_size) == 0, "gni_ntt_descriptor_t.group_size");
_Static_assert(offsetof(gni_ntt_descriptor_t, granularity) == 4, "gni_ntt_descriptor_t.granularity");
_Static_assert(offsetof(gni_ntt_descriptor_t, u) == 8, "gni_ntt_descriptor_t.u");
_Static_assert(offsetof(gni_ntt_descriptor_t, flags) == 16, "gni_ntt_descriptor_t.flags");
_Static_assert(sizeof(gni_error_event_t) == 48, "gni_error_event_t");
_Static_assert(offsetof(gni_error_event_t, error_code) == 0, "gni_error_event_t.error_code");
_Static_assert(offsetof(gni_error_event_t, error_category) == 2, "gni_error_event_t.error_category");
_Static_assert(offsetof(gni_error_event_t, ptag) == 3, "gni_error_event_t.ptag");
_Static_assert(offsetof(gni_error_event_t, serial_number) == 4, "gni_error_event_t.serial_number");
_Static_assert(offsetof(gni_error_event_t, timestamp) == 8, "gni_error_event_t.timestamp");
_Static_assert(offsetof(gni_error_event_t, info_mmrs) == 16, "gni_error_event_t.info_mmrs");
_Static_assert(sizeof(gni_job_limits_t) == 36, "gni_job_limits_t");
_Static_assert(offsetof(gni_job_limits_t, mdd_limit) == 0, "gni_job_limits_t.mdd_limit");
_Static_assert(offsetof(gni_job_limits_t, a) == 4, "gni_job_limits_t.a");
_Static_assert(offsetof(gni_job_limits_t, b) == 8, "gni_job_limits_t.b");
_Static_assert(offsetof(gni_job_limits_t, fma_limit) == 12, "gni_job_limits_t.fma_limit");
_Static_assert(offsetof(gni_job_limits_t, bte_limit) == 16, "gni_job_limits_t.bte_limit");
_Static_assert(offsetof(gni_job_limits_t, cq_limit) == 20, "gni_job_limits_t.cq_limit");
_Static_assert(offsetof(gni_job_limits_t, ntt_ctrl) == 24, "gni_job_limits_t.ntt_ctrl");
_Static_assert(offsetof(gni_job_limits_t, ntt_base) == 28, "gni_job_limits_t.ntt_base");
_Static_assert(offsetof(gni_job_limits_t, ntt_size) == 32, "gni_job_limits_t.ntt_size");
_Static_assert(sizeof(gni_dev_res_desc_t) == 32, "gni_dev_res_desc_t");
_Static_assert(offsetof(gni_dev_res_desc_t, available) == 0, "gni_dev_res_desc_t.available");
_Static_assert(offsetof(gni_dev_res_desc_t, reserved) == 8, "gni_dev_res_desc_t.reserved");
_Static_assert(offsetof(gni_dev_res_desc_t, held) == 16, "gni_dev_res_desc_t.held");
_Static_assert(offsetof(gni_dev_res_desc_t, total) == 24, "gni_dev_res_desc_t.total");
_Static_assert(sizeof(gni_job_res_desc_t) == 16, "gni_job_res_desc_t");
_Static_assert(offsetof(gni_job_res_desc_t, used) == 0, "gni_job_res_desc_t.used");
_Static_assert(offsetof(gni_job_res_desc_t, limit) == 8, "gni_job_res_desc_t.limit");
_Static_assert(sizeof(gni_msgq_attr_t) == 28, "gni_msgq_attr_t");
_Static_assert(offsetof(gni_msgq_attr_t, max_msg_sz) == 0, "gni_msgq_attr_t.max_msg_sz");
_Static_assert(offsetof(gni_msgq_attr_t, smsg_q_sz) == 4, "gni_msgq_attr_t.smsg_q_sz");
_Static_assert(offsetof(gni_msgq_attr_t, rcv_pool_sz) == 8, "gni_msgq_attr_t.rcv_pool_sz");
_Static_assert(offsetof(gni_msgq_attr_t, num_msgq_eps) == 12, "gni_msgq_attr_t.num_msgq_eps");
_Static_assert(offsetof(gni_msgq_attr_t, nloc_insts) == 16, "gni_msgq_attr_t.nloc_insts");
_Static_assert(offsetof(gni_msgq_attr_t, modes) == 20, "gni_msgq_attr_t.modes");
_Static_assert(offsetof(gni_msgq_attr_t, rcv_cq_sz) == 24, "gni_msgq_attr_t.rcv_cq_sz");
_Static_assert(sizeof(gni_msgq_rem_inst_t) == 32, "gni_msgq_rem_inst_t");
_Static_assert(offsetof(gni_msgq_rem_inst_t, id) == 0, "gni_msgq_rem_inst_t.id");
_Static_assert(offsetof(gni_msgq_rem_inst_t, mdh) == 8, "gni_msgq_rem_inst_t.mdh");
_Static_assert(offsetof(gni_msgq_rem_inst_t, mdh_off) == 24, "gni_msgq_rem_inst_t.mdh_off");
_Static_assert(sizeof(gni_msgq_ep_attr_t) == 4112, "gni_msgq_ep_attr_t");
_Static_assert(offsetof(gni_msgq_ep_attr_t, pe_addr) == 0, "gni_msgq_ep_attr_t.pe_addr");
_Static_assert(offsetof(gni_msgq_ep_attr_t, max_msg_sz) == 4, "gni_msgq_ep_attr_t.max_msg_sz");
_Static_assert(offsetof(gni_msgq_ep_attr_t, smsg_q_sz) == 8, "gni_msgq_ep_attr_t.smsg_q_sz");
_Static_assert(offsetof(gni_msgq_ep_attr_t, num_insts) == 12, "gni_msgq_ep_attr_t.num_insts");
_Static_assert(offsetof(gni_msgq_ep_attr_t, insts) == 16, "gni_msgq_ep_attr_t.insts");
_Static_assert(sizeof(gni_version_info_t) == 176, "gni_version_info_t");
_Static_assert(offsetof(gni_version_info_t, ugni_version) == 0, "gni_version_info_t.ugni_version");
_Static_assert(offsetof(gni_version_info_t, ugni_svn_revision) == 4, "gni_version_info_t.ugni_svn_revision");
_Static_assert(offsetof(gni_version_info_t, ugni_build_string) == 8, "gni_version_info_t.ugni_build_string");
_Static_assert(offsetof(gni_version_info_t, kgni_version) == 88, "gni_version_info_t.kgni_version");
_Static_assert(offsetof(gni_version_info_t, kgni_svn_revision) == 92, "gni_version_info_t.kgni_svn_revision");
_Static_assert(offsetof(gni_version_info_t, kgni_build_string) == 96, "gni_version_info_t.kgni_build_string");
_Static_assert(sizeof(gni_bi_desc_t) == 16, "gni_bi_desc_t");
_Static_assert(offsetof(gni_bi_desc_t, current_bw) == 0, "gni_bi_desc_t.current_bw");
_Static_assert(offsetof(gni_bi_desc_t, current_aot_bw) == 2, "gni_bi_desc_t.current_aot_bw");
_Static_assert(offsetof(gni_bi_desc_t, current_norbs) == 4, "gni_bi_desc_t.current_norbs");
_Static_assert(offsetof(gni_bi_desc_t, flags) == 6, "gni_bi_desc_t.flags");
_Static_assert(offsetof(gni_bi_desc_t, sys_def_bw) == 8, "gni_bi_desc_t.sys_def_bw");
_Static_assert(offsetof(gni_bi_desc_t, sys_def_aot_bw) == 10, "gni_bi_desc_t.sys_def_aot_bw");
_Static_assert(offsetof(gni_bi_desc_t, cle_seqnum) == 12, "gni_bi_desc_t.cle_seqnum");
_Static_assert(offsetof(gni_bi_desc_t, hss_seqnum) == 14, "gni_bi_desc_t.hss_seqnum");
_Static_assert(sizeof(gni_ce_result_t) == 24, "gni_ce_result_t");
_Static_assert(offsetof(gni_ce_result_t, control) == 0, "gni_ce_result_t.control");
_Static_assert(offsetof(gni_ce_result_t, result1) == 8, "gni_ce_result_t.result1");
_Static_assert(offsetof(gni_ce_result_t, result2) == 16, "gni_ce_result_t.result2");
_Static_assert(sizeof(gni_post_descriptor_t) == 184, "gni_post_descriptor_t");
_Static_assert(offsetof(gni_post_descriptor_t, next_descr) == 0, "gni_post_descriptor_t.next_descr");
_Static_assert(offsetof(gni_post_descriptor_t, prev_descr) == 8, "gni_post_descriptor_t.prev_descr");
_Static_assert(offsetof(gni_post_descriptor_t, post_id) == 16, "gni_post_descriptor_t.post_id");
_Static_assert(offsetof(gni_post_descriptor_t, status) == 24, "gni_post_descriptor_t.status");
_Static_assert(offsetof(gni_post_descriptor_t, cq_mode_complete) == 32, "gni_post_descriptor_t.cq_mode_complete");
_Static_assert(offsetof(gni_post_descriptor_t, type) == 36, "gni_post_descriptor_t.type");
_Static_assert(offsetof(gni_post_descriptor_t, cq_mode) == 40, "gni_post_descriptor_t.cq_mode");
_Static_assert(offsetof(gni_post_descriptor_t, dlvr_mode) == 42, "gni_post_descriptor_t.dlvr_mode");
_Static_assert(offsetof(gni_post_descriptor_t, local_addr) == 48, "gni_post_descriptor_t.local_addr");
_Static_assert(offsetof(gni_post_descriptor_t, local_mem_hndl) == 56, "gni_post_descriptor_t.local_mem_hndl");
_Static_assert(offsetof(gni_post_descriptor_t, remote_addr) == 72, "gni_post_descriptor_t.remote_addr");
_Static_assert(offsetof(gni_post_descriptor_t, remote_mem_hndl) == 80, "gni_post_descriptor_t.remote_mem_hndl");
_Static_assert(offsetof(gni_post_descriptor_t, length) == 96, "gni_post_descriptor_t.length");
_Static_assert(offsetof(gni_post_descriptor_t, rdma_mode) == 104, "gni_post_descriptor_t.rdma_mode");
_Static_assert(offsetof(gni_post_descriptor_t, src_cq_hndl) == 112, "gni_post_descriptor_t.src_cq_hndl");
_Static_assert(offsetof(gni_post_descriptor_t, sync_flag_value) == 120, "gni_post_descriptor_t.sync_flag_value");
_Static_assert(offsetof(gni_post_descriptor_t, sync_flag_addr) == 128, "gni_post_descriptor_t.sync_flag_addr");
_Static_assert(offsetof(gni_post_descriptor_t, amo_cmd) == 136, "gni_post_descriptor_t.amo_cmd");
_Static_assert(offsetof(gni_post_descriptor_t, first_operand) == 144, "gni_post_descriptor_t.first_operand");
_Static_assert(offsetof(gni_post_descriptor_t, second_operand) == 152, "gni_post_descriptor_t.second_operand");
_Static_assert(offsetof(gni_post_descriptor_t, cqwrite_value) == 160, "gni_post_descriptor_t.cqwrite_value");
_Static_assert(offsetof(gni_post_descriptor_t, ce_cmd) == 168, "gni_post_descriptor_t.ce_cmd");
_Static_assert(offsetof(gni_post_descriptor_t, ce_mode) == 172, "gni_post_descriptor_t.ce_mode");
_Static_assert(offsetof(gni_post_descriptor_t, ce_red_id) == 176, "gni_post_descriptor_t.ce_red_id");
_Static_assert(sizeof(gni_ct_put_post_descriptor_t) == 56, "gni_ct_put_post_descriptor_t");
_Static_assert(offsetof(gni_ct_put_post_descriptor_t, next_descr) == 0, "gni_ct_put_post_descriptor_t.next_descr");
_Static_assert(offsetof(gni_ct_put_post_descriptor_t, ep_hndl) == 8, "gni_ct_put_post_descriptor_t.ep_hndl");
_Static_assert(offsetof(gni_ct_put_post_descriptor_t, length) == 16, "gni_ct_put_post_descriptor_t.length");
_Static_assert(offsetof(gni_ct_put_post_descriptor_t, remote_addr) == 24, "gni_ct_put_post_descriptor_t.remote_addr");
_Static_assert(offsetof(gni_ct_put_post_descriptor_t, remote_mem_hndl) == 32, "gni_ct_put_post_descriptor_t.remote_mem_hndl");
_Static_assert(offsetof(gni_ct_put_post_descriptor_t, local_addr) == 48, "gni_ct_put_post_descriptor_t.local_addr");
_Static_assert(sizeof(gni_ct_get_post_descriptor_t) == 72, "gni_ct_get_post_descriptor_t");
_Static_assert(offsetof(gni_ct_get_post_descriptor_t, local_addr) == 48, "gni_ct_get_post_descriptor_t.local_addr");
_Static_assert(offsetof(gni_ct_get_post_descriptor_t, local_mem_hndl) == 56, "gni_ct_get_post_descriptor_t.local_mem_hndl");
_Static_assert(sizeof(gni_ct_amo_post_descriptor_t) == 96, "gni_ct_amo_post_descriptor_t");
_Static_assert(offsetof(gni_ct_amo_post_descriptor_t, local_mem_hndl) == 56, "gni_ct_amo_post_descriptor_t.local_mem_hndl");
_Static_assert(offsetof(gni_ct_amo_post_descriptor_t, amo_cmd) == 72, "gni_ct_amo_post_descriptor_t.amo_cmd");
_Static_assert(offsetof(gni_ct_amo_post_descriptor_t, first_operand) == 80, "gni_ct_amo_post_descriptor_t.first_operand");
_Static_assert(offsetof(gni_ct_amo_post_descriptor_t, second_operand) == 88, "gni_ct_amo_post_descriptor_t.second_operand");
_Static_assert(sizeof(gni_ct_cqw_post_descriptor_t) == 40, "gni_ct_cqw_post_descriptor_t");
_Static_assert(offsetof(gni_ct_cqw_post_descriptor_t, next_descr) == 0, "gni_ct_cqw_post_descriptor_t.next_descr");
_Static_assert(offsetof(gni_ct_cqw_post_descriptor_t, ep_hndl) == 8, "gni_ct_cqw_post_descriptor_t.ep_hndl");
_Static_assert(offsetof(gni_ct_cqw_post_descriptor_t, remote_mem_hndl) == 16, "gni_ct_cqw_post_descriptor_t.remote_mem_hndl");
_Static_assert(offsetof(gni_ct_cqw_post_descriptor_t, cqwrite_value) == 32, "gni_ct_cqw_post_descriptor_t.cqwrite_value");
_Static_assert(sizeof(gni_ct_uni_post_descriptor_t) == 96, "gni_ct_uni_post_descriptor_t");
_Static_assert(offsetof(gni_ct_uni_post_descriptor_t, u) == 0, "gni_ct_uni_post_descriptor_t.u");

static const struct {
    const char *name;
    long long is, expected;
} values[] = {
    {"FMA_SMSG_MAX_RETRANS_DEFAULT", (long long)FMA_SMSG_MAX_RETRANS_DEFAULT, 10},
    {"GNI_BI_FLAG_APPLY_AFTER_THROTTLE", (long long)GNI_BI_FLAG_APPLY_AFTER_THROTTLE, 2},
    {"GNI_BI_FLAG_APPLY_NOW", (long long)GNI_BI_FLAG_APPLY_NOW, 1},
    {"GNI_BI_FLAG_USE_DEFAULT_SETTINGS", (long long)GNI_BI_FLAG_USE_DEFAULT_SETTINGS, 4},
    {"GNI_BI_FLAG_VALUE_IS_NUM_ORB_ENTRIES", (long long)GNI_BI_FLAG_VALUE_IS_NUM_ORB_ENTRIES, 8},
    {"GNI_BI_INJECT_BW_MAX", (long long)GNI_BI_INJECT_BW_MAX, 100},
    {"GNI_BI_INJECT_BW_MIN", (long long)GNI_BI_INJECT_BW_MIN, 0},
    {"GNI_BI_INJECT_ORB_MAX", (long long)GNI_BI_INJECT_ORB_MAX, 992},
    {"GNI_BI_INJECT_ORB_MIN", (long long)GNI_BI_INJECT_ORB_MIN, 0},
    {"GNI_CDM_MODE_BTE_SINGLE_CHANNEL", (long long)GNI_CDM_MODE_BTE_SINGLE_CHANNEL, 0x00000040},
    {"GNI_CDM_MODE_CACHED_AMO_ENABLED", (long long)GNI_CDM_MODE_CACHED_AMO_ENABLED, 0x00040000},
    {"GNI_CDM_MODE_CQ_NIC_LOCAL_PLACEMENT", (long long)GNI_CDM_MODE_CQ_NIC_LOCAL_PLACEMENT, 0x00080000},
    {"GNI_CDM_MODE_DLA_DISABLE_FORWARDING", (long long)GNI_CDM_MODE_DLA_DISABLE_FORWARDING, 0x00008000},
    {"GNI_CDM_MODE_DLA_ENABLE_FORWARDING", (long long)GNI_CDM_MODE_DLA_ENABLE_FORWARDING, 0x00004000},
    {"GNI_CDM_MODE_DUAL_EVENTS", (long long)GNI_CDM_MODE_DUAL_EVENTS, 0x00001000},
    {"GNI_CDM_MODE_ERR_ALL_KILL", (long long)GNI_CDM_MODE_ERR_ALL_KILL, 0x00000010},
    {"GNI_CDM_MODE_ERR_NO_KILL", (long long)GNI_CDM_MODE_ERR_NO_KILL, 0x00000008},
    {"GNI_CDM_MODE_FAST_DATAGRAM_POLL", (long long)GNI_CDM_MODE_FAST_DATAGRAM_POLL, 0x00000020},
    {"GNI_CDM_MODE_FLBTE_DISABLE", (long long)GNI_CDM_MODE_FLBTE_DISABLE, 0x00100000},
    {"GNI_CDM_MODE_FMA_DEDICATED", (long long)GNI_CDM_MODE_FMA_DEDICATED, 0x00010000},
    {"GNI_CDM_MODE_FMA_SHARED", (long long)GNI_CDM_MODE_FMA_SHARED, 0x00020000},
    {"GNI_CDM_MODE_FMA_SMALL_WINDOW", (long long)GNI_CDM_MODE_FMA_SMALL_WINDOW, 0x00200000},
    {"GNI_CDM_MODE_FORK_FULLCOPY", (long long)GNI_CDM_MODE_FORK_FULLCOPY, 0x00000002},
    {"GNI_CDM_MODE_FORK_NOCOPY", (long long)GNI_CDM_MODE_FORK_NOCOPY, 0x00000001},
    {"GNI_CDM_MODE_FORK_PARTCOPY", (long long)GNI_CDM_MODE_FORK_PARTCOPY, 0x00000004},
    {"GNI_CDM_MODE_MASK", (long long)GNI_CDM_MODE_MASK, 0x0FFFFFFF},
    {"GNI_CDM_MODE_MDD_DEDICATED", (long long)GNI_CDM_MODE_MDD_DEDICATED, 0x00000100},
    {"GNI_CDM_MODE_MDD_SHARED", (long long)GNI_CDM_MODE_MDD_SHARED, 0x00000200},
    {"GNI_CDM_MODE_PRIV_MASK", (long long)GNI_CDM_MODE_PRIV_MASK, 0xf0000000},
    {"GNI_CDM_MODE_PRIV_RESERVED_1", (long long)GNI_CDM_MODE_PRIV_RESERVED_1, 0x10000000},
    {"GNI_CDM_MODE_PRIV_RESERVED_2", (long long)GNI_CDM_MODE_PRIV_RESERVED_2, 0x20000000},
    {"GNI_CDM_MODE_PRIV_RESERVED_3", (long long)GNI_CDM_MODE_PRIV_RESERVED_3, 0x40000000},
    {"GNI_CDM_MODE_PRIV_RESERVED_4", (long long)GNI_CDM_MODE_PRIV_RESERVED_4, 0x80000000},
    {"GNI_CDM_MODE_USE_PCI_IOMMU", (long long)GNI_CDM_MODE_USE_PCI_IOMMU, 0x00000080},
    {"GNI_CEMODE_FPE_OFLOW", (long long)GNI_CEMODE_FPE_OFLOW, 0x04},
    {"GNI_CEMODE_FPE_OP_INVAL", (long long)GNI_CEMODE_FPE_OP_INVAL, 0x02},
    {"GNI_CEMODE_FPE_PRECISION", (long long)GNI_CEMODE_FPE_PRECISION, 0x10},
    {"GNI_CEMODE_FPE_UFLOW", (long long)GNI_CEMODE_FPE_UFLOW, 0x08},
    {"GNI_CEMODE_TWO_OP", (long long)GNI_CEMODE_TWO_OP, 0x01},
    {"GNI_CE_CHILD_PE", (long long)GNI_CE_CHILD_PE, 2},
    {"GNI_CE_CHILD_UNUSED", (long long)GNI_CE_CHILD_UNUSED, 0},
    {"GNI_CE_CHILD_VCE", (long long)GNI_CE_CHILD_VCE, 1},
    {"GNI_CE_FPE_OFLOW", (long long)GNI_CE_FPE_OFLOW, 2},
    {"GNI_CE_FPE_OP_INVAL", (long long)GNI_CE_FPE_OP_INVAL, 1},
    {"GNI_CE_FPE_PRECISION", (long long)GNI_CE_FPE_PRECISION, 8},
    {"GNI_CE_FPE_UFLOW", (long long)GNI_CE_FPE_UFLOW, 4},
    {"GNI_CE_MAX_CHILDREN", (long long)GNI_CE_MAX_CHILDREN, 32},
    {"GNI_CE_MODE_CQE_ONCOMP", (long long)GNI_CE_MODE_CQE_ONCOMP, 16},
    {"GNI_CE_MODE_CQE_ONERR", (long long)GNI_CE_MODE_CQE_ONERR, 0x40},
    {"GNI_CE_MODE_RC_ADAPT", (long long)GNI_CE_MODE_RC_ADAPT, 0x400},
    {"GNI_CE_MODE_RC_MIN_HASH", (long long)GNI_CE_MODE_RC_MIN_HASH, 0x100},
    {"GNI_CE_MODE_RC_MNON_HASH", (long long)GNI_CE_MODE_RC_MNON_HASH, 0x200},
    {"GNI_CE_MODE_RC_NMIN_HASH", (long long)GNI_CE_MODE_RC_NMIN_HASH, 128},
    {"GNI_CE_MODE_ROUND_DOWN", (long long)GNI_CE_MODE_ROUND_DOWN, 2},
    {"GNI_CE_MODE_ROUND_NEAR", (long long)GNI_CE_MODE_ROUND_NEAR, 4},
    {"GNI_CE_MODE_ROUND_UP", (long long)GNI_CE_MODE_ROUND_UP, 1},
    {"GNI_CE_MODE_ROUND_ZERO", (long long)GNI_CE_MODE_ROUND_ZERO, 8},
    {"GNI_CODE_REV", (long long)GNI_CODE_REV, 0x102},
    {"GNI_COOKIE_CBPS_MDD_MASK", (long long)GNI_COOKIE_CBPS_MDD_MASK, 7},
    {"GNI_COOKIE_CBPS_MDD_SHIFT", (long long)GNI_COOKIE_CBPS_MDD_SHIFT, 3},
    {"GNI_COOKIE_PKEY_MASK", (long long)GNI_COOKIE_PKEY_MASK, 0xffff},
    {"GNI_COOKIE_PKEY_SHIFT", (long long)GNI_COOKIE_PKEY_SHIFT, 16},
    {"GNI_CQMODE_DUAL_EVENTS", (long long)GNI_CQMODE_DUAL_EVENTS, 0x0003},
    {"GNI_CQMODE_GLOBAL_EVENT", (long long)GNI_CQMODE_GLOBAL_EVENT, 0x0002},
    {"GNI_CQMODE_LOCAL_EVENT", (long long)GNI_CQMODE_LOCAL_EVENT, 0x0001},
    {"GNI_CQMODE_REMOTE_EVENT", (long long)GNI_CQMODE_REMOTE_EVENT, 0x0004},
    {"GNI_CQMODE_SILENT", (long long)GNI_CQMODE_SILENT, 0x0000},
    {"GNI_CQ_BLOCKING", (long long)GNI_CQ_BLOCKING, 0x00000001},
    {"GNI_CQ_EMULATED", (long long)GNI_CQ_EMULATED, 0x00000002},
    {"GNI_CQ_EMULATED_INVALID", (long long)GNI_CQ_EMULATED_INVALID, 0x00000003},
    {"GNI_CQ_EVENT_TYPE_DMAPP", (long long)GNI_CQ_EVENT_TYPE_DMAPP, 2},
    {"GNI_CQ_EVENT_TYPE_MSGQ", (long long)GNI_CQ_EVENT_TYPE_MSGQ, 3},
    {"GNI_CQ_EVENT_TYPE_POST", (long long)GNI_CQ_EVENT_TYPE_POST, 0},
    {"GNI_CQ_EVENT_TYPE_SMSG", (long long)GNI_CQ_EVENT_TYPE_SMSG, 1},
    {"GNI_CQ_NOAUTOFILL", (long long)GNI_CQ_NOAUTOFILL, 0x00000010},
    {"GNI_CQ_NOBLOCK", (long long)GNI_CQ_NOBLOCK, 0x00000000},
    {"GNI_CQ_PHYS_PAGES", (long long)GNI_CQ_PHYS_PAGES, 0x00000004},
    {"GNI_CQ_UNMANAGED", (long long)GNI_CQ_UNMANAGED, 0x00000008},
    {"GNI_DATAGRAM_MAXSIZE", (long long)GNI_DATAGRAM_MAXSIZE, 128},
    {"GNI_DEVICE_ARIES", (long long)GNI_DEVICE_ARIES, 1},
    {"GNI_DEVICE_GEMINI", (long long)GNI_DEVICE_GEMINI, 0},
    {"GNI_DEVICE_LAST", (long long)GNI_DEVICE_LAST, 3},
    {"GNI_DEVICE_PISCES", (long long)GNI_DEVICE_PISCES, 2},
    {"GNI_DEV_RES_CE", (long long)GNI_DEV_RES_CE, 5},
    {"GNI_DEV_RES_CQ", (long long)GNI_DEV_RES_CQ, 3},
    {"GNI_DEV_RES_DLA", (long long)GNI_DEV_RES_DLA, 6},
    {"GNI_DEV_RES_DVA", (long long)GNI_DEV_RES_DVA, 8},
    {"GNI_DEV_RES_FIRST", (long long)GNI_DEV_RES_FIRST, 0},
    {"GNI_DEV_RES_FMA", (long long)GNI_DEV_RES_FMA, 4},
    {"GNI_DEV_RES_LAST", (long long)GNI_DEV_RES_LAST, 9},
    {"GNI_DEV_RES_MDD", (long long)GNI_DEV_RES_MDD, 1},
    {"GNI_DEV_RES_MRT", (long long)GNI_DEV_RES_MRT, 2},
    {"GNI_DEV_RES_TCR", (long long)GNI_DEV_RES_TCR, 7},
    {"GNI_DLVMODE_ADAPTIVE0", (long long)GNI_DLVMODE_ADAPTIVE0, 0x0000},
    {"GNI_DLVMODE_ADAPTIVE1", (long long)GNI_DLVMODE_ADAPTIVE1, 0x0020},
    {"GNI_DLVMODE_ADAPTIVE2", (long long)GNI_DLVMODE_ADAPTIVE2, 0x0040},
    {"GNI_DLVMODE_ADAPTIVE3", (long long)GNI_DLVMODE_ADAPTIVE3, 0x0080},
    {"GNI_DLVMODE_IN_ORDER", (long long)GNI_DLVMODE_IN_ORDER, 3},
    {"GNI_DLVMODE_MIN_HASH", (long long)GNI_DLVMODE_MIN_HASH, 0x0010},
    {"GNI_DLVMODE_MNON_HASH", (long long)GNI_DLVMODE_MNON_HASH, 0x0003},
    {"GNI_DLVMODE_NMIN_HASH", (long long)GNI_DLVMODE_NMIN_HASH, 0x0008},
    {"GNI_DLVMODE_NO_ADAPT", (long long)GNI_DLVMODE_NO_ADAPT, 0x0001},
    {"GNI_DLVMODE_NO_HASH", (long long)GNI_DLVMODE_NO_HASH, 0x0002},
    {"GNI_DLVMODE_NO_RADAPT", (long long)GNI_DLVMODE_NO_RADAPT, 0x0004},
    {"GNI_DLVMODE_ORDERED_TAIL", (long long)GNI_DLVMODE_ORDERED_TAIL, 0x0100},
    {"GNI_DLVMODE_PERFORMANCE", (long long)GNI_DLVMODE_PERFORMANCE, 0x0000},
    {"GNI_ERRMASK_ADDRESS_TRANSLATION", (long long)GNI_ERRMASK_ADDRESS_TRANSLATION, 8},
    {"GNI_ERRMASK_CORRECTABLE_MEMORY", (long long)GNI_ERRMASK_CORRECTABLE_MEMORY, 1},
    {"GNI_ERRMASK_CRITICAL", (long long)GNI_ERRMASK_CRITICAL, 2},
    {"GNI_ERRMASK_DIAG_ONLY", (long long)GNI_ERRMASK_DIAG_ONLY, 64},
    {"GNI_ERRMASK_INFORMATIONAL", (long long)GNI_ERRMASK_INFORMATIONAL, 32},
    {"GNI_ERRMASK_TRANSACTION", (long long)GNI_ERRMASK_TRANSACTION, 4},
    {"GNI_ERRMASK_TRANSIENT", (long long)GNI_ERRMASK_TRANSIENT, 16},
    {"GNI_ERRMASK_UNKNOWN_TRANSACTION", (long long)GNI_ERRMASK_UNKNOWN_TRANSACTION, 128},
    {"GNI_FIND_ALLOC_PTAG", (long long)GNI_FIND_ALLOC_PTAG, 255},
    {"GNI_FMA_ATOMIC2_AND", (long long)GNI_FMA_ATOMIC2_AND, 0x141},
    {"GNI_FMA_ATOMIC2_AND_C", (long long)GNI_FMA_ATOMIC2_AND_C, 0x161},
    {"GNI_FMA_ATOMIC2_AND_S", (long long)GNI_FMA_ATOMIC2_AND_S, 0x340},
    {"GNI_FMA_ATOMIC2_AND_SC", (long long)GNI_FMA_ATOMIC2_AND_SC, 0x360},
    {"GNI_FMA_ATOMIC2_AX", (long long)GNI_FMA_ATOMIC2_AX, 0x149},
    {"GNI_FMA_ATOMIC2_AX_C", (long long)GNI_FMA_ATOMIC2_AX_C, 0x169},
    {"GNI_FMA_ATOMIC2_AX_S", (long long)GNI_FMA_ATOMIC2_AX_S, 0x348},
    {"GNI_FMA_ATOMIC2_AX_SC", (long long)GNI_FMA_ATOMIC2_AX_SC, 0x368},
    {"GNI_FMA_ATOMIC2_CSWAP", (long long)GNI_FMA_ATOMIC2_CSWAP, 0x14b},
    {"GNI_FMA_ATOMIC2_CSWAP_C", (long long)GNI_FMA_ATOMIC2_CSWAP_C, 0x16b},
    {"GNI_FMA_ATOMIC2_CSWAP_S", (long long)GNI_FMA_ATOMIC2_CSWAP_S, 0x34a},
    {"GNI_FMA_ATOMIC2_CSWAP_SC", (long long)GNI_FMA_ATOMIC2_CSWAP_SC, 0x36a},
    {"GNI_FMA_ATOMIC2_FAND", (long long)GNI_FMA_ATOMIC2_FAND, 0x041},
    {"GNI_FMA_ATOMIC2_FAND_C", (long long)GNI_FMA_ATOMIC2_FAND_C, 0x061},
    {"GNI_FMA_ATOMIC2_FAND_S", (long long)GNI_FMA_ATOMIC2_FAND_S, 0x240},
    {"GNI_FMA_ATOMIC2_FAND_SC", (long long)GNI_FMA_ATOMIC2_FAND_SC, 0x260},
    {"GNI_FMA_ATOMIC2_FAX", (long long)GNI_FMA_ATOMIC2_FAX, 0x049},
    {"GNI_FMA_ATOMIC2_FAX_C", (long long)GNI_FMA_ATOMIC2_FAX_C, 0x069},
    {"GNI_FMA_ATOMIC2_FAX_S", (long long)GNI_FMA_ATOMIC2_FAX_S, 0x248},
    {"GNI_FMA_ATOMIC2_FAX_SC", (long long)GNI_FMA_ATOMIC2_FAX_SC, 0x268},
    {"GNI_FMA_ATOMIC2_FCSWAP", (long long)GNI_FMA_ATOMIC2_FCSWAP, 0x04b},
    {"GNI_FMA_ATOMIC2_FCSWAP_C", (long long)GNI_FMA_ATOMIC2_FCSWAP_C, 0x06b},
    {"GNI_FMA_ATOMIC2_FCSWAP_S", (long long)GNI_FMA_ATOMIC2_FCSWAP_S, 0x24a},
    {"GNI_FMA_ATOMIC2_FCSWAP_SC", (long long)GNI_FMA_ATOMIC2_FCSWAP_SC, 0x26a},
    {"GNI_FMA_ATOMIC2_FFPADD", (long long)GNI_FMA_ATOMIC2_FFPADD, 0x05d},
    {"GNI_FMA_ATOMIC2_FFPADD_C", (long long)GNI_FMA_ATOMIC2_FFPADD_C, 0x07d},
    {"GNI_FMA_ATOMIC2_FFPADD_S", (long long)GNI_FMA_ATOMIC2_FFPADD_S, 0x25c},
    {"GNI_FMA_ATOMIC2_FFPADD_SC", (long long)GNI_FMA_ATOMIC2_FFPADD_SC, 0x27c},
    {"GNI_FMA_ATOMIC2_FFPMAX", (long long)GNI_FMA_ATOMIC2_FFPMAX, 0x05b},
    {"GNI_FMA_ATOMIC2_FFPMAX_C", (long long)GNI_FMA_ATOMIC2_FFPMAX_C, 0x07b},
    {"GNI_FMA_ATOMIC2_FFPMAX_S", (long long)GNI_FMA_ATOMIC2_FFPMAX_S, 0x25a},
    {"GNI_FMA_ATOMIC2_FFPMAX_SC", (long long)GNI_FMA_ATOMIC2_FFPMAX_SC, 0x27a},
    {"GNI_FMA_ATOMIC2_FFPMIN", (long long)GNI_FMA_ATOMIC2_FFPMIN, 0x059},
    {"GNI_FMA_ATOMIC2_FFPMIN_C", (long long)GNI_FMA_ATOMIC2_FFPMIN_C, 0x079},
    {"GNI_FMA_ATOMIC2_FFPMIN_S", (long long)GNI_FMA_ATOMIC2_FFPMIN_S, 0x258},
    {"GNI_FMA_ATOMIC2_FFPMIN_SC", (long long)GNI_FMA_ATOMIC2_FFPMIN_SC, 0x278},
    {"GNI_FMA_ATOMIC2_FIADD", (long long)GNI_FMA_ATOMIC2_FIADD, 0x055},
    {"GNI_FMA_ATOMIC2_FIADD_C", (long long)GNI_FMA_ATOMIC2_FIADD_C, 0x075},
    {"GNI_FMA_ATOMIC2_FIADD_S", (long long)GNI_FMA_ATOMIC2_FIADD_S, 0x254},
    {"GNI_FMA_ATOMIC2_FIADD_SC", (long long)GNI_FMA_ATOMIC2_FIADD_SC, 0x274},
    {"GNI_FMA_ATOMIC2_FIMAX", (long long)GNI_FMA_ATOMIC2_FIMAX, 0x053},
    {"GNI_FMA_ATOMIC2_FIMAX_C", (long long)GNI_FMA_ATOMIC2_FIMAX_C, 0x073},
    {"GNI_FMA_ATOMIC2_FIMAX_S", (long long)GNI_FMA_ATOMIC2_FIMAX_S, 0x252},
    {"GNI_FMA_ATOMIC2_FIMAX_SC", (long long)GNI_FMA_ATOMIC2_FIMAX_SC, 0x272},
    {"GNI_FMA_ATOMIC2_FIMIN", (long long)GNI_FMA_ATOMIC2_FIMIN, 0x051},
    {"GNI_FMA_ATOMIC2_FIMIN_C", (long long)GNI_FMA_ATOMIC2_FIMIN_C, 0x071},
    {"GNI_FMA_ATOMIC2_FIMIN_S", (long long)GNI_FMA_ATOMIC2_FIMIN_S, 0x250},
    {"GNI_FMA_ATOMIC2_FIMIN_SC", (long long)GNI_FMA_ATOMIC2_FIMIN_SC, 0x270},
    {"GNI_FMA_ATOMIC2_FOR", (long long)GNI_FMA_ATOMIC2_FOR, 0x043},
    {"GNI_FMA_ATOMIC2_FOR_C", (long long)GNI_FMA_ATOMIC2_FOR_C, 0x063},
    {"GNI_FMA_ATOMIC2_FOR_S", (long long)GNI_FMA_ATOMIC2_FOR_S, 0x242},
    {"GNI_FMA_ATOMIC2_FOR_SC", (long long)GNI_FMA_ATOMIC2_FOR_SC, 0x262},
    {"GNI_FMA_ATOMIC2_FPADD", (long long)GNI_FMA_ATOMIC2_FPADD, 0x15d},
    {"GNI_FMA_ATOMIC2_FPADD_C", (long long)GNI_FMA_ATOMIC2_FPADD_C, 0x17d},
    {"GNI_FMA_ATOMIC2_FPADD_S", (long long)GNI_FMA_ATOMIC2_FPADD_S, 0x35c},
    {"GNI_FMA_ATOMIC2_FPADD_SC", (long long)GNI_FMA_ATOMIC2_FPADD_SC, 0x37c},
    {"GNI_FMA_ATOMIC2_FPMAX", (long long)GNI_FMA_ATOMIC2_FPMAX, 0x15b},
    {"GNI_FMA_ATOMIC2_FPMAX_C", (long long)GNI_FMA_ATOMIC2_FPMAX_C, 0x17b},
    {"GNI_FMA_ATOMIC2_FPMAX_S", (long long)GNI_FMA_ATOMIC2_FPMAX_S, 0x35a},
    {"GNI_FMA_ATOMIC2_FPMAX_SC", (long long)GNI_FMA_ATOMIC2_FPMAX_SC, 0x37a},
    {"GNI_FMA_ATOMIC2_FPMIN", (long long)GNI_FMA_ATOMIC2_FPMIN, 0x159},
    {"GNI_FMA_ATOMIC2_FPMIN_C", (long long)GNI_FMA_ATOMIC2_FPMIN_C, 0x179},
    {"GNI_FMA_ATOMIC2_FPMIN_S", (long long)GNI_FMA_ATOMIC2_FPMIN_S, 0x358},
    {"GNI_FMA_ATOMIC2_FPMIN_SC", (long long)GNI_FMA_ATOMIC2_FPMIN_SC, 0x378},
    {"GNI_FMA_ATOMIC2_FSWAP", (long long)GNI_FMA_ATOMIC2_FSWAP, 0x047},
    {"GNI_FMA_ATOMIC2_FSWAP_C", (long long)GNI_FMA_ATOMIC2_FSWAP_C, 0x067},
    {"GNI_FMA_ATOMIC2_FSWAP_S", (long long)GNI_FMA_ATOMIC2_FSWAP_S, 0x246},
    {"GNI_FMA_ATOMIC2_FSWAP_SC", (long long)GNI_FMA_ATOMIC2_FSWAP_SC, 0x266},
    {"GNI_FMA_ATOMIC2_FXOR", (long long)GNI_FMA_ATOMIC2_FXOR, 0x045},
    {"GNI_FMA_ATOMIC2_FXOR_C", (long long)GNI_FMA_ATOMIC2_FXOR_C, 0x065},
    {"GNI_FMA_ATOMIC2_FXOR_S", (long long)GNI_FMA_ATOMIC2_FXOR_S, 0x244},
    {"GNI_FMA_ATOMIC2_FXOR_SC", (long long)GNI_FMA_ATOMIC2_FXOR_SC, 0x264},
    {"GNI_FMA_ATOMIC2_IADD", (long long)GNI_FMA_ATOMIC2_IADD, 0x155},
    {"GNI_FMA_ATOMIC2_IADD_C", (long long)GNI_FMA_ATOMIC2_IADD_C, 0x175},
    {"GNI_FMA_ATOMIC2_IADD_S", (long long)GNI_FMA_ATOMIC2_IADD_S, 0x354},
    {"GNI_FMA_ATOMIC2_IADD_SC", (long long)GNI_FMA_ATOMIC2_IADD_SC, 0x374},
    {"GNI_FMA_ATOMIC2_IMAX", (long long)GNI_FMA_ATOMIC2_IMAX, 0x153},
    {"GNI_FMA_ATOMIC2_IMAX_C", (long long)GNI_FMA_ATOMIC2_IMAX_C, 0x173},
    {"GNI_FMA_ATOMIC2_IMAX_S", (long long)GNI_FMA_ATOMIC2_IMAX_S, 0x352},
    {"GNI_FMA_ATOMIC2_IMAX_SC", (long long)GNI_FMA_ATOMIC2_IMAX_SC, 0x372},
    {"GNI_FMA_ATOMIC2_IMIN", (long long)GNI_FMA_ATOMIC2_IMIN, 0x151},
    {"GNI_FMA_ATOMIC2_IMIN_C", (long long)GNI_FMA_ATOMIC2_IMIN_C, 0x171},
    {"GNI_FMA_ATOMIC2_IMIN_S", (long long)GNI_FMA_ATOMIC2_IMIN_S, 0x350},
    {"GNI_FMA_ATOMIC2_IMIN_SC", (long long)GNI_FMA_ATOMIC2_IMIN_SC, 0x370},
    {"GNI_FMA_ATOMIC2_OR", (long long)GNI_FMA_ATOMIC2_OR, 0x143},
    {"GNI_FMA_ATOMIC2_OR_C", (long long)GNI_FMA_ATOMIC2_OR_C, 0x163},
    {"GNI_FMA_ATOMIC2_OR_S", (long long)GNI_FMA_ATOMIC2_OR_S, 0x342},
    {"GNI_FMA_ATOMIC2_OR_SC", (long long)GNI_FMA_ATOMIC2_OR_SC, 0x362},
    {"GNI_FMA_ATOMIC2_SWAP", (long long)GNI_FMA_ATOMIC2_SWAP, 0x147},
    {"GNI_FMA_ATOMIC2_SWAP_C", (long long)GNI_FMA_ATOMIC2_SWAP_C, 0x167},
    {"GNI_FMA_ATOMIC2_SWAP_S", (long long)GNI_FMA_ATOMIC2_SWAP_S, 0x346},
    {"GNI_FMA_ATOMIC2_SWAP_SC", (long long)GNI_FMA_ATOMIC2_SWAP_SC, 0x366},
    {"GNI_FMA_ATOMIC2_XOR", (long long)GNI_FMA_ATOMIC2_XOR, 0x145},
    {"GNI_FMA_ATOMIC2_XOR_C", (long long)GNI_FMA_ATOMIC2_XOR_C, 0x165},
    {"GNI_FMA_ATOMIC2_XOR_S", (long long)GNI_FMA_ATOMIC2_XOR_S, 0x344},
    {"GNI_FMA_ATOMIC2_XOR_SC", (long long)GNI_FMA_ATOMIC2_XOR_SC, 0x364},
    {"GNI_FMA_ATOMIC_ADD", (long long)GNI_FMA_ATOMIC_ADD, 0x108},
    {"GNI_FMA_ATOMIC_ADD_C", (long long)GNI_FMA_ATOMIC_ADD_C, 0x118},
    {"GNI_FMA_ATOMIC_AND", (long long)GNI_FMA_ATOMIC_AND, 0x109},
    {"GNI_FMA_ATOMIC_AND_C", (long long)GNI_FMA_ATOMIC_AND_C, 0x119},
    {"GNI_FMA_ATOMIC_AX", (long long)GNI_FMA_ATOMIC_AX, 0x10c},
    {"GNI_FMA_ATOMIC_AX_C", (long long)GNI_FMA_ATOMIC_AX_C, 0x11c},
    {"GNI_FMA_ATOMIC_CSWAP", (long long)GNI_FMA_ATOMIC_CSWAP, 0x00d},
    {"GNI_FMA_ATOMIC_CSWAP_C", (long long)GNI_FMA_ATOMIC_CSWAP_C, 0x01d},
    {"GNI_FMA_ATOMIC_FADD", (long long)GNI_FMA_ATOMIC_FADD, 0x008},
    {"GNI_FMA_ATOMIC_FADD_C", (long long)GNI_FMA_ATOMIC_FADD_C, 0x018},
    {"GNI_FMA_ATOMIC_FAND", (long long)GNI_FMA_ATOMIC_FAND, 0x009},
    {"GNI_FMA_ATOMIC_FAND_C", (long long)GNI_FMA_ATOMIC_FAND_C, 0x019},
    {"GNI_FMA_ATOMIC_FAX", (long long)GNI_FMA_ATOMIC_FAX, 0x00c},
    {"GNI_FMA_ATOMIC_FAX_C", (long long)GNI_FMA_ATOMIC_FAX_C, 0x01c},
    {"GNI_FMA_ATOMIC_FOR", (long long)GNI_FMA_ATOMIC_FOR, 0x00a},
    {"GNI_FMA_ATOMIC_FOR_C", (long long)GNI_FMA_ATOMIC_FOR_C, 0x01a},
    {"GNI_FMA_ATOMIC_FXOR", (long long)GNI_FMA_ATOMIC_FXOR, 0x00b},
    {"GNI_FMA_ATOMIC_FXOR_C", (long long)GNI_FMA_ATOMIC_FXOR_C, 0x01b},
    {"GNI_FMA_ATOMIC_OR", (long long)GNI_FMA_ATOMIC_OR, 0x10a},
    {"GNI_FMA_ATOMIC_OR_C", (long long)GNI_FMA_ATOMIC_OR_C, 0x11a},
    {"GNI_FMA_ATOMIC_XOR", (long long)GNI_FMA_ATOMIC_XOR, 0x10b},
    {"GNI_FMA_ATOMIC_XOR_C", (long long)GNI_FMA_ATOMIC_XOR_C, 0x11b},
    {"GNI_FMA_CE_AND", (long long)GNI_FMA_CE_AND, 0x01},
    {"GNI_FMA_CE_AND_S", (long long)GNI_FMA_CE_AND_S, 0x00},
    {"GNI_FMA_CE_FPADD", (long long)GNI_FMA_CE_FPADD, 0x1d},
    {"GNI_FMA_CE_FPADD_S", (long long)GNI_FMA_CE_FPADD_S, 0x1c},
    {"GNI_FMA_CE_FPMAX_GIDX", (long long)GNI_FMA_CE_FPMAX_GIDX, 0x3b},
    {"GNI_FMA_CE_FPMAX_GIDX_S", (long long)GNI_FMA_CE_FPMAX_GIDX_S, 0x3a},
    {"GNI_FMA_CE_FPMAX_LIDX", (long long)GNI_FMA_CE_FPMAX_LIDX, 0x1b},
    {"GNI_FMA_CE_FPMAX_LIDX_S", (long long)GNI_FMA_CE_FPMAX_LIDX_S, 0x1a},
    {"GNI_FMA_CE_FPMIN_GIDX", (long long)GNI_FMA_CE_FPMIN_GIDX, 0x39},
    {"GNI_FMA_CE_FPMIN_GIDX_S", (long long)GNI_FMA_CE_FPMIN_GIDX_S, 0x38},
    {"GNI_FMA_CE_FPMIN_LIDX", (long long)GNI_FMA_CE_FPMIN_LIDX, 0x19},
    {"GNI_FMA_CE_FPMIN_LIDX_S", (long long)GNI_FMA_CE_FPMIN_LIDX_S, 0x18},
    {"GNI_FMA_CE_IADD", (long long)GNI_FMA_CE_IADD, 0x15},
    {"GNI_FMA_CE_IADD_S", (long long)GNI_FMA_CE_IADD_S, 0x14},
    {"GNI_FMA_CE_IMAX_GIDX", (long long)GNI_FMA_CE_IMAX_GIDX, 0x33},
    {"GNI_FMA_CE_IMAX_GIDX_S", (long long)GNI_FMA_CE_IMAX_GIDX_S, 0x32},
    {"GNI_FMA_CE_IMAX_LIDX", (long long)GNI_FMA_CE_IMAX_LIDX, 0x13},
    {"GNI_FMA_CE_IMAX_LIDX_S", (long long)GNI_FMA_CE_IMAX_LIDX_S, 0x12},
    {"GNI_FMA_CE_IMIN_GIDX", (long long)GNI_FMA_CE_IMIN_GIDX, 0x31},
    {"GNI_FMA_CE_IMIN_GIDX_S", (long long)GNI_FMA_CE_IMIN_GIDX_S, 0x30},
    {"GNI_FMA_CE_IMIN_LIDX", (long long)GNI_FMA_CE_IMIN_LIDX, 0x11},
    {"GNI_FMA_CE_IMIN_LIDX_S", (long long)GNI_FMA_CE_IMIN_LIDX_S, 0x10},
    {"GNI_FMA_CE_OR", (long long)GNI_FMA_CE_OR, 0x03},
    {"GNI_FMA_CE_OR_S", (long long)GNI_FMA_CE_OR_S, 0x02},
    {"GNI_FMA_CE_XOR", (long long)GNI_FMA_CE_XOR, 0x05},
    {"GNI_FMA_CE_XOR_S", (long long)GNI_FMA_CE_XOR_S, 0x04},
    {"GNI_FMA_FLAGGED_RESPONSE_SIZE", (long long)GNI_FMA_FLAGGED_RESPONSE_SIZE, 4},
    {"GNI_JOB_CTRL_ALL_CE_MASK", (long long)GNI_JOB_CTRL_ALL_CE_MASK, 15},
    {"GNI_JOB_CTRL_CE0_MASK", (long long)GNI_JOB_CTRL_CE0_MASK, 1},
    {"GNI_JOB_CTRL_CE1_MASK", (long long)GNI_JOB_CTRL_CE1_MASK, 2},
    {"GNI_JOB_CTRL_CE2_MASK", (long long)GNI_JOB_CTRL_CE2_MASK, 4},
    {"GNI_JOB_CTRL_CE3_MASK", (long long)GNI_JOB_CTRL_CE3_MASK, 8},
    {"GNI_JOB_CTRL_NTT_CLEANUP", (long long)GNI_JOB_CTRL_NTT_CLEANUP, 1},
    {"GNI_JOB_INVALID_LIMIT", (long long)GNI_JOB_INVALID_LIMIT, -1},
    {"GNI_JOB_RES_CE", (long long)GNI_JOB_RES_CE, 8},
    {"GNI_JOB_RES_CQ", (long long)GNI_JOB_RES_CQ, 5},
    {"GNI_JOB_RES_DIRECT", (long long)GNI_JOB_RES_DIRECT, 11},
    {"GNI_JOB_RES_DLA", (long long)GNI_JOB_RES_DLA, 9},
    {"GNI_JOB_RES_FIRST", (long long)GNI_JOB_RES_FIRST, 0},
    {"GNI_JOB_RES_FMA", (long long)GNI_JOB_RES_FMA, 6},
    {"GNI_JOB_RES_GART", (long long)GNI_JOB_RES_GART, 4},
    {"GNI_JOB_RES_IOMMU", (long long)GNI_JOB_RES_IOMMU, 3},
    {"GNI_JOB_RES_LAST", (long long)GNI_JOB_RES_LAST, 14},
    {"GNI_JOB_RES_MDD", (long long)GNI_JOB_RES_MDD, 1},
    {"GNI_JOB_RES_MRT", (long long)GNI_JOB_RES_MRT, 2},
    {"GNI_JOB_RES_NONVMDH", (long long)GNI_JOB_RES_NONVMDH, 13},
    {"GNI_JOB_RES_PCI_IOMMU", (long long)GNI_JOB_RES_PCI_IOMMU, 12},
    {"GNI_JOB_RES_RDMA", (long long)GNI_JOB_RES_RDMA, 7},
    {"GNI_JOB_RES_SFMA", (long long)GNI_JOB_RES_SFMA, 10},
    {"GNI_MAJOR_REV", (long long)GNI_MAJOR_REV, 0},
    {"GNI_MEMHNDL_ATTR_CLONE", (long long)GNI_MEMHNDL_ATTR_CLONE, 7},
    {"GNI_MEMHNDL_ATTR_GART", (long long)GNI_MEMHNDL_ATTR_GART, 4},
    {"GNI_MEMHNDL_ATTR_IOMMU", (long long)GNI_MEMHNDL_ATTR_IOMMU, 5},
    {"GNI_MEMHNDL_ATTR_MRT", (long long)GNI_MEMHNDL_ATTR_MRT, 3},
    {"GNI_MEMHNDL_ATTR_PCI_IOMMU", (long long)GNI_MEMHNDL_ATTR_PCI_IOMMU, 6},
    {"GNI_MEMHNDL_ATTR_READONLY", (long long)GNI_MEMHNDL_ATTR_READONLY, 1},
    {"GNI_MEMHNDL_ATTR_VMDH", (long long)GNI_MEMHNDL_ATTR_VMDH, 2},
    {"GNI_MEM_CUDA", (long long)GNI_MEM_CUDA, 0x01000000},
    {"GNI_MEM_MDD_CLONE", (long long)GNI_MEM_MDD_CLONE, 0x00000080},
    {"GNI_MEM_MDD_DEDICATED", (long long)GNI_MEM_MDD_DEDICATED, 0x00001000},
    {"GNI_MEM_MDD_SHARED", (long long)GNI_MEM_MDD_SHARED, 0x00000800},
    {"GNI_MEM_PHYS_CONT", (long long)GNI_MEM_PHYS_CONT, 0x00000008},
    {"GNI_MEM_PHYS_SEGMENTS", (long long)GNI_MEM_PHYS_SEGMENTS, 0x00000010},
    {"GNI_MEM_PI_FLUSH", (long long)GNI_MEM_PI_FLUSH, 0x00000040},
    {"GNI_MEM_PRIV_MASK", (long long)GNI_MEM_PRIV_MASK, 0x00F00000},
    {"GNI_MEM_PRIV_RESERVED_1", (long long)GNI_MEM_PRIV_RESERVED_1, 0x00100000},
    {"GNI_MEM_PRIV_RESERVED_2", (long long)GNI_MEM_PRIV_RESERVED_2, 0x00200000},
    {"GNI_MEM_PRIV_RESERVED_3", (long long)GNI_MEM_PRIV_RESERVED_3, 0x00400000},
    {"GNI_MEM_PRIV_RESERVED_4", (long long)GNI_MEM_PRIV_RESERVED_4, 0x00800000},
    {"GNI_MEM_READWRITE", (long long)GNI_MEM_READWRITE, 0x00000000},
    {"GNI_MEM_READ_ONLY", (long long)GNI_MEM_READ_ONLY, 0x00000001},
    {"GNI_MEM_RELAXED_PI_ORDERING", (long long)GNI_MEM_RELAXED_PI_ORDERING, 0x00000100},
    {"GNI_MEM_RESERVE_REGION", (long long)GNI_MEM_RESERVE_REGION, 0x00000200},
    {"GNI_MEM_STRICT_PI_ORDERING", (long long)GNI_MEM_STRICT_PI_ORDERING, 0x00000020},
    {"GNI_MEM_UPDATE_REGION", (long long)GNI_MEM_UPDATE_REGION, 0x00000400},
    {"GNI_MEM_USE_GART", (long long)GNI_MEM_USE_GART, 0x00000004},
    {"GNI_MEM_USE_VMDH", (long long)GNI_MEM_USE_VMDH, 0x00000002},
    {"GNI_MINOR_REV", (long long)GNI_MINOR_REV, 93},
    {"GNI_MSGQ_MODE_BLOCKING", (long long)GNI_MSGQ_MODE_BLOCKING, 1},
    {"GNI_MSGQ_MSG_SZ_MAX", (long long)GNI_MSGQ_MSG_SZ_MAX, 128},
    {"GNI_MSGQ_NODE_INSTS_MAX", (long long)GNI_MSGQ_NODE_INSTS_MAX, 128},
    {"GNI_NUM_STATS", (long long)GNI_NUM_STATS, 8},
    {"GNI_PKEY_HSNBOOT", (long long)GNI_PKEY_HSNBOOT, 65408},
    {"GNI_PKEY_INVALID", (long long)GNI_PKEY_INVALID, 0},
    {"GNI_PKEY_LB", (long long)GNI_PKEY_LB, 65535},
    {"GNI_PKEY_LND", (long long)GNI_PKEY_LND, 1},
    {"GNI_PKEY_MAX", (long long)GNI_PKEY_MAX, 65534},
    {"GNI_PKEY_OFED", (long long)GNI_PKEY_OFED, 2},
    {"GNI_PKEY_USER_END", (long long)GNI_PKEY_USER_END, 65407},
    {"GNI_PKEY_USER_START", (long long)GNI_PKEY_USER_START, 128},
    {"GNI_POST_AMO", (long long)GNI_POST_AMO, 6},
    {"GNI_POST_AMO_W_FLAG", (long long)GNI_POST_AMO_W_FLAG, 10},
    {"GNI_POST_CE", (long long)GNI_POST_CE, 8},
    {"GNI_POST_COMPLETED", (long long)GNI_POST_COMPLETED, 1},
    {"GNI_POST_CQWRITE", (long long)GNI_POST_CQWRITE, 7},
    {"GNI_POST_ERROR", (long long)GNI_POST_ERROR, 2},
    {"GNI_POST_FMA_GET", (long long)GNI_POST_FMA_GET, 5},
    {"GNI_POST_FMA_GET_W_FLAG", (long long)GNI_POST_FMA_GET_W_FLAG, 9},
    {"GNI_POST_FMA_PUT", (long long)GNI_POST_FMA_PUT, 3},
    {"GNI_POST_FMA_PUT_W_SYNCFLAG", (long long)GNI_POST_FMA_PUT_W_SYNCFLAG, 4},
    {"GNI_POST_PENDING", (long long)GNI_POST_PENDING, 0},
    {"GNI_POST_RDMA_GET", (long long)GNI_POST_RDMA_GET, 2},
    {"GNI_POST_RDMA_PUT", (long long)GNI_POST_RDMA_PUT, 1},
    {"GNI_POST_REMOTE_DATA", (long long)GNI_POST_REMOTE_DATA, 5},
    {"GNI_POST_TERMINATED", (long long)GNI_POST_TERMINATED, 4},
    {"GNI_POST_TIMEOUT", (long long)GNI_POST_TIMEOUT, 3},
    {"GNI_PTAG_HSNBOOT", (long long)GNI_PTAG_HSNBOOT, 254},
    {"GNI_PTAG_LB", (long long)GNI_PTAG_LB, 255},
    {"GNI_PTAG_LND", (long long)GNI_PTAG_LND, 1},
    {"GNI_PTAG_LND_KNC", (long long)GNI_PTAG_LND_KNC, 128},
    {"GNI_PTAG_MAX", (long long)GNI_PTAG_MAX, 254},
    {"GNI_PTAG_OFED", (long long)GNI_PTAG_OFED, 2},
    {"GNI_PTAG_USER_END", (long long)GNI_PTAG_USER_END, 253},
    {"GNI_PTAG_USER_START", (long long)GNI_PTAG_USER_START, 3},
    {"GNI_RC_ALIGNMENT_ERROR", (long long)GNI_RC_ALIGNMENT_ERROR, 7},
    {"GNI_RC_DESCRIPTOR_ERROR", (long long)GNI_RC_DESCRIPTOR_ERROR, 6},
    {"GNI_RC_ERROR_NOMEM", (long long)GNI_RC_ERROR_NOMEM, 13},
    {"GNI_RC_ERROR_RESOURCE", (long long)GNI_RC_ERROR_RESOURCE, 3},
    {"GNI_RC_ILLEGAL_OP", (long long)GNI_RC_ILLEGAL_OP, 12},
    {"GNI_RC_INVALID_PARAM", (long long)GNI_RC_INVALID_PARAM, 2},
    {"GNI_RC_INVALID_STATE", (long long)GNI_RC_INVALID_STATE, 8},
    {"GNI_RC_NOT_DONE", (long long)GNI_RC_NOT_DONE, 1},
    {"GNI_RC_NO_MATCH", (long long)GNI_RC_NO_MATCH, 9},
    {"GNI_RC_PERMISSION_ERROR", (long long)GNI_RC_PERMISSION_ERROR, 5},
    {"GNI_RC_SIZE_ERROR", (long long)GNI_RC_SIZE_ERROR, 10},
    {"GNI_RC_SUCCESS", (long long)GNI_RC_SUCCESS, 0},
    {"GNI_RC_TIMEOUT", (long long)GNI_RC_TIMEOUT, 4},
    {"GNI_RC_TRANSACTION_ERROR", (long long)GNI_RC_TRANSACTION_ERROR, 11},
    {"GNI_RDMAMODE_FENCE", (long long)GNI_RDMAMODE_FENCE, 0x0002},
    {"GNI_RDMAMODE_GETWC_DIS", (long long)GNI_RDMAMODE_GETWC_DIS, 0x0004},
    {"GNI_RDMAMODE_PHYS_ADDR", (long long)GNI_RDMAMODE_PHYS_ADDR, 0x0001},
    {"GNI_SMSG_ANY_TAG", (long long)GNI_SMSG_ANY_TAG, 0xFF},
    {"GNI_SMSG_MAX_SIZE", (long long)GNI_SMSG_MAX_SIZE, 65535},
    {"GNI_SMSG_TYPE_INVALID", (long long)GNI_SMSG_TYPE_INVALID, 0},
    {"GNI_SMSG_TYPE_MBOX", (long long)GNI_SMSG_TYPE_MBOX, 1},
    {"GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT", (long long)GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT, 2},
    {"GNI_STAT_MR_MULTI_PAGESIZE", (long long)GNI_STAT_MR_MULTI_PAGESIZE, 7},
    {"GNI_STAT_SMSG_BUFF_CREDITS_STALL", (long long)GNI_STAT_SMSG_BUFF_CREDITS_STALL, 0},
    {"GNI_STAT_SMSG_DLA_STALL", (long long)GNI_STAT_SMSG_DLA_STALL, 1},
    {"GNI_STAT_SMSG_MBOX_CREDITS_STALL", (long long)GNI_STAT_SMSG_MBOX_CREDITS_STALL, 2},
    {"GNI_STAT_SMSG_REQ_STALL", (long long)GNI_STAT_SMSG_REQ_STALL, 3},
    {"GNI_STAT_SMSG_RETRANS_COUNT", (long long)GNI_STAT_SMSG_RETRANS_COUNT, 4},
    {"GNI_STAT_SMSG_RETRANS_DLA_COUNT", (long long)GNI_STAT_SMSG_RETRANS_DLA_COUNT, 5},
    {"GNI_STAT_SMSG_RETRANS_STALL", (long long)GNI_STAT_SMSG_RETRANS_STALL, 6},
    {"GNI_VERSION", (long long)GNI_VERSION, 0x005d0102},
    {"GNI_VERSION_FMA_CHAIN_TRANSACTIONS", (long long)GNI_VERSION_FMA_CHAIN_TRANSACTIONS, 0x5d0000},
    {"GNI_VERSION_FMA_SHARING", (long long)GNI_VERSION_FMA_SHARING, 0x5b0000},
    {"MAX_BUILD_STRING_LENGTH", (long long)MAX_BUILD_STRING_LENGTH, 80},
};
/* clang-format on */

static void layouts(void)
{
    gni_post_descriptor_t d;

    CHECK_EQ(4, sizeof(d.type));
    CHECK_EQ(4, sizeof(gni_return_t));
    CHECK_EQ(8, sizeof(gni_ep_handle_t));
    CHECK_EQ(8, sizeof(gni_cq_entry_t));
}

static void every_value(void)
{
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        if (values[i].is != values[i].expected)
            check_fail(__FILE__, __LINE__, "%s is %lld, not %lld", values[i].name, values[i].is,
                       values[i].expected);
}

static void macros(void)
{
    gni_cq_entry_t e = 0;

    CHECK_EQ(0x12340028u, GNI_JOB_CREATE_COOKIE(0x1234, 5));
    CHECK_EQ(0x81, GNI_EXMEM_FLAGS(0x81000000u));
    CHECK(GNI_MEM_IS_EXTERNAL(GNI_MEM_CUDA) && !GNI_MEM_IS_EXTERNAL(GNI_MEM_READ_ONLY));
    CHECK_EQ(0x12345678, GNI_VERSION_CHECK(0x12, 0x34, 0x5678));
    CHECK(GNI_CQ_STATUS_OK(e));
    CHECK(GNI_CE_RES_GET_STATUS == gni_ce_res_get_status);
    CHECK(GNI_CE_RES_STATUS_OK == gni_ce_res_status_ok);
    CHECK(GNI_CE_RES_GET_FPE == gni_ce_res_get_fpe);
    CHECK(GNI_CE_RES_GET_RED_ID == gni_ce_res_get_red_id);
    for (unsigned mode = 0; mode < 16; mode++) {
        CHECK_EQ((mode & 1) != 0, !!GNI_CQ_IS_BLOCKING(mode));
        CHECK_EQ((mode & 1) == 0, !!GNI_CQ_IS_NON_BLOCKING(mode));
        CHECK_EQ((mode & 2) != 0, !!GNI_CQ_IS_EMULATED(mode));
        CHECK_EQ((mode & 2) == 0, !!GNI_CQ_IS_NOT_EMULATED(mode));
        CHECK_EQ((mode & 3) == 3, !!GNI_CQ_IS_INVALID_EMULATED(mode));
        CHECK_EQ((mode & 4) != 0, !!GNI_CQ_USE_PHYS_PAGES(mode));
    }
}

static void version(void)
{
    CHECK_EQ(0x005d0102, GNI_VERSION);
    CHECK_EQ(0x5d, GNI_GET_MINOR(GNI_VERSION));
    CHECK_EQ(0, GNI_GET_MAJOR(GNI_VERSION));
    CHECK_EQ(0x0102, GNI_GET_REV(GNI_VERSION));
}

static void error_names(void)
{
    for (int i = 0; i <= 13; i++)
        CHECK(gni_err_str[i] != NULL && gni_err_str[i][0] != '\0');
    CHECK(strcmp(gni_err_str[GNI_RC_TRANSACTION_ERROR], "GNI_RC_TRANSACTION_ERROR") == 0);
}

static const struct check_case cases[] = {
    {"1", "layouts", layouts},        {"2", "every_value", every_value}, {"2", "macros", macros},
    {"4", "header_version", version}, {"5", "error_names", error_names},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
