/* Questions about the library, its devices and their resources. */
#include "gni_library.h"
#include <stdio.h>
#include <string.h>

#define FMA_LIMIT 124
#define CQ_LIMIT 2046

const char *gni_err_str[] = {
    "GNI_RC_SUCCESS",          "GNI_RC_NOT_DONE",        "GNI_RC_INVALID_PARAM",
    "GNI_RC_ERROR_RESOURCE",   "GNI_RC_TIMEOUT",         "GNI_RC_PERMISSION_ERROR",
    "GNI_RC_DESCRIPTOR_ERROR", "GNI_RC_ALIGNMENT_ERROR", "GNI_RC_INVALID_STATE",
    "GNI_RC_NO_MATCH",         "GNI_RC_SIZE_ERROR",      "GNI_RC_TRANSACTION_ERROR",
    "GNI_RC_ILLEGAL_OP",       "GNI_RC_ERROR_NOMEM",
};

const char *gni_statistic_str[] = {
    "SMSG_BUFF_CREDITS_STALL", "SMSG_DLA_STALL",     "SMSG_MBOX_CREDITS_STALL",
    "SMSG_REQ_STALL",          "SMSG_RETRANS_COUNT", "SMSG_RETRANS_DLA_COUNT",
    "SMSG_RETRANS_STALL",      "MR_MULTI_PAGESIZE",
};

gni_return_t GNI_GetNumLocalDevices(int *num_devices)
{
    if (num_devices == NULL)
        return GNI_RC_INVALID_PARAM;
    *num_devices = (int)gni_device_count();
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetLocalDeviceIds(int len, int *device_ids)
{
    if (device_ids == NULL || len < 0)
        return GNI_RC_INVALID_PARAM;
    for (int i = 0; i < len && i < (int)gni_device_count(); i++)
        device_ids[i] = i;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetVersion(uint32_t *version)
{
    if (version == NULL)
        return GNI_RC_INVALID_PARAM;
    *version = GNI_VERSION;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetVersionInformation(gni_version_info_t *version_info)
{
    if (version_info == NULL)
        return GNI_RC_INVALID_PARAM;
    memset(version_info, 0, sizeof(*version_info));
    version_info->ugni_version = GNI_VERSION;
    version_info->kgni_version = GNI_VERSION;
    snprintf(version_info->ugni_build_string, MAX_BUILD_STRING_LENGTH, "verbena gni-shim 0.1.0");
    snprintf(version_info->kgni_build_string, MAX_BUILD_STRING_LENGTH, "softnic, no driver");
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetDeviceType(gni_nic_device_t *dev_type)
{
    if (dev_type == NULL)
        return GNI_RC_INVALID_PARAM;
    *dev_type = gni_device_is_aries() ? GNI_DEVICE_ARIES : GNI_DEVICE_GEMINI;
    return GNI_RC_SUCCESS;
}

uint32_t gni_dev_res_valid(gni_dev_res_t res_type)
{
    return (int)res_type > GNI_DEV_RES_FIRST && (int)res_type < GNI_DEV_RES_LAST;
}

const char *gni_dev_res_to_str(gni_dev_res_t res_type)
{
    static const char *const name[] = {"", "MDD", "MRT", "CQ", "FMA", "CE", "DLA", "TCR", "DVA"};

    return gni_dev_res_valid(res_type) ? name[res_type] : "";
}

uint32_t gni_job_res_valid(gni_job_res_t res_type)
{
    return (int)res_type > GNI_JOB_RES_FIRST && (int)res_type < GNI_JOB_RES_LAST;
}

const char *gni_job_res_to_str(gni_job_res_t res_type)
{
    static const char *const name[] = {"",     "MDD",    "MRT",       "IOMMU",   "GART",
                                       "CQ",   "FMA",    "RDMA",      "CE",      "DLA",
                                       "SFMA", "DIRECT", "PCI-IOMMU", "non-VMDH"};

    return gni_job_res_valid(res_type) ? name[res_type] : "";
}

gni_return_t GNI_GetDevResInfo(uint32_t device_id, gni_dev_res_t res_type,
                               gni_dev_res_desc_t *res_desc)
{
    uint64_t total;

    if (res_desc == NULL || !gni_dev_res_valid(res_type))
        return GNI_RC_INVALID_PARAM;
    if (device_id >= gni_device_count())
        return GNI_RC_ERROR_RESOURCE;
    total = res_type == GNI_DEV_RES_MDD   ? GNI_MDHS
            : res_type == GNI_DEV_RES_CQ  ? CQ_LIMIT
            : res_type == GNI_DEV_RES_FMA ? FMA_LIMIT
                                          : 0;
    *res_desc = (gni_dev_res_desc_t){total, 0, 0, total};
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t res_type,
                               gni_job_res_desc_t *res_desc)
{
    (void)ptag;
    if (res_desc == NULL || !gni_job_res_valid(res_type))
        return GNI_RC_INVALID_PARAM;
    if (device_id >= gni_device_count())
        return GNI_RC_ERROR_RESOURCE;
    res_desc->used = 0;
    res_desc->limit = res_type == GNI_JOB_RES_MDD   ? GNI_MDHS
                      : res_type == GNI_JOB_RES_CQ  ? CQ_LIMIT
                      : res_type == GNI_JOB_RES_FMA ? FMA_LIMIT
                                                    : 0;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_SetJobResInfo(uint32_t device_id, uint8_t ptag, gni_job_res_t res_type,
                               uint64_t res_value)
{
    (void)ptag, (void)res_value;
    if (!gni_job_res_valid(res_type))
        return GNI_RC_INVALID_PARAM;
    if (device_id >= gni_device_count())
        return GNI_RC_ERROR_RESOURCE;
    return snic_setting("GNI_SHIM_PRIVILEGED", 0) ? GNI_RC_SUCCESS : GNI_RC_PERMISSION_ERROR;
}

gni_return_t GNI_GetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat, uint32_t *value)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);

    if (nic == NULL || value == NULL || (unsigned)stat >= GNI_NUM_STATS)
        return GNI_RC_INVALID_PARAM;
    *value = nic->statistics[stat];
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_ResetNicStat(gni_nic_handle_t nic_hndl, gni_statistic_t stat)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);

    if (nic == NULL || (unsigned)stat >= GNI_NUM_STATS)
        return GNI_RC_INVALID_PARAM;
    nic->statistics[stat] = 0;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetPtag(uint32_t device_id, uint32_t cookie, uint8_t *ptag)
{
    if (ptag == NULL)
        return GNI_RC_INVALID_PARAM;
    if (device_id >= gni_device_count())
        return GNI_RC_NO_MATCH;
    *ptag = gni_ptag_of(cookie);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_GetNttGran(uint32_t device_id, uint32_t *ntt_gran)
{
    if (ntt_gran == NULL)
        return GNI_RC_INVALID_PARAM;
    if (device_id >= gni_device_count())
        return GNI_RC_NO_MATCH;
    *ntt_gran = 0;
    return GNI_RC_SUCCESS;
}
