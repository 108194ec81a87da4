/* The calls of verbs_calls.h for devices, events, protection domains and memory. */
#define _GNU_SOURCE
#include "verbs_calls.h"
#include "verbs_result.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

int vv_device_list(struct ibv_device ***out)
{
    int count = 0;
    errno = 0;
    struct ibv_device **list = ibv_get_device_list(&count);
    if (!list)
        return failure();
    *out = list;
    return count;
}

TELLS(vv_device_list_free, ibv_free_device_list(list), struct ibv_device **list)

struct ibv_device *vv_device(struct ibv_device **list, int index)
{
    return list[index];
}

uint64_t vv_device_guid(struct ibv_device *device)
{
    return be64toh(ibv_get_device_guid(device));
}

MAKES(vv_open_device, ibv_open_device(device), struct ibv_device *device, struct ibv_context **out)

/* The library closes the file that it is given with the context, if it makes one. */
int vv_import_device(int file, struct ibv_context **out)
{
    int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (own < 0)
        return -errno;
    errno = 0;
    *out = ibv_import_device(own);
    if (*out)
        return 0;
    int why = failure();
    close(own);
    return why;
}

struct ibv_device *vv_device_of(struct ibv_context *context)
{
    return context->device;
}

DOES(vv_close_device, ibv_close_device(context), struct ibv_context *context)
DOES(vv_query_device, ibv_query_device_ex(context, NULL, attr), struct ibv_context *context,
     struct ibv_device_attr_ex *attr)

int vv_query_port(struct ibv_context *context, int port, struct ibv_port_attr *attr)
{
    memset(attr, 0, sizeof *attr);
    DONE(ibv_query_port(context, (uint8_t)port, attr));
}

int vv_query_gid(struct ibv_context *context, int port, int index, struct ibv_gid_entry *entry)
{
    memset(entry, 0, sizeof *entry);
    DONE(ibv_query_gid_ex(context, (uint32_t)port, (uint32_t)index, entry, 0));
}

int vv_query_pkey(struct ibv_context *context, int port, int index)
{
    __be16 key = 0;
    errno = 0;
    int result = result_of(ibv_query_pkey(context, (uint8_t)port, index, &key));
    return result < 0 ? result : ntohs(key);
}

DOES(vv_query_rt_values, ibv_query_rt_values_ex(context, values), struct ibv_context *context,
     struct ibv_values_ex *values)
DOES(vv_fork_init, ibv_fork_init(), void)

int vv_fork_status(void)
{
    return (int)ibv_is_fork_initialized();
}

int vv_set_nonblocking(int file)
{
    int flags = fcntl(file, F_GETFL);
    if (flags < 0 || fcntl(file, F_SETFL, flags | O_NONBLOCK) < 0)
        return -errno;
    return 0;
}

int vv_wait(int file, int timeout_ms)
{
    return vv_wait_either(file, -1, timeout_ms); /* poll passes over a negative file */
}

int vv_wait_either(int first, int second, int timeout_ms)
{
    struct pollfd waiting[2] = {{.fd = first, .events = POLLIN}, {.fd = second, .events = POLLIN}};
    int ready = poll(waiting, 2, timeout_ms);
    if (ready < 0)
        return errno == EINTR ? 0 : -errno;
    return ready;
}

int vv_open_bell(void)
{
    int file = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return file < 0 ? -errno : file;
}

int vv_ring_bell(int bell)
{
    uint64_t one = 1;
    ssize_t written = write(bell, &one, sizeof one);
    return written < 0 && errno != EAGAIN ? -errno : 0;
}

int vv_still_bell(int bell)
{
    uint64_t rung;
    ssize_t got = read(bell, &rung, sizeof rung);
    return got < 0 && errno != EAGAIN ? -errno : 0;
}

int vv_close_bell(int bell)
{
    return close(bell) < 0 ? -errno : 0;
}

DOES(vv_get_async_event, ibv_get_async_event(context, event), struct ibv_context *context,
     struct ibv_async_event *event)
TELLS(vv_ack_async_event, ibv_ack_async_event(event), struct ibv_async_event *event)
MAKES(vv_create_comp_channel, ibv_create_comp_channel(context), struct ibv_context *context,
      struct ibv_comp_channel **out)
DOES(vv_destroy_comp_channel, ibv_destroy_comp_channel(channel), struct ibv_comp_channel *channel)

int vv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **out)
{
    void *context;
    DONE(ibv_get_cq_event(channel, out, &context));
}

TELLS(vv_ack_cq_events, ibv_ack_cq_events(cq, count), struct ibv_cq *cq, uint32_t count)
MAKES(vv_alloc_pd, ibv_alloc_pd(context), struct ibv_context *context, struct ibv_pd **out)
DOES(vv_dealloc_pd, ibv_dealloc_pd(pd), struct ibv_pd *pd)
MAKES(vv_import_pd, ibv_import_pd(context, handle), struct ibv_context *context, uint32_t handle,
      struct ibv_pd **out)
TELLS(vv_unimport_pd, ibv_unimport_pd(pd), struct ibv_pd *pd)
MAKES(vv_import_mr, ibv_import_mr(pd, handle), struct ibv_pd *pd, uint32_t handle,
      struct ibv_mr **out)
TELLS(vv_unimport_mr, ibv_unimport_mr(mr), struct ibv_mr *mr)
MAKES(vv_import_dm, ibv_import_dm(context, handle), struct ibv_context *context, uint32_t handle,
      struct ibv_dm **out)
TELLS(vv_unimport_dm, ibv_unimport_dm(dm), struct ibv_dm *dm)
MAKES(vv_alloc_td, ibv_alloc_td(context, &(struct ibv_td_init_attr){0}),
      struct ibv_context *context, struct ibv_td **out)
DOES(vv_dealloc_td, ibv_dealloc_td(td), struct ibv_td *td)
MAKES(vv_alloc_parent_domain,
      ibv_alloc_parent_domain(pd->context,
                              &(struct ibv_parent_domain_init_attr){.pd = pd, .td = td}),
      struct ibv_pd *pd, struct ibv_td *td, struct ibv_pd **out)
MAKES(vv_reg_mr,
      iova == (uintptr_t)address ? ibv_reg_mr(pd, address, length, access)
                                 : ibv_reg_mr_iova(pd, address, length, iova, access),
      struct ibv_pd *pd, void *address, uint64_t length, uint64_t iova, uint32_t access,
      struct ibv_mr **out)
MAKES(vv_reg_dmabuf_mr, ibv_reg_dmabuf_mr(pd, offset, length, iova, file, (int)access),
      struct ibv_pd *pd, uint64_t offset, uint64_t length, uint64_t iova, int file, uint32_t access,
      struct ibv_mr **out)
MAKES(vv_alloc_null_mr, ibv_alloc_null_mr(pd), struct ibv_pd *pd, struct ibv_mr **out)

int vv_rereg_mr(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *address, uint64_t length,
                uint32_t access)
{
    errno = 0;
    int result = ibv_rereg_mr(mr, flags, pd, address, length, (int)access);
    if (!result)
        return 0;
    if (result == IBV_REREG_MR_ERR_DO_FORK_OLD)
        return 0; /* done; only that children of fork will not have the old pages */
    int why = failure();
    /* Who cannot do it has done nothing, whatever the answer says. */
    int is_lost = result <= IBV_REREG_MR_ERR_CMD && why != -EOPNOTSUPP && why != -ENOSYS;
    return is_lost ? why - VV_REREG_LOST : why;
}

DOES(vv_dereg_mr, ibv_dereg_mr(mr), struct ibv_mr *mr)
MAKES(vv_alloc_dm,
      ibv_alloc_dm(context, &(struct ibv_alloc_dm_attr){.length = length,
                                                        .log_align_req = (uint32_t)alignment_log2}),
      struct ibv_context *context, uint64_t length, int alignment_log2, struct ibv_dm **out)
DOES(vv_free_dm, ibv_free_dm(dm), struct ibv_dm *dm)
DOES(vv_memcpy_to_dm, ibv_memcpy_to_dm(dm, offset, from, length), struct ibv_dm *dm,
     uint64_t offset, const void *from, uint64_t length)
DOES(vv_memcpy_from_dm, ibv_memcpy_from_dm(to, dm, offset, length), void *to, struct ibv_dm *dm,
     uint64_t offset, uint64_t length)
MAKES(vv_reg_dm_mr, ibv_reg_dm_mr(pd, dm, offset, length, access), struct ibv_pd *pd,
      struct ibv_dm *dm, uint64_t offset, uint64_t length, uint32_t access, struct ibv_mr **out)
DOES(vv_advise_mr,
     ibv_advise_mr(pd, (enum ibv_advise_mr_advice)advice, flags, list, (uint32_t)count),
     struct ibv_pd *pd, int advice, uint32_t flags, struct ibv_sge *list, int count)
MAKES(vv_alloc_mw, ibv_alloc_mw(pd, (enum ibv_mw_type)type), struct ibv_pd *pd, int type,
      struct ibv_mw **out)
DOES(vv_bind_mw, ibv_bind_mw(qp, mw, bind), struct ibv_qp *qp, struct ibv_mw *mw,
     struct ibv_mw_bind *bind)
DOES(vv_dealloc_mw, ibv_dealloc_mw(mw), struct ibv_mw *mw)
