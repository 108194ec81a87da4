/* Communication domains, devices, and the text of the last failure. */
#define _GNU_SOURCE
#include "gni_library.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MESSAGE_HEADER 16

static _Thread_local char error_text[SNIC_WHY_MAX];

void gni_fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error_text, sizeof(error_text), format, arguments);
    va_end(arguments);
}

void gni_forget_failure(void)
{
    error_text[0] = '\0';
}

const char *GNI_ExtError(void)
{
    return error_text;
}

/* ---- devices ---- */

uint32_t gni_device_count(void)
{
    uint32_t count = snic_setting("GNI_SHIM_DEVICES", 1);

    return count < 1 ? 1 : count > GNI_DEVICES_MAX ? GNI_DEVICES_MAX : count;
}

/* 18 bits, the same for all processes of a host. */
static uint32_t address_of(uint32_t device)
{
    char host[256] = "";
    uint32_t hash = 2166136261u;

    if (getenv("GNI_SHIM_NIC_ADDR") != NULL)
        return (snic_setting("GNI_SHIM_NIC_ADDR", 1) + device) & 0x3ffffu;
    gethostname(host, sizeof(host) - 1);
    for (const char *p = host; *p; p++)
        hash = (hash ^ (uint8_t)*p) * 16777619u;
    return ((hash ^ hash >> 18) + device) & 0x3ffffu;
}

int gni_device_is_aries(void)
{
    const char *kind = getenv("GNI_SHIM_DEVICE");

    return kind != NULL && strcmp(kind, "aries") == 0;
}

uint8_t gni_ptag_of(uint32_t cookie)
{
    return (uint8_t)(GNI_PTAG_USER_START + (cookie * 2654435761u >> 8) % 251u);
}

/* ---- a domain ---- */

gni_return_t GNI_CdmCreate(uint32_t inst_id, uint8_t ptag, uint32_t cookie, uint32_t modes,
                           gni_cdm_handle_t *cdm_hndl)
{
    struct gni_cdm *cdm;

    if (cdm_hndl == NULL)
        return GNI_RC_INVALID_PARAM;
    cdm = calloc(1, sizeof(*cdm));
    if (cdm == NULL)
        return GNI_RC_ERROR_NOMEM;
    cdm->inst = inst_id;
    cdm->cookie = cookie;
    cdm->modes = modes;
    cdm->ptag = ptag == GNI_FIND_ALLOC_PTAG ? gni_ptag_of(cookie) : ptag;
    pthread_mutex_init(&cdm->lock, NULL);
    cdm->handle = gni_handle_give(GNI_KIND_CDM, cdm);
    if (cdm->handle == NULL) {
        free(cdm);
        return GNI_RC_ERROR_RESOURCE;
    }
    *cdm_hndl = (gni_cdm_handle_t)cdm->handle;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CdmGetNicAddress(uint32_t device_id, uint32_t *address, uint32_t *cpu_id)
{
    if (address == NULL)
        return GNI_RC_INVALID_PARAM;
    if (device_id >= gni_device_count())
        return GNI_RC_NO_MATCH;
    *address = address_of(device_id);
    if (cpu_id != NULL)
        *cpu_id = 0;
    return GNI_RC_SUCCESS;
}

/* ---- attaching: one software NIC, named <pe>.<inst> in a job of the ptag and the cookie ---- */

static gni_return_t code_of(int error)
{
    switch (error) {
    case -EEXIST:
        return GNI_RC_INVALID_STATE;
    case -ENOMEM:
        return GNI_RC_ERROR_NOMEM;
    case -EACCES:
    case -EPERM:
        return GNI_RC_PERMISSION_ERROR;
    default:
        return GNI_RC_ERROR_RESOURCE;
    }
}

void gni_job_of(const struct gni_cdm *cdm, char job[SNIC_NAME_MAX])
{
    snprintf(job, SNIC_NAME_MAX, "gni-%u-%08x", cdm->ptag, cdm->cookie);
}

static int open_snic(struct gni_nic *nic)
{
    char job[SNIC_NAME_MAX], name[SNIC_NAME_MAX], why[SNIC_WHY_MAX] = "";
    snic_options_t options = {.directory = getenv("GNI_SHIM_DIR"),
                              .job = job,
                              .name = name,
                              .personality = SNIC_UGNI,
                              .registrations_max = GNI_MDHS + GNI_SEGMENTS,
                              .area_bytes = gni_area_bytes()};
    const char *foreign = getenv("GNI_SHIM_FOREIGN");
    int error;

    if (foreign != NULL && strcmp(foreign, "bounce") == 0)
        options.foreign = SNIC_FOREIGN_BOUNCE;
    gni_job_of(nic->cdm, job);
    snprintf(name, sizeof(name), "%x.%x", nic->pe, nic->inst);
    error = snic_open(&options, &nic->snic, why, sizeof(why));
    if (error != 0) {
        gni_fail("GNI_CdmAttach: %s", why);
        return error;
    }
    gni_area_build(snic_area(nic->snic), nic->cdm->ptag, nic->cdm->cookie, nic->pe, nic->inst);
    error = gni_view_open(&nic->view, snic_area(nic->snic), snic_area_bytes(nic->snic));
    if (error == 0)
        error = snic_publish(nic->snic);
    if (error != 0)
        snic_close(nic->snic);
    return error;
}

static void nic_free(struct gni_nic *nic)
{
    gni_lock_destroy(&nic->lock);
    free(nic->mdh);
    free(nic->segment_used);
    free(nic->datagrams);
    free(nic->staging);
    if (nic->maps != NULL)
        fclose(nic->maps);
    free(nic);
}

static struct gni_nic *nic_new(struct gni_cdm *cdm, uint32_t device)
{
    struct gni_nic *nic = calloc(1, sizeof(*nic));
    uint32_t first = (uint32_t)snic_now_ns();

    if (nic == NULL)
        return NULL;
    gni_lock_init(&nic->lock);
    nic->cdm = cdm;
    nic->device = device;
    nic->pe = address_of(device);
    nic->inst = cdm->inst;
    nic->modes = cdm->modes;
    nic->is_aries = (uint32_t)gni_device_is_aries();
    nic->is_deferring = snic_setting("GNI_SHIM_DEFER", 0) != 0;
    nic->is_strict = snic_setting("GNI_SHIM_STRICT", 0) != 0;
    nic->bounds_pages =
        getenv("GNI_SHIM_BOUNDS") != NULL && strcmp(getenv("GNI_SHIM_BOUNDS"), "page") == 0;
    nic->deferred_end = &nic->deferred;
    nic->mdh = calloc(GNI_MDHS, sizeof(*nic->mdh));
    nic->segment_used = calloc(GNI_SEGMENTS, 1);
    nic->datagrams = calloc(GNI_DATAGRAMS, sizeof(*nic->datagrams));
    nic->staging = malloc(GNI_SMSG_MAX_SIZE + MESSAGE_HEADER);
    if (!nic->mdh || !nic->segment_used || !nic->datagrams || !nic->staging) {
        nic_free(nic);
        return NULL;
    }
    nic->mdh_limit = snic_setting("GNI_SHIM_MDD_LIMIT", GNI_MDHS);
    if (nic->mdh_limit > GNI_MDHS)
        nic->mdh_limit = GNI_MDHS;
    nic->mdh_tail = GNI_MDHS - 1;
    /* A handle of an earlier process with this name must not fit: generations begin anywhere. */
    for (uint32_t i = 0; i < GNI_MDHS; i++) {
        nic->mdh[i].next = i + 1;
        nic->mdh[i].generation = (first * 2654435761u + i * 40503u) & ~1u;
    }
    return nic;
}

static gni_return_t attach(struct gni_cdm *cdm, uint32_t device, struct gni_nic **attached)
{
    struct gni_nic *nic = nic_new(cdm, device);
    int error;

    if (nic == NULL)
        return GNI_RC_ERROR_NOMEM;
    error = open_snic(nic);
    if (error != 0) {
        nic_free(nic);
        return code_of(error);
    }
    nic->handle = gni_handle_give(GNI_KIND_NIC, nic);
    if (nic->handle == NULL) {
        snic_close(nic->snic);
        nic_free(nic);
        return GNI_RC_ERROR_RESOURCE;
    }
    cdm->nics[device] = nic;
    *attached = nic;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CdmAttach(gni_cdm_handle_t cdm_hndl, uint32_t device_id, uint32_t *local_addr,
                           gni_nic_handle_t *nic_hndl)
{
    struct gni_cdm *cdm = gni_handle_find(cdm_hndl, GNI_KIND_CDM);
    struct gni_nic *nic = NULL;
    gni_return_t code;

    gni_forget_failure();
    if (cdm == NULL || nic_hndl == NULL)
        return GNI_RC_INVALID_PARAM;
    pthread_mutex_lock(&cdm->lock);
    if (device_id == (uint32_t)-1)
        for (device_id = 0; device_id < gni_device_count() && cdm->nics[device_id]; device_id++)
            ;
    else if (device_id >= gni_device_count()) {
        pthread_mutex_unlock(&cdm->lock);
        return GNI_RC_NO_MATCH;
    }
    if (device_id >= gni_device_count() || cdm->nics[device_id] != NULL)
        code = GNI_RC_INVALID_STATE;
    else
        code = attach(cdm, device_id, &nic);
    pthread_mutex_unlock(&cdm->lock);
    if (code != GNI_RC_SUCCESS)
        return code;
    if (local_addr != NULL)
        *local_addr = nic->pe;
    *nic_hndl = (gni_nic_handle_t)nic->handle;
    return GNI_RC_SUCCESS;
}

static void nic_close(struct gni_nic *nic)
{
    gni_handle_take(nic->handle);
    gni_channels_close(nic);
    gni_enter(&nic->lock);
    gni_msgq_close(nic);
    while (nic->eps != NULL) {
        struct gni_ep *ep = nic->eps;

        nic->eps = ep->next;
        gni_handle_take(ep->handle);
        free(ep);
    }
    nic->ce_waiting = NULL;
    gni_ce_close(nic);
    gni_errors_close(nic);
    gni_mem_close(nic);
    gni_peers_close(nic);
    while (nic->cqs != NULL) {
        struct gni_cq *cq = nic->cqs;

        nic->cqs = cq->next;
        gni_handle_take(cq->handle);
        gni_cq_free(cq);
    }
    snic_close(nic->snic);
    gni_leave(&nic->lock);
    nic_free(nic);
}

gni_return_t GNI_CdmDestroy(gni_cdm_handle_t cdm_hndl)
{
    struct gni_cdm *cdm = gni_handle_find(cdm_hndl, GNI_KIND_CDM);

    if (cdm == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_handle_take(cdm->handle);
    for (uint32_t i = 0; i < GNI_DEVICES_MAX; i++)
        if (cdm->nics[i] != NULL)
            nic_close(cdm->nics[i]);
    pthread_mutex_destroy(&cdm->lock);
    free(cdm);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_CdmCheckpoint(gni_cdm_handle_t cdm_hndl)
{
    return gni_handle_find(cdm_hndl, GNI_KIND_CDM) ? GNI_RC_SUCCESS : GNI_RC_INVALID_PARAM;
}

gni_return_t GNI_CdmResume(gni_cdm_handle_t cdm_hndl)
{
    return gni_handle_find(cdm_hndl, GNI_KIND_CDM) ? GNI_RC_SUCCESS : GNI_RC_INVALID_PARAM;
}

/* ---- memory that peers map ---- */

gni_return_t GNI_ExtMemAlloc(gni_nic_handle_t nic_hndl, uint64_t length, void **address)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    char why[SNIC_WHY_MAX] = "";
    int error;

    gni_forget_failure();
    if (nic == NULL || address == NULL || length == 0)
        return GNI_RC_INVALID_PARAM;
    error = snic_memory_alloc(nic->snic, length, 0, address, why, sizeof(why));
    if (error != 0)
        gni_fail("GNI_ExtMemAlloc: %s", why);
    return error == 0         ? GNI_RC_SUCCESS
           : error == -ENOMEM ? GNI_RC_ERROR_NOMEM
                              : GNI_RC_ERROR_RESOURCE;
}

gni_return_t GNI_ExtMemFree(gni_nic_handle_t nic_hndl, void *address)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    int error = nic && address ? snic_memory_free(nic->snic, address) : -EINVAL;

    return error == 0        ? GNI_RC_SUCCESS
           : error == -EBUSY ? GNI_RC_INVALID_STATE
                             : GNI_RC_INVALID_PARAM;
}
