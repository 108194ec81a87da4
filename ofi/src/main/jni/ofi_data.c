/* libfabric calls with flat arguments: what moves data, completions, sleeping. */
#include "ofi_library.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define EP(value) AT(struct fid_ep, value)
#define CQ(value) AT(struct fid_cq, value)
#define DRAIN_MAX 64

int32_t vfi_send(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                 uint64_t peer, uint64_t context)
{
    return (int32_t)fi_send(EP(endpoint), AT(void, address), length, AT(void, descriptor), peer,
                            AT(void, context));
}

int32_t vfi_send2(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                  uint64_t address2, uint64_t length2, uint64_t descriptor2, uint64_t peer,
                  uint64_t context)
{
    struct iovec pieces[2] = {{AT(void, address), length}, {AT(void, address2), length2}};
    void *descriptors[2] = {AT(void, descriptor), AT(void, descriptor2)};

    return (int32_t)fi_sendv(EP(endpoint), pieces, descriptors, 2, peer, AT(void, context));
}

int32_t vfi_inject(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t peer)
{
    return (int32_t)fi_inject(EP(endpoint), AT(void, address), length, peer);
}

int32_t vfi_recv(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                 uint64_t context)
{
    return (int32_t)fi_recv(EP(endpoint), AT(void, address), length, AT(void, descriptor),
                            FI_ADDR_UNSPEC, AT(void, context));
}

int32_t vfi_write(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                  uint64_t peer, uint64_t remote, uint64_t key, uint64_t context)
{
    struct iovec local = {AT(void, address), length};
    struct fi_rma_iov target = {remote, length, key};
    void *descriptors = AT(void, descriptor);
    struct fi_msg_rma message = {&local, &descriptors, 1, peer, &target, 1, AT(void, context), 0};

    return (int32_t)fi_writemsg(EP(endpoint), &message, FI_COMPLETION | FI_DELIVERY_COMPLETE);
}

int32_t vfi_read(uint64_t endpoint, uint64_t address, uint64_t length, uint64_t descriptor,
                 uint64_t peer, uint64_t remote, uint64_t key, uint64_t context)
{
    return (int32_t)fi_read(EP(endpoint), AT(void, address), length, AT(void, descriptor), peer,
                            remote, key, AT(void, context));
}

int32_t vfi_fetch_add(uint64_t endpoint, uint64_t operand, uint64_t result, uint64_t descriptor,
                      uint64_t peer, uint64_t remote, uint64_t key, uint64_t context)
{
    return (int32_t)fi_fetch_atomic(EP(endpoint), AT(void, operand), 1, AT(void, descriptor),
                                    AT(void, result), AT(void, descriptor), peer, remote, key,
                                    FI_UINT64, FI_SUM, AT(void, context));
}

int32_t vfi_compare_swap(uint64_t endpoint, uint64_t operand, uint64_t expected, uint64_t result,
                         uint64_t descriptor, uint64_t peer, uint64_t remote, uint64_t key,
                         uint64_t context)
{
    void *registered = AT(void, descriptor);

    return (int32_t)fi_compare_atomic(EP(endpoint), AT(void, operand), 1, registered,
                                      AT(void, expected), registered, AT(void, result), registered,
                                      peer, remote, key, FI_UINT64, FI_CSWAP, AT(void, context));
}

/* ---- completions ---- */

int32_t vfi_cq_read(uint64_t cq, uint64_t entries, uint32_t count)
{
    ssize_t read = fi_cq_read(CQ(cq), AT(void, entries), count);

    return read == -FI_EAGAIN ? 0 : (int32_t)read;
}

int32_t vfi_cq_error(uint64_t cq, uint64_t entry)
{
    struct fi_cq_err_entry error;
    uint64_t *words = AT(uint64_t, entry);
    ssize_t read;

    memset(&error, 0, sizeof(error));
    read = fi_cq_readerr(CQ(cq), &error, 0);
    if (read < 0)
        return read == -FI_EAGAIN ? 0 : (int32_t)read;
    words[0] = (uint64_t)(uintptr_t)error.op_context;
    words[1] = error.flags;
    words[2] = error.len;
    words[VFI_ERROR_CODE / 8] = (uint64_t)(int64_t)error.err;
    words[VFI_ERROR_PROVIDER / 8] = (uint64_t)(int64_t)error.prov_errno;
    return 1;
}

void vfi_progress(uint64_t cq)
{
    fi_cq_read(CQ(cq), NULL, 0);
}

/* ---- sleeping ---- */

int32_t vfi_bell(void)
{
    int bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

    return bell < 0 ? -errno : bell;
}

void vfi_bell_ring(int32_t bell)
{
    uint64_t one = 1;

    /* A bell that is full rings already. */
    if (write(bell, &one, sizeof(one)) < 0)
        return;
}

int32_t vfi_may_sleep(uint64_t fabric, uint64_t cq)
{
    struct fid *queue = &CQ(cq)->fid;

    return fi_trywait(AT(struct fid_fabric, fabric), &queue, 1) == FI_SUCCESS;
}

int32_t vfi_sleep(int32_t descriptor, int32_t bell, int64_t ns)
{
    struct pollfd at[2] = {{bell, POLLIN, 0}, {descriptor, POLLIN, 0}};
    struct timespec limit = {ns / 1000000000, ns % 1000000000};
    uint64_t rung;

    ppoll(at, descriptor >= 0 ? 2 : 1, &limit, NULL);
    /* A bell that another sleeper has read already rings no more: no error. */
    if ((at[0].revents & POLLIN) && read(bell, &rung, sizeof(rung)) < 0)
        return 0;
    return (at[1].revents & POLLIN) != 0;
}

/* ---- beacons ---- */

int32_t vfi_beacon(uint64_t name, uint32_t length)
{
    const struct sockaddr *at = AT(struct sockaddr, name);
    int beacon = socket(at->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1, code;

    if (beacon < 0)
        return -errno;
    if (setsockopt(beacon, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
        bind(beacon, at, length) == 0 && listen(beacon, SOMAXCONN) == 0)
        return beacon;
    code = -errno;
    close(beacon);
    return code;
}

void vfi_beacon_drain(int32_t beacon)
{
    for (int i = 0; i < DRAIN_MAX; i++) {
        int peer = accept(beacon, NULL, NULL);

        if (peer < 0)
            return;
        close(peer);
    }
}

void vfi_close_descriptor(int32_t descriptor)
{
    close(descriptor);
}
