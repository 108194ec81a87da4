/* What a program may link but not use: administration of jobs needs privileges; shared message
 * queues and the collective engine are not here (docs/ugni.md). */
#include "gni_library.h"

gni_return_t GNI_SuspendJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
                            uint32_t timeout)
{
    (void)device_id, (void)job_id, (void)ptag, (void)cookie, (void)timeout;
    return GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_ResumeJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie)
{
    (void)device_id, (void)job_id, (void)ptag, (void)cookie;
    return GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_ConfigureNTT(int device_id, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base)
{
    (void)device_id, (void)ntt_desc, (void)ntt_base;
    return GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_ConfigureJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
                              gni_job_limits_t *limits)
{
    (void)device_id, (void)job_id, (void)ptag, (void)cookie, (void)limits;
    return GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_ConfigureNTTandJob(int device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
                                    gni_job_limits_t *limits, gni_ntt_descriptor_t *ntt_desc,
                                    uint32_t *ntt_base)
{
    (void)device_id, (void)job_id, (void)ptag, (void)cookie, (void)limits, (void)ntt_desc,
        (void)ntt_base;
    return GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_SetBIConfig(uint32_t device_id, uint16_t bw, uint16_t aot_bw, uint16_t modes)
{
    (void)device_id, (void)bw, (void)aot_bw, (void)modes;
    return GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_GetBIConfig(uint32_t device_id, gni_bi_desc_t *desc)
{
    (void)device_id, (void)desc;
    return GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_BISyncWait(uint32_t device_id, uint32_t timeout)
{
    (void)device_id, (void)timeout;
    return GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_MsgqInit(gni_nic_handle_t nic_hndl, gni_msgq_rcv_cb_func *rcv_cb, void *cb_data,
                          gni_cq_handle_t snd_cq, gni_msgq_attr_t *attrs,
                          gni_msgq_handle_t *msgq_hndl)
{
    (void)nic_hndl, (void)rcv_cb, (void)cb_data, (void)snd_cq, (void)attrs, (void)msgq_hndl;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_MsgqRelease(gni_msgq_handle_t msgq_hndl)
{
    (void)msgq_hndl;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_MsgqIdle(gni_msgq_handle_t msgq_hndl)
{
    (void)msgq_hndl;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_MsgqGetConnAttrs(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr,
                                  gni_msgq_ep_attr_t *attrs, uint32_t *attrs_size)
{
    (void)msgq_hndl, (void)pe_addr, (void)attrs, (void)attrs_size;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_MsgqConnect(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr,
                             gni_msgq_ep_attr_t *attrs)
{
    (void)msgq_hndl, (void)pe_addr, (void)attrs;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_MsgqConnRelease(gni_msgq_handle_t msgq_hndl, uint32_t pe_addr)
{
    (void)msgq_hndl, (void)pe_addr;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_MsgqSend(gni_msgq_handle_t msgq_hndl, gni_ep_handle_t ep_hndl, void *hdr,
                          uint32_t hdr_len, void *msg, uint32_t msg_len, uint32_t msg_id,
                          uint8_t msg_tag)
{
    (void)msgq_hndl, (void)ep_hndl, (void)hdr, (void)hdr_len, (void)msg, (void)msg_len,
        (void)msg_id, (void)msg_tag;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_MsgqProgress(gni_msgq_handle_t msgq_hndl, uint32_t timeout)
{
    (void)msgq_hndl, (void)timeout;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_MsgqSize(gni_msgq_attr_t *attrs, uint32_t *size)
{
    (void)attrs, (void)size;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_CeCreate(gni_nic_handle_t nic_hndl, gni_ce_handle_t *ce_hndl)
{
    (void)nic_hndl, (void)ce_hndl;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_CeGetId(gni_ce_handle_t ce_hndl, uint32_t *ce_id)
{
    (void)ce_hndl, (void)ce_id;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_EpSetCeAttr(gni_ep_handle_t ep_hndl, uint32_t ce_id, uint32_t child_id,
                             gni_ce_child_t child_type)
{
    (void)ep_hndl, (void)ce_id, (void)child_id, (void)child_type;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_CeConfigure(gni_ce_handle_t ce_hndl, gni_ep_handle_t *child_eps,
                             uint32_t num_child_eps, gni_ep_handle_t parent_ep,
                             gni_cq_handle_t cq_hndl, uint32_t modes)
{
    (void)ce_hndl, (void)child_eps, (void)num_child_eps, (void)parent_ep, (void)cq_hndl,
        (void)modes;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_CeCheckResult(gni_ce_result_t *result, uint32_t length)
{
    (void)result, (void)length;
    return GNI_RC_ILLEGAL_OP;
}

gni_return_t GNI_CeDestroy(gni_ce_handle_t ce_hndl)
{
    (void)ce_hndl;
    return GNI_RC_ILLEGAL_OP;
}

uint64_t gni_ce_res_get_status(gni_ce_result_t *result)
{
    (void)result;
    return 0;
}

uint64_t gni_ce_res_status_ok(gni_ce_result_t *result)
{
    (void)result;
    return 0;
}

uint64_t gni_ce_res_get_fpe(gni_ce_result_t *result)
{
    (void)result;
    return 0;
}

uint64_t gni_ce_res_get_red_id(gni_ce_result_t *result)
{
    (void)result;
    return 0;
}
