/* What a program may link but not use: administration of jobs needs privileges; shared message
 * queues are not here (docs/ugni.md). */
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
