/* The header: layouts (assertion 1). The sizes and offsets expected are those of the
 * specification's tables. */
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
/* clang-format on */

static void layouts(void)
{
    gni_post_descriptor_t d;

    CHECK_EQ(4, sizeof(d.type));
    CHECK_EQ(4, sizeof(gni_return_t));
    CHECK_EQ(8, sizeof(gni_ep_handle_t));
    CHECK_EQ(8, sizeof(gni_cq_entry_t));
}

static const struct check_case cases[] = {
    {"1", "layouts", layouts},
};

int main(int argc, char **argv)
{
    return check_main(cases, sizeof(cases) / sizeof(*cases), argc, argv);
}
