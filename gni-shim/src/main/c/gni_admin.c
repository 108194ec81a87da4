/* Administration of jobs, of the network translation table and of balanced injection: a launcher's
 * business, that needs privileges. There is nothing here to administer; GNI_SHIM_PRIVILEGED=1 lets
 * a program that does it find that it was done. */
#include "gni_library.h"

/* What everybody is told first. */
static gni_return_t permit(uint32_t device_id)
{
    if (device_id >= gni_device_count())
        return GNI_RC_NO_MATCH;
    return snic_setting("GNI_SHIM_PRIVILEGED", 0) ? GNI_RC_SUCCESS : GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_SuspendJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
                            uint32_t timeout)
{
    (void)job_id, (void)ptag, (void)cookie, (void)timeout;
    return permit(device_id);
}

gni_return_t GNI_ResumeJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie)
{
    (void)job_id, (void)ptag, (void)cookie;
    return permit(device_id);
}

gni_return_t GNI_ConfigureNTT(int device_id, gni_ntt_descriptor_t *ntt_desc, uint32_t *ntt_base)
{
    gni_return_t code = permit((uint32_t)device_id);

    if (ntt_desc == NULL)
        return GNI_RC_INVALID_PARAM;
    if (code == GNI_RC_SUCCESS && ntt_base != NULL)
        *ntt_base = 0;
    return code;
}

gni_return_t GNI_ConfigureJob(uint32_t device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
                              gni_job_limits_t *limits)
{
    (void)job_id, (void)ptag, (void)cookie;
    return limits == NULL ? GNI_RC_INVALID_PARAM : permit(device_id);
}

gni_return_t GNI_ConfigureNTTandJob(int device_id, uint64_t job_id, uint8_t ptag, uint32_t cookie,
                                    gni_job_limits_t *limits, gni_ntt_descriptor_t *ntt_desc,
                                    uint32_t *ntt_base)
{
    gni_return_t code = GNI_ConfigureJob((uint32_t)device_id, job_id, ptag, cookie, limits);

    return code == GNI_RC_SUCCESS ? GNI_ConfigureNTT(device_id, ntt_desc, ntt_base) : code;
}

/* ---- balanced injection: never throttled ---- */

gni_return_t GNI_SetBIConfig(uint32_t device_id, uint16_t bw, uint16_t aot_bw, uint16_t modes)
{
    uint16_t most =
        modes & GNI_BI_FLAG_VALUE_IS_NUM_ORB_ENTRIES ? GNI_BI_INJECT_ORB_MAX : GNI_BI_INJECT_BW_MAX;

    if (bw > most || aot_bw > most || (modes & ~0xfu))
        return GNI_RC_INVALID_PARAM;
    return permit(device_id);
}

gni_return_t GNI_GetBIConfig(uint32_t device_id, gni_bi_desc_t *desc)
{
    if (desc == NULL)
        return GNI_RC_INVALID_PARAM;
    if (device_id >= gni_device_count())
        return GNI_RC_NO_MATCH;
    *desc = (gni_bi_desc_t){.current_bw = GNI_BI_INJECT_BW_MAX,
                            .current_aot_bw = GNI_BI_INJECT_BW_MAX,
                            .current_norbs = GNI_BI_INJECT_ORB_MAX,
                            .sys_def_bw = GNI_BI_INJECT_BW_MAX,
                            .sys_def_aot_bw = GNI_BI_INJECT_BW_MAX};
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_BISyncWait(uint32_t device_id, uint32_t timeout)
{
    (void)timeout; /* no change is ever under way */
    return device_id >= gni_device_count() ? GNI_RC_NO_MATCH : GNI_RC_SUCCESS;
}
