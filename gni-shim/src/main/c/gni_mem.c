/* Registration of memory. */
#include "gni_library.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096ull

/* ---- a key of the software NIC over [address, address+length), a little widened ---- */

/* Words of 8 bytes around an atomic's 4 must be reachable, too: the range that may be named is
 * checked by us, in the registration. */
int gni_mem_key(struct gni_nic *nic, uint64_t address, uint64_t length, uint32_t flags,
                uint64_t *base, snic_key_t *key)
{
    int wrong = gni_maps_check(nic, address, length, !(flags & GNI_MEM_READ_ONLY));

    if (wrong != 0) {
        gni_fail("GNI_MemRegister: of %llu bytes at %#llx some are %s", (unsigned long long)length,
                 (unsigned long long)address,
                 wrong == -EFAULT ? "not mapped"
                                  : "mapped without the right to be written or read");
        return wrong;
    }
    uint64_t grain = nic->bounds_pages ? PAGE : 8;
    uint64_t lo = address & ~(grain - 1), hi = (address + length + grain - 1) & ~(grain - 1);
    uint32_t rights = flags & GNI_MEM_READ_ONLY ? SNIC_READ : SNIC_READ | SNIC_WRITE | SNIC_ATOMIC;
    char why[SNIC_WHY_MAX] = "";
    int error = snic_register(nic->snic, (const void *)(uintptr_t)lo, hi - lo, rights, key, why,
                              sizeof(why));

    if (error == -ERANGE) { /* ends with memory from GNI_ExtMemAlloc */
        lo = address & ~7ull;
        hi = address + length;
        error = snic_register(nic->snic, (const void *)(uintptr_t)lo, hi - lo, rights, key, why,
                              sizeof(why));
    }
    *base = lo;
    if (error != 0)
        gni_fail("GNI_MemRegister: %s", why);
    return error;
}

gni_return_t gni_mem_code(int error)
{
    return error == -EOPNOTSUPP || error == -EACCES ? GNI_RC_PERMISSION_ERROR
           : error == -ENOMEM                       ? GNI_RC_ERROR_NOMEM
           : error == -ERANGE || error == -EFAULT   ? GNI_RC_INVALID_PARAM
                                                    : GNI_RC_ERROR_RESOURCE;
}

int gni_mem_prepare_ring(struct gni_cq *cq)
{
    return cq && !(cq->mode & GNI_CQ_UNMANAGED) ? gni_cq_ring_prepare(cq, "GNI_MemRegister") : 0;
}

/* ---- the table ---- */

void gni_mem_publish(struct gni_nic *nic, uint32_t index, uint64_t base)
{
    struct gni_own_mdh *own = &nic->mdh[index];
    struct gni_mdh *mdh = &nic->view.mdh[index];

#ifndef SNIC_TSAN /* which knows no fences */
    /* Whoever copies a new field finds that the former generation has ended; a release or an
     * exchange that ended it does not see to that on every processor. Partner: gni_mdh_copy. */
    atomic_thread_fence(memory_order_release);
#endif
    mdh->flags = (own->flags & GNI_MEM_READ_ONLY ? GNI_MDH_READ_ONLY : 0u) |
                 (own->reserved != NULL ? GNI_MDH_RESERVED : 0u);
    mdh->address = own->address;
    mdh->length = own->length;
    mdh->base = base;
    mdh->key = own->key;
    mdh->segment_first = own->segment_first;
    mdh->segment_count = own->segment_count;
    mdh->ring = (snic_location_t){0};
    mdh->ring_slots = 0;
    if (own->cq != NULL && own->cq->ring != NULL) {
        mdh->ring = own->cq->ring_location;
        mdh->ring_slots = own->cq->ring_slots;
    }
    SNIC_STEP("gni.register.filled");
    own->generation += 1;
    own->is_live = 1;
    /* Partner: the acquire load in gni_mdh_copy. */
    atomic_store_explicit(&mdh->generation, own->generation, memory_order_release);
    SNIC_STEP("gni.register.published");
}

int gni_mem_take_index(struct gni_nic *nic, uint32_t *index)
{
    if (nic->mdh_used >= nic->mdh_limit || nic->mdh_head >= GNI_MDHS)
        return -ENOSPC;
    *index = nic->mdh_head;
    nic->mdh_head = nic->mdh[*index].next;
    nic->mdh_used++;
    return 0;
}

static void give_index(struct gni_nic *nic, uint32_t index)
{
    nic->mdh[index].next = GNI_MDHS;
    if (nic->mdh_head >= GNI_MDHS)
        nic->mdh_head = index;
    else
        nic->mdh[nic->mdh_tail].next = index;
    nic->mdh_tail = index;
    nic->mdh_used--;
}

/* The record that a handle of ours names, or NULL. */
static struct gni_own_mdh *find(struct gni_nic *nic, const gni_mem_handle_t *handle)
{
    struct gni_own_mdh *own = &nic->mdh[gni_handle_index(handle)];

    /* As it was given out, so its CRC needs no second look. */
    return (own->is_live || own->reserved) && own->handle.qword1 == handle->qword1 &&
                   own->handle.qword2 == handle->qword2
               ? own
               : NULL;
}

static gni_return_t refuse(struct gni_nic *nic, uint64_t length, struct gni_cq *cq,
                           gni_cq_handle_t cq_handle, const gni_mem_handle_t *mem_hndl)
{
    if (nic == NULL || mem_hndl == NULL || length == 0)
        return GNI_RC_INVALID_PARAM;
    if (cq_handle != NULL && (cq == NULL || cq->nic != nic || cq->eps != 0))
        return GNI_RC_INVALID_PARAM;
    return GNI_RC_SUCCESS;
}

void gni_mem_fill(struct gni_own_mdh *own, uint64_t address, uint64_t length, uint32_t flags,
                  struct gni_cq *cq)
{
    own->flags = flags;
    own->address = address;
    own->length = length;
    own->cq = cq;
    own->segment_count = 0;
    if (cq != NULL)
        cq->memories++;
}

void gni_mem_make_handle(struct gni_nic *nic, uint32_t index, gni_mem_handle_t *handle)
{
    struct gni_own_mdh *own = &nic->mdh[index];

    gni_handle_make(&own->handle, nic->inst, snic_incarnation(nic->snic), index,
                    own->generation >> 1 & GNI_ENTROPY_MASK,
                    GNI_HANDLE_NEW | 0x04u |
                        (own->flags & GNI_MEM_READ_ONLY ? GNI_HANDLE_READ_ONLY : 0));
    *handle = own->handle;
}

static gni_return_t register_one(struct gni_nic *nic, uint64_t address, uint64_t length,
                                 struct gni_cq *cq, uint32_t flags, gni_mem_handle_t *mem_hndl)
{
    uint64_t base;
    snic_key_t key;
    uint32_t index;
    int error = gni_mem_prepare_ring(cq);

    if (error == 0)
        error = gni_mem_key(nic, address, length, flags, &base, &key);
    if (error != 0)
        return gni_mem_code(error);
    if (gni_mem_take_index(nic, &index) != 0) {
        snic_deregister(nic->snic, &key, GNI_DEREGISTER_MS);
        gni_fail("GNI_MemRegister: all %u registrations are in use", nic->mdh_limit);
        return GNI_RC_ERROR_RESOURCE;
    }
    if (nic->bounds_pages) {
        length = ((address & (PAGE - 1)) + length + PAGE - 1) & ~(PAGE - 1);
        address &= ~(PAGE - 1);
    }
    gni_mem_fill(&nic->mdh[index], address, length, flags, cq);
    nic->mdh[index].key = key;
    gni_mem_publish(nic, index, base);
    gni_mem_make_handle(nic, index, mem_hndl);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_MemRegister(gni_nic_handle_t nic_hndl, uint64_t address, uint64_t length,
                             gni_cq_handle_t dst_cq_hndl, uint32_t flags, uint32_t vmdh_index,
                             gni_mem_handle_t *mem_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_cq *cq = gni_handle_find(dst_cq_hndl, GNI_KIND_CQ);
    gni_return_t code = refuse(nic, length, cq, dst_cq_hndl, mem_hndl);

    gni_forget_failure();
    (void)vmdh_index;
    if (code == GNI_RC_SUCCESS && length > UINT64_MAX - address - PAGE)
        code = GNI_RC_INVALID_PARAM;
    if ((flags & GNI_MEM_RESERVE_REGION) && (flags & GNI_MEM_UPDATE_REGION))
        code = GNI_RC_INVALID_PARAM;
    if (code != GNI_RC_SUCCESS)
        return code;
    gni_enter(&nic->lock);
    if (flags & GNI_MEM_RESERVE_REGION)
        code = gni_reserve(nic, address, length, cq, flags, mem_hndl);
    else if (flags & GNI_MEM_UPDATE_REGION)
        code = gni_reserve_update(nic, address, length, mem_hndl);
    else
        code = register_one(nic, address, length, cq, flags, mem_hndl);
    gni_leave(&nic->lock);
    return code;
}

/* ---- segments: addressed by offset ---- */

int gni_mem_take_segments(struct gni_nic *nic, uint32_t count, uint32_t *first)
{
    uint32_t run = 0;

    for (uint32_t i = 0; i < GNI_SEGMENTS; i++) {
        run = nic->segment_used[i] ? 0 : run + 1;
        if (run == count) {
            *first = i + 1 - count;
            memset(&nic->segment_used[*first], 1, count);
            return 0;
        }
    }
    return -ENOSPC;
}

int gni_mem_drain(struct gni_nic *nic, const snic_key_t *keys, uint32_t count)
{
    int error = 0;

    /* All of them end, and together they wait no longer than one would. What an earlier call
     * drained is stale: that counts as done. */
    for (uint32_t i = 0; i < count; i++)
        if (snic_deregister(nic->snic, &keys[i], error ? 0 : GNI_DEREGISTER_MS) == -ETIMEDOUT)
            error = -ETIMEDOUT;
    return error;
}

static void drop_segments(struct gni_nic *nic, struct gni_own_mdh *own, uint32_t first)
{
    if (own->segment_count)
        memset(&nic->segment_used[first], 0, own->segment_count);
    free(own->keys);
    free(own->segments);
    own->keys = NULL;
    own->segments = NULL;
    own->segment_count = 0;
}

static int fill_segments(struct gni_nic *nic, struct gni_own_mdh *own, uint32_t first,
                         uint32_t flags, uint32_t *made)
{
    uint64_t offset = 0, base;

    for (uint32_t i = 0; i < own->segment_count; i++) {
        struct gni_segment *shared = &nic->view.segment[first + i];
        const gni_mem_segment_t *s = &own->segments[i];
        int error = gni_mem_key(nic, s->address, s->length, flags, &base, &own->keys[i]);

        if (error != 0)
            return error;
        *made = i + 1;
        shared->offset = offset;
        shared->length = s->length;
        shared->key = own->keys[i];
        shared->base = s->address - base;
        offset += s->length;
    }
    return 0;
}

static gni_return_t register_segments(struct gni_nic *nic, const gni_mem_segment_t *segments,
                                      uint32_t count, uint64_t length, struct gni_cq *cq,
                                      uint32_t flags, gni_mem_handle_t *mem_hndl)
{
    struct gni_own_mdh *own;
    uint32_t index, first = 0, made = 0;
    int error = gni_mem_prepare_ring(cq);

    if (error != 0 || gni_mem_take_index(nic, &index) != 0)
        return GNI_RC_ERROR_RESOURCE;
    own = &nic->mdh[index];
    gni_mem_fill(own, 0, length, flags, cq);
    own->segments = malloc(count * sizeof(*segments));
    own->keys = calloc(count, sizeof(*own->keys));
    error = own->segments && own->keys ? gni_mem_take_segments(nic, count, &first) : -ENOMEM;
    if (error == 0) {
        own->segment_count = count;
        memcpy(own->segments, segments, count * sizeof(*segments));
        error = fill_segments(nic, own, first, flags, &made);
    }
    if (error != 0) {
        gni_mem_drain(nic, own->keys, made);
        drop_segments(nic, own, first);
        if (cq != NULL)
            cq->memories--;
        give_index(nic, index);
        return gni_mem_code(error);
    }
    own->segment_first = first;
    gni_mem_publish(nic, index, 0);
    gni_mem_make_handle(nic, index, mem_hndl);
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_MemRegisterSegments(gni_nic_handle_t nic_hndl, gni_mem_segment_t *mem_segments,
                                     uint32_t segments_cnt, gni_cq_handle_t dst_cq_hndl,
                                     uint32_t flags, uint32_t vmdh_index,
                                     gni_mem_handle_t *mem_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    struct gni_cq *cq = gni_handle_find(dst_cq_hndl, GNI_KIND_CQ);
    gni_return_t code = refuse(nic, segments_cnt, cq, dst_cq_hndl, mem_hndl);
    uint64_t length = 0;

    gni_forget_failure();
    (void)vmdh_index;
    if (code != GNI_RC_SUCCESS || mem_segments == NULL || segments_cnt > GNI_SEGMENTS)
        return code != GNI_RC_SUCCESS ? code : GNI_RC_INVALID_PARAM;
    for (uint32_t i = 0; i < segments_cnt; i++) {
        const gni_mem_segment_t *s = &mem_segments[i];

        if (s->length == 0 || s->length > (1ull << 48) || s->address > (1ull << 56))
            return GNI_RC_INVALID_PARAM;
        length += s->length;
    }
    gni_enter(&nic->lock);
    code = register_segments(nic, mem_segments, segments_cnt, length, cq, flags, mem_hndl);
    gni_leave(&nic->lock);
    return code;
}

/* ---- the end of a registration ---- */

/* 0, or -ETIMEDOUT: a process that began before is still inside. Then nothing is given back, and
 * the next call goes on waiting. */
static int revoke(struct gni_nic *nic, uint32_t index)
{
    struct gni_own_mdh *own = &nic->mdh[index];
    struct gni_mdh *mdh = &nic->view.mdh[index];

    if (own->is_live)
        own->generation += own->generation & 1; /* even: an earlier call has revoked it */
    else
        own->generation += 2; /* reserved, and not yet given to any process */
    /* Nobody begins anything from here on; the keys wait for those who have begun. */
    atomic_store_explicit(&mdh->generation, own->generation, memory_order_release);
    SNIC_STEP("gni.deregister.revoked");
    if (own->reserved != NULL)
        return gni_reserve_drain(nic, own);
    if (own->segment_count)
        return gni_mem_drain(nic, own->keys, own->segment_count);
    return gni_mem_drain(nic, &own->key, 1);
}

static void forget(struct gni_nic *nic, uint32_t index)
{
    struct gni_own_mdh *own = &nic->mdh[index];

    own->is_live = 0;
    if (own->reserved != NULL)
        gni_reserve_drop(nic, own);
    else if (own->segment_count)
        drop_segments(nic, own, own->segment_first);
    if (own->cq != NULL)
        own->cq->memories--;
    own->cq = NULL;
    give_index(nic, index);
}

gni_return_t GNI_MemDeregister(gni_nic_handle_t nic_hndl, gni_mem_handle_t *mem_hndl)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    gni_return_t code = GNI_RC_INVALID_PARAM;
    struct gni_own_mdh *own;

    gni_forget_failure();
    if (nic == NULL || mem_hndl == NULL)
        return code;
    gni_enter(&nic->lock);
    own = find(nic, mem_hndl);
    if (own != NULL && revoke(nic, (uint32_t)(own - nic->mdh)) != 0) {
        gni_fail(
            "GNI_MemDeregister: a peer has been inside for %u ms; it may be stopped: try again",
            GNI_DEREGISTER_MS);
        code = GNI_RC_TIMEOUT;
    } else if (own != NULL) {
        forget(nic, (uint32_t)(own - nic->mdh));
        code = GNI_RC_SUCCESS;
    }
    gni_leave(&nic->lock);
    return code;
}

void gni_mem_close(struct gni_nic *nic)
{
    for (uint32_t i = 0; i < GNI_MDHS; i++)
        if (nic->mdh[i].is_live || nic->mdh[i].reserved) {
            revoke(nic, i);
            forget(nic, i);
        }
}

uint32_t gni_local_range(struct gni_nic *nic, const gni_mem_handle_t *handle, uint64_t address,
                         uint64_t length, uint8_t **at, uint64_t *piece)
{
    const struct gni_own_mdh *own = find(nic, handle);

    if (own == NULL)
        return GNI_STATUS_MDD_INVALID;
    if (address < own->address || address - own->address > own->length ||
        length > own->length - (address - own->address))
        return GNI_STATUS_BOUNDS;
    if (own->reserved != NULL)
        return gni_reserve_range(own, address, length, at, piece);
    *piece = length;
    if (own->segment_count == 0) {
        *at = (uint8_t *)(uintptr_t)address;
        return GNI_STATUS_OK;
    }
    for (uint32_t i = 0; i < own->segment_count; i++) {
        if (address < own->segments[i].length) {
            if (*piece > own->segments[i].length - address)
                *piece = own->segments[i].length - address;
            *at = (uint8_t *)(uintptr_t)(own->segments[i].address + address);
            return GNI_STATUS_OK;
        }
        address -= own->segments[i].length;
    }
    return length == 0 ? GNI_STATUS_OK : GNI_STATUS_BOUNDS;
}

/* ---- questions ---- */

gni_return_t GNI_MemHndlQueryAttr(gni_mem_handle_t *mem_hndl, gni_mem_handle_attr_t attr,
                                  int *yesno)
{
    /* In the order of gni_mem_handle_attr_t. */
    static const uint8_t flag[] = {0, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40};

    if (mem_hndl == NULL || yesno == NULL || (int)attr < GNI_MEMHNDL_ATTR_READONLY ||
        (int)attr > GNI_MEMHNDL_ATTR_CLONE || !gni_handle_is_valid(mem_hndl))
        return GNI_RC_INVALID_PARAM;
    *yesno = (gni_handle_flags(mem_hndl) & flag[attr]) != 0;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_SetMddResources(gni_nic_handle_t nic_hndl, uint32_t num_entries)
{
    (void)num_entries;
    return gni_handle_find(nic_hndl, GNI_KIND_NIC) ? GNI_RC_SUCCESS : GNI_RC_INVALID_PARAM;
}

gni_return_t GNI_RebuildMemHndl(gni_mem_handle_t *src_mem_hndl, uint32_t vmdh_index,
                                gni_mem_handle_t *dst_mem_hndl)
{
    (void)vmdh_index;
    if (src_mem_hndl == NULL || dst_mem_hndl == NULL || !gni_handle_is_valid(src_mem_hndl))
        return GNI_RC_INVALID_PARAM;
    *dst_mem_hndl = *src_mem_hndl;
    return GNI_RC_SUCCESS;
}

gni_return_t GNI_MemQueryHndls(gni_nic_handle_t nic_hndl, int fd, gni_mem_handle_t *mem_hndl,
                               uint64_t *address, uint64_t *length)
{
    struct gni_nic *nic = gni_handle_find(nic_hndl, GNI_KIND_NIC);
    gni_return_t code = GNI_RC_NO_MATCH;
    uint32_t from = 0;

    (void)fd;
    if (address == NULL || length == NULL || mem_hndl == NULL)
        return GNI_RC_INVALID_PARAM;
    *address = *length = 0;
    if (nic == NULL)
        return GNI_RC_INVALID_PARAM;
    gni_enter(&nic->lock);
    if (mem_hndl->qword1 != 0 || mem_hndl->qword2 != 0) {
        if (find(nic, mem_hndl) == NULL)
            code = GNI_RC_INVALID_STATE;
        from = gni_handle_index(mem_hndl) + 1;
    }
    for (uint32_t i = from; code == GNI_RC_NO_MATCH && i < GNI_MDHS; i++) {
        if (!nic->mdh[i].is_live)
            continue;
        *mem_hndl = nic->mdh[i].handle;
        *address = nic->mdh[i].address;
        *length = nic->mdh[i].length;
        code = GNI_RC_SUCCESS;
    }
    gni_leave(&nic->lock);
    return code;
}
