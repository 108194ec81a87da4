/* libfabric calls with flat arguments: what there is, and objects. */
#include "ofi_library.h"

#include <stdlib.h>
#include <string.h>

#define MR_MODES (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)

/* ---- what there is ---- */

static const char *given(const char *text)
{
    return text == NULL || *text == '\0' ? NULL : text;
}

int64_t vfi_info(const char *provider, const char *node, const char *service, uint64_t caps,
                 uint32_t is_serial)
{
    struct fi_info *hints = vfi.fi_dupinfo(NULL), *found = NULL;
    struct vfi_signals signals;
    uint64_t source = given(node) || given(service) ? FI_SOURCE : 0;
    int code;

    if (hints == NULL)
        return -FI_ENOMEM;
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->domain_attr->mr_mode = MR_MODES;
    hints->domain_attr->threading = is_serial ? FI_THREAD_DOMAIN : FI_THREAD_SAFE;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->tx_attr->msg_order = FI_ORDER_SAS;
    hints->rx_attr->msg_order = FI_ORDER_SAS;
    if (given(provider))
        hints->fabric_attr->prov_name = strdup(provider);
    vfi_keep_signals(&signals);
    code = vfi.fi_getinfo(API, given(node), given(service), source, hints, &found);
    vfi_restore_signals(&signals);
    vfi.fi_freeinfo(hints);
    return code < 0 ? code : NUMBER(found);
}

int64_t vfi_info_next(uint64_t info)
{
    return NUMBER(AT(struct fi_info, info)->next);
}

int64_t vfi_info_copy(uint64_t info)
{
    struct fi_info *copy = vfi.fi_dupinfo(AT(struct fi_info, info));

    return copy == NULL ? -FI_ENOMEM : NUMBER(copy);
}

static uint64_t number(const struct fi_info *info, uint32_t number)
{
    switch (number) {
    case VFI_INFO_CAPS:
        return info->caps;
    case VFI_INFO_MR_MODE:
        return (uint64_t)info->domain_attr->mr_mode;
    case VFI_INFO_ADDRESS_FORMAT:
        return info->addr_format;
    case VFI_INFO_MESSAGE_MAX:
        return info->ep_attr->max_msg_size;
    case VFI_INFO_INJECT_MAX:
        return info->tx_attr->inject_size;
    case VFI_INFO_AUTO_PROGRESS:
        return info->domain_attr->data_progress == FI_PROGRESS_AUTO;
    default:
        return 0;
    }
}

int64_t vfi_info_number(uint64_t info, uint32_t which)
{
    return (int64_t)(number(AT(struct fi_info, info), which) & INT64_MAX);
}

const char *vfi_info_text(uint64_t info, uint32_t text)
{
    const struct fi_info *i = AT(struct fi_info, info);

    switch (text) {
    case VFI_TEXT_PROVIDER:
        return i->fabric_attr->prov_name;
    case VFI_TEXT_FABRIC:
        return i->fabric_attr->name;
    default:
        return i->domain_attr->name;
    }
}

void vfi_info_free(uint64_t info)
{
    vfi.fi_freeinfo(AT(struct fi_info, info));
}

/* ---- objects ---- */

/* Runs a call that may start a provider; its own handlers of signals do not stay. */
#define STARTING(call)                                                                             \
    do {                                                                                           \
        struct vfi_signals signals_;                                                               \
        vfi_keep_signals(&signals_);                                                               \
        code = (call);                                                                             \
        vfi_restore_signals(&signals_);                                                            \
    } while (0)

int64_t vfi_fabric(uint64_t info)
{
    struct fid_fabric *fabric = NULL;
    int code;

    STARTING(vfi.fi_fabric(AT(struct fi_info, info)->fabric_attr, &fabric, NULL));
    return code < 0 ? code : NUMBER(fabric);
}

int64_t vfi_domain(uint64_t fabric, uint64_t info)
{
    struct fid_domain *domain = NULL;
    int code;

    STARTING(fi_domain(AT(struct fid_fabric, fabric), AT(struct fi_info, info), &domain, NULL));
    return code < 0 ? code : NUMBER(domain);
}

int64_t vfi_av(uint64_t domain, uint64_t count)
{
    struct fi_av_attr attributes = {.type = FI_AV_TABLE, .count = count};
    struct fid_av *av = NULL;
    int code = fi_av_open(AT(struct fid_domain, domain), &attributes, &av, NULL);

    return code < 0 ? code : NUMBER(av);
}

int64_t vfi_cq(uint64_t domain, uint64_t size, uint32_t has_descriptor)
{
    struct fi_cq_attr attributes = {
        .format = FI_CQ_FORMAT_MSG,
        .size = size,
        .wait_obj = has_descriptor ? FI_WAIT_FD : FI_WAIT_NONE,
    };
    struct fid_cq *cq = NULL;
    int code = fi_cq_open(AT(struct fid_domain, domain), &attributes, &cq, NULL);

    return code < 0 ? code : NUMBER(cq);
}

int32_t vfi_cq_descriptor(uint64_t cq)
{
    int descriptor = -1;
    int code = fi_control(&AT(struct fid_cq, cq)->fid, FI_GETWAIT, &descriptor);

    return code < 0 ? code : descriptor;
}

int64_t vfi_counter(uint64_t domain)
{
    struct fi_cntr_attr attributes = {.events = FI_CNTR_EVENTS_COMP, .wait_obj = FI_WAIT_NONE};
    struct fid_cntr *counter = NULL;
    int code = fi_cntr_open(AT(struct fid_domain, domain), &attributes, &counter, NULL);

    return code < 0 ? code : NUMBER(counter);
}

int64_t vfi_counter_read(uint64_t counter)
{
    return (int64_t)(fi_cntr_read(AT(struct fid_cntr, counter)) & INT64_MAX);
}

int64_t vfi_endpoint(uint64_t domain, uint64_t info)
{
    struct fid_ep *endpoint = NULL;
    int code;

    STARTING(fi_endpoint(AT(struct fid_domain, domain), AT(struct fi_info, info), &endpoint, NULL));
    return code < 0 ? code : NUMBER(endpoint);
}

int32_t vfi_bind_av(uint64_t endpoint, uint64_t av)
{
    return fi_ep_bind(AT(struct fid_ep, endpoint), &AT(struct fid_av, av)->fid, 0);
}

int32_t vfi_bind_cq(uint64_t endpoint, uint64_t cq, uint64_t flags)
{
    return fi_ep_bind(AT(struct fid_ep, endpoint), &AT(struct fid_cq, cq)->fid, flags);
}

int32_t vfi_bind_counter(uint64_t endpoint, uint64_t counter, uint64_t flags)
{
    return fi_ep_bind(AT(struct fid_ep, endpoint), &AT(struct fid_cntr, counter)->fid, flags);
}

int32_t vfi_enable(uint64_t endpoint)
{
    int code;

    STARTING(fi_enable(AT(struct fid_ep, endpoint)));
    return code;
}

int32_t vfi_name(uint64_t endpoint, uint64_t name, uint32_t capacity)
{
    size_t length = capacity;
    int code = fi_getname(&AT(struct fid_ep, endpoint)->fid, AT(void, name), &length);

    return code < 0 ? code : (int32_t)length;
}

int64_t vfi_av_insert(uint64_t av, uint64_t name)
{
    fi_addr_t peer = FI_ADDR_NOTAVAIL;
    int code;

    STARTING(fi_av_insert(AT(struct fid_av, av), AT(void, name), 1, &peer, 0, NULL));
    if (code < 0)
        return code;
    return code == 1 && peer != FI_ADDR_NOTAVAIL ? (int64_t)peer : -FI_EINVAL;
}

int64_t vfi_mr(uint64_t domain, uint64_t endpoint, uint64_t address, uint64_t length,
               uint64_t access, uint64_t key)
{
    struct fid_mr *mr = NULL;
    int code = fi_mr_reg(AT(struct fid_domain, domain), AT(void, address), length, access, 0, key,
                         0, &mr, NULL);

    if (code < 0)
        return code;
    if (endpoint != 0) {
        code = fi_mr_bind(mr, &AT(struct fid_ep, endpoint)->fid, 0);
        if (code == 0)
            code = fi_mr_enable(mr);
        if (code < 0) {
            fi_close(&mr->fid);
            return code;
        }
    }
    return NUMBER(mr);
}

uint64_t vfi_mr_key(uint64_t mr)
{
    return fi_mr_key(AT(struct fid_mr, mr));
}

uint64_t vfi_mr_descriptor(uint64_t mr)
{
    return (uint64_t)(uintptr_t)fi_mr_desc(AT(struct fid_mr, mr));
}

int32_t vfi_close(uint64_t object)
{
    return fi_close(AT(struct fid, object));
}
