/* What a program may link but not use: administration needs privileges (docs/ugni.md). */
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
