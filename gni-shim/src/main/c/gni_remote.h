/* What an initiator does with a peer's registration; enum gni_status (gni_remote.c). */
#ifndef GNI_REMOTE_H
#define GNI_REMOTE_H

#include "gni_library.h"

struct gni_target {
    struct gni_peer *peer;
    struct gni_reach *reach;
};
/* Looks the handle up, or finds in `reach` that it was looked up. */
uint32_t gni_target_open_slowly(struct gni_ep *ep, struct gni_reach *reach,
                                const gni_mem_handle_t *handle, struct gni_target *target);
/* Nothing has changed since it was looked up: the same handle, of the same attachment, and its
 * owner has not deregistered it. Whoever then begins a transfer asks softnic's key once more,
 * pinned. */
static inline int gni_reach_holds(const struct gni_reach *reach, const gni_mem_handle_t *handle)
{
    return reach->is_mapped && reach->handle.qword1 == handle->qword1 &&
           reach->handle.qword2 == handle->qword2 && reach->drops == reach->peer->drops &&
           atomic_load_explicit(reach->published, memory_order_acquire) == reach->generation;
}
static inline uint32_t gni_target_open(struct gni_ep *ep, struct gni_reach *reach,
                                       const gni_mem_handle_t *handle, struct gni_target *target)
{
    target->peer = reach->peer;
    target->reach = reach;
    if (__builtin_expect(gni_reach_holds(reach, handle) && !gni_peer_is_due(ep->nic, reach->peer),
                         1))
        return GNI_STATUS_OK;
    return gni_target_open_slowly(ep, reach, handle, target);
}
static inline uint32_t gni_target_check(const struct gni_target *target, uint64_t address,
                                        uint64_t length, int writes)
{
    const struct gni_mdh *mdh = &target->reach->mdh;

    if (writes && (mdh->flags & GNI_MDH_READ_ONLY))
        return GNI_STATUS_READ_ONLY;
    if (address < mdh->address || address - mdh->address > mdh->length ||
        length > mdh->length - (address - mdh->address))
        return GNI_STATUS_BOUNDS;
    return GNI_STATUS_OK;
}
/* Only where target->reach->is_mapped: pins; until gni_target_end its bytes may be touched. */
uint32_t gni_status_of(int error);
static inline uint32_t gni_target_begin(struct gni_target *target, uint32_t right)
{
    int error = (target->reach->snic.rights & right) == right ? snic_reach_pin(&target->reach->snic)
                                                              : -EACCES;

    return __builtin_expect(error == 0, 1) ? GNI_STATUS_OK : gni_status_of(error);
}
static inline uint8_t *gni_target_at(const struct gni_target *target, uint64_t address)
{
    return target->reach->at + (address - target->reach->mdh.address);
}
/* GNI_STATUS_OK, or UNREACHABLE: a process cut the target's file, its bytes were not there. */
static inline uint32_t gni_target_end(struct gni_target *target)
{
    snic_reach_unpin(&target->reach->snic);
    return __builtin_expect(snic_reach_whole(&target->reach->snic) == 0, 1)
               ? GNI_STATUS_OK
               : GNI_STATUS_UNREACHABLE;
}
uint32_t gni_target_write(struct gni_target *target, uint64_t address, const void *from,
                          uint64_t length);
uint32_t gni_target_read(struct gni_target *target, uint64_t address, void *to, uint64_t length);
/* A word of 8 bytes, whole and after everything written before it. `guess`: what may lie there. */
uint32_t gni_target_store(struct gni_target *target, uint64_t address, uint64_t guess,
                          uint64_t value);
uint32_t gni_target_load(struct gni_target *target, uint64_t address, uint64_t *value);
uint32_t gni_target_amo(struct gni_target *target, uint64_t address, uint32_t command, uint64_t a,
                        uint64_t b, uint64_t *before);
/* Appends to a destination queue, if there is one, and rings. */
void gni_peer_event(struct gni_peer *peer, const snic_location_t *ring, uint64_t slots,
                    uint64_t entry);
/* The same to the queue of the registration. */
void gni_target_event(struct gni_target *target, uint64_t entry);
uint64_t gni_amo_apply(uint32_t command, uint64_t t, uint64_t a, uint64_t b);

#endif
