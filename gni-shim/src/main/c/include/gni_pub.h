/*
 * uGNI for programs written for Cray's Gemini and Aries networks, over a network card in software.
 * Names, values and layouts are those of the interface's revision 0x5d on x86-64; what each call
 * means here is in docs/ugni.md. Plain C89 with stdint.h; also C++.
 */
#ifndef _GNI_PUB_H_
#define _GNI_PUB_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* clang-format off */

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef INOUT
#define INOUT
#endif

/* ---- version ---- */

#define GNI_MAJOR_REV 0x00
#define GNI_MINOR_REV 0x5d
#define GNI_CODE_REV 0x0102
#define GNI_GET_MAJOR(value) (((value) >> 24) & 0xFF)
#define GNI_GET_MINOR(value) (((value) >> 16) & 0xFF)
#define GNI_GET_REV(value) ((value) & 0xFFFF)
#define GNI_VERSION_CHECK(major, minor, code) (((major) << 24) | ((minor) << 16) | (code))
#define GNI_VERSION GNI_VERSION_CHECK(GNI_MAJOR_REV, GNI_MINOR_REV, GNI_CODE_REV)
#define GNI_VERSION_FMA_SHARING 0x5b0000
#define GNI_VERSION_FMA_CHAIN_TRANSACTIONS 0x5d0000

#include "gni_pub_values.h"
#include "gni_pub_commands.h"

/* ---- structures ---- */

typedef struct gni_mem_handle {
    uint64_t qword1;
    uint64_t qword2;
} gni_mem_handle_t;

typedef struct gni_mem_segment {
    uint64_t address;
    uint64_t length;
} gni_mem_segment_t;

typedef struct gni_smsg_attr {
    gni_smsg_type_t msg_type;
    void *msg_buffer;
    uint32_t buff_size;
    gni_mem_handle_t mem_hndl;
    uint32_t mbox_offset;     /* of this mailbox from msg_buffer, bytes */
    uint16_t mbox_maxcredit;  /* messages under way */
    uint32_t msg_maxsize;     /* bytes of header and data */
} gni_smsg_attr_t;

typedef struct gni_ntt_entry {
    uint32_t blck_addr;
    uint32_t rplc_addr;
    uint8_t rplc_size;
} gni_ntt_entry_t;

typedef struct gni_ntt_descriptor {
    uint32_t group_size;
    uint8_t granularity;
    union {
        uint32_t *table;
        gni_ntt_entry_t *table_v2;
    } u;
    uint8_t flags;
} gni_ntt_descriptor_t;

typedef struct gni_error_event {
    uint16_t error_code;
    uint8_t error_category;
    uint8_t ptag;
    uint32_t serial_number;
    uint64_t timestamp;
    uint64_t info_mmrs[4];
} gni_error_event_t;

typedef struct gni_job_limits {
    int32_t mdd_limit;
    union {
        int32_t mrt_limit;
        struct {
            uint8_t ce_limit;
            uint8_t iommu_limit;
            uint8_t res_byte2;
            uint8_t res_byte3;
        } m;
    } a;
    union {
        int32_t gart_limit;
        int32_t dla_limit;
    } b;
    int32_t fma_limit;
    int32_t bte_limit;
    int32_t cq_limit;
    int32_t ntt_ctrl;
    int32_t ntt_base;
    int32_t ntt_size;
} gni_job_limits_t;

typedef struct gni_dev_res_desc {
    uint64_t available;
    uint64_t reserved;
    uint64_t held;
    uint64_t total;
} gni_dev_res_desc_t;

typedef struct gni_job_res_desc {
    uint64_t used;
    uint64_t limit;
} gni_job_res_desc_t;

typedef struct gni_msgq_attr {
    uint32_t max_msg_sz;
    uint32_t smsg_q_sz;
    uint32_t rcv_pool_sz;
    uint32_t num_msgq_eps;
    uint32_t nloc_insts;
    uint8_t modes;
    uint32_t rcv_cq_sz;
} gni_msgq_attr_t;

typedef struct gni_msgq_rem_inst {
    uint32_t id;
    gni_mem_handle_t mdh;
    uint64_t mdh_off;
} gni_msgq_rem_inst_t;

typedef struct gni_msgq_ep_attr {
    uint32_t pe_addr;
    uint32_t max_msg_sz;
    uint32_t smsg_q_sz;
    uint32_t num_insts;
    gni_msgq_rem_inst_t insts[GNI_MSGQ_NODE_INSTS_MAX];
} gni_msgq_ep_attr_t;

typedef struct gni_version_info {
    uint32_t ugni_version;
    uint32_t ugni_svn_revision;
    char ugni_build_string[MAX_BUILD_STRING_LENGTH];
    uint32_t kgni_version;
    uint32_t kgni_svn_revision;
    char kgni_build_string[MAX_BUILD_STRING_LENGTH];
} gni_version_info_t;

typedef struct gni_bi_desc {
    uint16_t current_bw;
    uint16_t current_aot_bw;
    uint16_t current_norbs;
    uint16_t flags;
    uint16_t sys_def_bw;
    uint16_t sys_def_aot_bw;
    uint16_t cle_seqnum;
    uint16_t hss_seqnum;
} gni_bi_desc_t;

/* To be aligned to 32 bytes by whoever uses it. */
typedef struct gni_ce_result {
    uint64_t control;
    uint64_t result1;
    uint64_t result2;
} gni_ce_result_t;

/* One transaction. It belongs to the library until its last event was fetched. */
typedef struct gni_post_descriptor {
    void *next_descr;
    void *prev_descr;
    uint64_t post_id;
    uint64_t status;
    uint16_t cq_mode_complete;
    gni_post_type_t type;
    uint16_t cq_mode;
    uint16_t dlvr_mode;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t length;
    uint16_t rdma_mode;
    gni_cq_handle_t src_cq_hndl;
    uint64_t sync_flag_value;
    uint64_t sync_flag_addr;
    gni_fma_cmd_type_t amo_cmd;
    uint64_t first_operand;
    uint64_t second_operand;
    uint64_t cqwrite_value;
    gni_ce_cmd_type_t ce_cmd;
    uint32_t ce_mode;
    uint64_t ce_red_id;
} gni_post_descriptor_t;

typedef struct gni_ct_put_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
} gni_ct_put_post_descriptor_t;

typedef struct gni_ct_get_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
} gni_ct_get_post_descriptor_t;

typedef struct gni_ct_amo_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    uint64_t length;
    uint64_t remote_addr;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t local_addr;
    gni_mem_handle_t local_mem_hndl;
    gni_fma_cmd_type_t amo_cmd;
    uint64_t first_operand;
    uint64_t second_operand;
} gni_ct_amo_post_descriptor_t;

typedef struct gni_ct_cqw_post_descriptor {
    void *next_descr;
    gni_ep_handle_t ep_hndl;
    gni_mem_handle_t remote_mem_hndl;
    uint64_t cqwrite_value;
} gni_ct_cqw_post_descriptor_t;

typedef struct gni_ct_uni_post_descriptor {
    union {
        gni_ct_put_post_descriptor_t put;
        gni_ct_get_post_descriptor_t get;
        gni_ct_amo_post_descriptor_t amo;
        gni_ct_cqw_post_descriptor_t cqw;
    } u;
} gni_ct_uni_post_descriptor_t;

/* ---- completion queue entries ---- */

#ifndef GNI_INLINE_CQ_FUNCTIONS
uint64_t gni_cq_get_data(gni_cq_entry_t entry);
uint64_t gni_cq_get_source(gni_cq_entry_t entry);
uint64_t gni_cq_get_status(gni_cq_entry_t entry);
uint64_t gni_cq_get_info(gni_cq_entry_t entry);
uint64_t gni_cq_overrun(gni_cq_entry_t entry);
uint64_t gni_cq_rem_overrun(gni_cq_entry_t entry);
uint64_t gni_cq_get_inst_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_rem_inst_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_tid(gni_cq_entry_t entry);
uint64_t gni_cq_get_msg_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_type(gni_cq_entry_t entry);
uint64_t gni_cq_get_block_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_unsuccessful_cnt(gni_cq_entry_t entry);
uint64_t gni_cq_get_marker_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_failed_enqueue_cnt(gni_cq_entry_t entry);
uint64_t gni_cq_get_ce_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_reductn_id(gni_cq_entry_t entry);
uint64_t gni_cq_get_trans_type(gni_cq_entry_t entry);
unsigned gni_cq_status_dla_overflow(gni_cq_entry_t entry);
unsigned gni_cq_bte_enq_status(gni_cq_entry_t entry);
void gni_cq_set_inst_id(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_set_rem_inst_id(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_set_tid(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_set_msg_id(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_set_type(gni_cq_entry_t *entry, uint64_t value);
void gni_cq_clr_status(gni_cq_entry_t *entry);
#endif

#define GNI_CQ_GET_DATA gni_cq_get_data
#define GNI_CQ_GET_SOURCE gni_cq_get_source
#define GNI_CQ_GET_STATUS gni_cq_get_status
#define GNI_CQ_GET_INFO gni_cq_get_info
#define GNI_CQ_OVERRUN gni_cq_overrun
#define GNI_CQ_REM_OVERRUN gni_cq_rem_overrun
#define GNI_CQ_GET_INST_ID gni_cq_get_inst_id
#define GNI_CQ_GET_REM_INST_ID gni_cq_get_rem_inst_id
#define GNI_CQ_GET_TID gni_cq_get_tid
#define GNI_CQ_GET_MSG_ID gni_cq_get_msg_id
#define GNI_CQ_GET_TYPE gni_cq_get_type
#define GNI_CQ_GET_BLOCK_ID gni_cq_get_block_id
#define GNI_CQ_GET_UNSUCCESSFUL_CNT gni_cq_get_unsuccessful_cnt
#define GNI_CQ_GET_MARKER_ID gni_cq_get_marker_id
#define GNI_CQ_GET_FAILED_ENQUEUE_CNT gni_cq_get_failed_enqueue_cnt
#define GNI_CQ_GET_CE_ID gni_cq_get_ce_id
#define GNI_CQ_GET_REDUCTN_ID gni_cq_get_reductn_id
#define GNI_CQ_GET_TRANS_TYPE gni_cq_get_trans_type
#define GNI_CQ_STATUS_DLA_OVERFLOW(entry) gni_cq_status_dla_overflow(entry)
#define GNI_CQ_BTE_ENQ_STATUS(entry) gni_cq_bte_enq_status(entry)
#define GNI_CQ_STATUS_OK(entry) (gni_cq_get_status(entry) == 0)
#define GNI_CQ_SET_INST_ID(entry, value) gni_cq_set_inst_id(&(entry), value)
#define GNI_CQ_SET_REM_INST_ID(entry, value) gni_cq_set_rem_inst_id(&(entry), value)
#define GNI_CQ_SET_TID(entry, value) gni_cq_set_tid(&(entry), value)
#define GNI_CQ_SET_MSG_ID(entry, value) gni_cq_set_msg_id(&(entry), value)
#define GNI_CQ_SET_TYPE(entry, value) gni_cq_set_type(&(entry), value)
#define GNI_CQ_CLR_STATUS(entry) gni_cq_clr_status(&(entry))

uint64_t gni_ce_res_get_status(gni_ce_result_t *result);
uint64_t gni_ce_res_status_ok(gni_ce_result_t *result);
uint64_t gni_ce_res_get_fpe(gni_ce_result_t *result);
uint64_t gni_ce_res_get_red_id(gni_ce_result_t *result);
#define GNI_CE_RES_GET_STATUS gni_ce_res_get_status
#define GNI_CE_RES_STATUS_OK gni_ce_res_status_ok
#define GNI_CE_RES_GET_FPE gni_ce_res_get_fpe
#define GNI_CE_RES_GET_RED_ID gni_ce_res_get_red_id

/* ---- communication domains ---- */

gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie, uint32_t modes, gni_cdm_handle_t *cdm_hndl);
gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm_hndl);
gni_return_t GNI_CdmGetNicAddress(uint32_t device_id, uint32_t *address, uint32_t *cpu_id);
gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm_hndl, uint32_t device_id, uint32_t *local_addr, gni_nic_handle_t *nic_hndl);

/* ---- jobs (privileged) ---- */

gni_return_t GNI_SuspendJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie, uint32_t timeout);
gni_return_t GNI_ResumeJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie);
gni_return_t GNI_ConfigureNTT(int device_id, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base);
gni_return_t GNI_ConfigureJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie, gni_job_limits_t *limits);
gni_return_t GNI_ConfigureNTTandJob(int device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie, gni_job_limits_t *limits, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base);
gni_return_t GNI_GetNttGran(uint32_t device_id, uint32_t *ntt_gran);
gni_return_t GNI_GetPtag(uint32_t device_id, uint32_t cookie, uint8_t *ptag);

/* ---- endpoints ---- */

gni_return_t GNI_EpCreate(gni_nic_handle_t nic_hndl, gni_cq_handle_t src_cq_hndl, gni_ep_handle_t *ep_hndl);
gni_return_t GNI_EpBind(gni_ep_handle_t ep_hndl, uint32_t remote_addr, uint32_t remote_id);
gni_return_t GNI_EpUnbind(gni_ep_handle_t ep_hndl);
gni_return_t GNI_EpDestroy(gni_ep_handle_t ep_hndl);
gni_return_t GNI_EpSetEventData(gni_ep_handle_t ep_hndl, uint32_t local_event, uint32_t remote_event);
gni_return_t GNI_EpIdle(gni_ep_handle_t ep_hndl);

/* ---- datagrams ---- */

gni_return_t GNI_EpPostData(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf, uint16_t buf_size);
gni_return_t GNI_EpPostDataWId(gni_ep_handle_t ep_hndl, void *in_data, uint16_t data_len, void *out_buf, uint16_t buf_size, uint64_t datagram_id);
gni_return_t GNI_EpPostDataTest(gni_ep_handle_t ep_hndl, gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataTestById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataWait(gni_ep_handle_t ep_hndl, uint32_t timeout, gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_EpPostDataWaitById(gni_ep_handle_t ep_hndl, uint64_t datagram_id, uint32_t timeout, gni_post_state_t *post_state, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_PostDataProbe(gni_nic_handle_t nic_hndl, uint32_t *remote_addr, uint32_t *remote_id);
gni_return_t GNI_PostDataProbeById(gni_nic_handle_t nic_hndl, uint64_t *datagram_id);
gni_return_t GNI_PostdataProbeWaitById(gni_nic_handle_t nic_hndl, uint32_t timeout, uint64_t *datagram_id);
gni_return_t GNI_EpPostDataCancel(gni_ep_handle_t ep_hndl);
gni_return_t GNI_EpPostDataCancelById(gni_ep_handle_t ep_hndl, uint64_t datagram_id);

/* ---- memory ---- */

gni_return_t GNI_MemRegister(gni_nic_handle_t nic_hndl, uint64_t address, uint64_t length, gni_cq_handle_t dst_cq_hndl, uint32_t flags, uint32_t vmdh_index, gni_mem_handle_t *mem_hndl);
gni_return_t GNI_MemRegisterSegments(gni_nic_handle_t nic_hndl, gni_mem_segment_t *mem_segments, uint32_t segments_cnt, gni_cq_handle_t dst_cq_hndl, uint32_t flags, uint32_t vmdh_index, gni_mem_handle_t *mem_hndl);
gni_return_t GNI_SetMddResources(gni_nic_handle_t nic_hndl, uint32_t num_entries);
gni_return_t GNI_MemDeregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl);
gni_return_t GNI_MemHndlQueryAttr(gni_mem_handle_t *mem_hndl, gni_mem_handle_attr_t attr, int *yesno);
gni_return_t GNI_RebuildMemHndl(gni_mem_handle_t *src_mem_hndl, uint32_t vmdh_index, gni_mem_handle_t *dst_mem_hndl);
gni_return_t GNI_MemQueryHndls(gni_nic_handle_t nic_hndl, int fd, gni_mem_handle_t *mem_hndl, uint64_t *address, uint64_t *length);

/* ---- completion queues ---- */

gni_return_t GNI_CqCreate(gni_nic_handle_t nic_hndl, uint32_t entry_count, uint32_t delay_count, gni_cq_mode_t mode, void (*handler)(gni_cq_entry_t *,void *), void *context, gni_cq_handle_t *cq_hndl);
gni_return_t GNI_CqDestroy(gni_cq_handle_t cq_hndl);
gni_return_t GNI_CqGetEvent(gni_cq_handle_t cq_hndl, gni_cq_entry_t *event_data);
gni_return_t GNI_CqWaitEvent(gni_cq_handle_t cq_hndl, uint64_t timeout, gni_cq_entry_t *event_data);
gni_return_t GNI_CqVectorWaitEvent(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout, gni_cq_entry_t *event_data, uint32_t *which);
gni_return_t GNI_CqVectorMonitor(gni_cq_handle_t *cq_hndls, uint32_t num_cqs, uint64_t timeout, uint32_t *which);
gni_return_t GNI_CqTestEvent(gni_cq_handle_t cq_hndl);
gni_return_t GNI_CqInterruptMask(gni_cq_handle_t cq_hndl);
gni_return_t GNI_CqInterruptUnmask(gni_cq_handle_t cq_hndl);
gni_return_t GNI_CqErrorStr(gni_cq_entry_t entry, void *buffer, uint32_t len);
gni_return_t GNI_CqErrorRecoverable(gni_cq_entry_t entry, uint32_t *recoverable);

/* ---- posts ---- */

gni_return_t GNI_PostRdma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t GNI_PostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t GNI_PostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t GNI_GetCompleted(gni_cq_handle_t cq_hndl, gni_cq_entry_t event_data, gni_post_descriptor_t **post_descr);

/* ---- chained posts ---- */

gni_return_t GNI_CtPostFma(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);
gni_return_t GNI_CtPostCqWrite(gni_ep_handle_t ep_hndl, gni_post_descriptor_t *post_descr);

/* ---- short messages ---- */

gni_return_t GNI_SmsgBufferSizeNeeded(gni_smsg_attr_t *smsg_attr, unsigned int *size);
gni_return_t GNI_SmsgInit(gni_ep_handle_t ep_hndl, gni_smsg_attr_t *local_smsg_attr, gni_smsg_attr_t *remote_smsg_attr);
gni_return_t GNI_SmsgSetDeliveryMode(gni_nic_handle_t nic_handle, uint16_t dlvr_mode);
gni_return_t GNI_SmsgSetMaxRetrans(gni_nic_handle_t nic_handle, uint16_t max_retrans);
gni_return_t GNI_SmsgSend(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data, uint32_t data_length, uint32_t msg_id);
gni_return_t GNI_SmsgSendWTag(gni_ep_handle_t ep_hndl, void *header, uint32_t header_length, void *data, uint32_t data_length, uint32_t msg_id, uint8_t tag);
gni_return_t GNI_SmsgGetNext(gni_ep_handle_t ep_hndl, void **header);
gni_return_t GNI_SmsgGetNextWTag(gni_ep_handle_t ep_hndl, void **header, uint8_t *tag);
gni_return_t GNI_SmsgRelease(gni_ep_handle_t ep_hndl);

/* ---- shared message queue ---- */

gni_return_t GNI_MsgqInit(gni_nic_handle_t nic_hndl, gni_msgq_rcv_cb_func *rcv_cb, void *cb_data, gni_cq_handle_t snd_cq, gni_msgq_attr_t *attrs, gni_msgq_handle_t *msgq_hndl);
gni_return_t GNI_MsgqRelease(gni_msgq_handle_t msgq_hndl);
gni_return_t GNI_MsgqIdle(gni_msgq_handle_t msgq_hndl);
gni_return_t GNI_MsgqGetConnAttrs(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr, gni_msgq_ep_attr_t *attrs, uint32_t *attrs_size);
gni_return_t GNI_MsgqConnect(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr, gni_msgq_ep_attr_t *attrs);
gni_return_t GNI_MsgqConnRelease(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr);
gni_return_t GNI_MsgqSend(gni_msgq_handle_t msgq_hndl, gni_ep_handle_t ep_hndl, void *hdr, uint32_t hdr_len, void *msg, uint32_t msg_len, uint32_t msg_id, uint8_t msg_tag);
gni_return_t GNI_MsgqProgress(gni_msgq_handle_t msgq_hndl, uint32_t timeout);
gni_return_t GNI_MsgqSize(gni_msgq_attr_t *attrs, uint32_t *size);

/* ---- error events ---- */

gni_return_t GNI_SubscribeErrors(gni_nic_handle_t nic_handle, uint32_t device_id, gni_error_mask_t mask, uint32_t EEQ_size, gni_err_handle_t *err_handle);
gni_return_t GNI_ReleaseErrors(gni_err_handle_t err_handle);
gni_return_t GNI_GetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t *mask);
gni_return_t GNI_SetErrorMask(gni_err_handle_t err_handle, gni_error_mask_t mask_in, gni_error_mask_t *mask_out);
gni_return_t GNI_GetErrorEvent(gni_err_handle_t err_handle, gni_error_event_t *event);
gni_return_t GNI_WaitErrorEvents(gni_err_handle_t err_handle, gni_error_event_t *events, uint32_t events_size, uint32_t timeout, uint32_t *num_events);
gni_return_t GNI_SetErrorPtag(gni_err_handle_t err_handle, uint8_t ptag);

/* ---- queries ---- */

gni_return_t GNI_GetNumLocalDevices(int *num_devices);
gni_return_t GNI_GetLocalDeviceIds(int len, int *device_ids);
gni_return_t GNI_GetVersion(uint32_t *version);
gni_return_t GNI_GetVersionInformation(gni_version_info_t *version_info);
gni_return_t GNI_GetDeviceType(gni_nic_device_t *dev_type);
gni_return_t GNI_GetDevResInfo(uint32_t device_id, gni_dev_res_t res_type, gni_dev_res_desc_t *res_desc);
gni_return_t GNI_GetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t res_type, gni_job_res_desc_t *res_desc);
gni_return_t GNI_SetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t res_type, uint64_t res_value);
gni_return_t GNI_GetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat, uint32_t *value);
gni_return_t GNI_ResetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat);

/* ---- collective engine ---- */

gni_return_t GNI_CeCreate(gni_nic_handle_t nic_hndl, gni_ce_handle_t *ce_hndl);
gni_return_t GNI_CeGetId(gni_ce_handle_t ce_hndl, uint32_t *ce_id);
gni_return_t GNI_EpSetCeAttr(gni_ep_handle_t ep_hndl, uint32_t ce_id, uint32_t child_id, gni_ce_child_t child_type);
gni_return_t GNI_CeConfigure(gni_ce_handle_t ce_hndl, gni_ep_handle_t *child_eps, uint32_t num_child_eps, gni_ep_handle_t parent_ep, gni_cq_handle_t cq_hndl, uint32_t modes);
gni_return_t GNI_CeCheckResult(gni_ce_result_t *result, uint32_t length);
gni_return_t GNI_CeDestroy(gni_ce_handle_t ce_hndl);

/* ---- balanced injection ---- */

gni_return_t GNI_SetBIConfig(uint32_t device_id, uint16_t bw, uint16_t aot_bw, uint16_t modes);
gni_return_t GNI_GetBIConfig(uint32_t device_id, gni_bi_desc_t *desc);
gni_return_t GNI_BISyncWait(uint32_t device_id, uint32_t timeout);

/* ---- completion channels ---- */

gni_return_t GNI_CompChanCreate(gni_nic_handle_t nic_hndl, gni_comp_chan_handle_t *chan_hndl);
gni_return_t GNI_CompChanDestroy(gni_comp_chan_handle_t chan_hndl);
gni_return_t GNI_CompChanFd(gni_comp_chan_handle_t chan_hndl, int *comp_chan_fd);
gni_return_t GNI_CompChanGetEvent(gni_comp_chan_handle_t chan_hndl, gni_cq_handle_t *cq_hndl);
gni_return_t GNI_CqAttachCompChan(gni_cq_handle_t cq_hndl, gni_comp_chan_handle_t chan_hndl);
gni_return_t GNI_CqArmCompChan(gni_cq_handle_t *cq_hndls, uint32_t num_cqs);

/* Of older revisions; they do nothing. */
gni_return_t GNI_CdmCheckpoint(gni_cdm_handle_t cdm_hndl);
gni_return_t GNI_CdmResume(gni_cdm_handle_t cdm_hndl);

uint32_t gni_dev_res_valid(gni_dev_res_t res_type);
const char *gni_dev_res_to_str(gni_dev_res_t res_type);
uint32_t gni_job_res_valid(gni_job_res_t res_type);
const char *gni_job_res_to_str(gni_job_res_t res_type);

/* clang-format on */

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
