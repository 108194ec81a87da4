/*
 * Regions that are reserved first and whose pages come later, piece by piece. The handle is made at
 * once; others find it with the first piece. Pieces are segments named by address. Each piece that
 * comes is published with all earlier ones in a new run of the shared table, for a process may be
 * reading the old one; old runs are given back with the region.
 */
#include "gni_library.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECES_MAX 32u
#define IS_THERE ((int)PIECES_MAX + 1)
#define SAME_ENTROPY                                                                               \
    (2u << GNI_ENTROPY_BITS) /* further on in generations, and in handles the same */

struct gni_reserved {
    uint32_t pieces;
    uint32_t run[PIECES_MAX]; /* the one of i + 1 pieces begins there */
    struct {
        uint64_t address, length, base;
        snic_key_t key;
    } piece[PIECES_MAX]; /* by address */
};

gni_return_t gni_reserve(struct gni_nic *nic, uint64_t address, uint64_t length, struct gni_cq *cq,
                         uint32_t flags, gni_mem_handle_t *mem_hndl)
{
    int error = gni_mem_prepare_ring(cq);
    struct gni_reserved *reserved;
    uint32_t index;

    if (error != 0)
        return gni_mem_code(error);
    reserved = calloc(1, sizeof(*reserved));
    if (reserved == NULL)
        return GNI_RC_ERROR_NOMEM;
    if (gni_mem_take_index(nic, &index) != 0) {
        free(reserved);
        return GNI_RC_ERROR_RESOURCE;
    }
    gni_mem_fill(&nic->mdh[index], address, length, flags, cq);
    nic->mdh[index].reserved = reserved;
    nic->mdh[index].generation += 1;
    gni_mem_make_handle(nic, index, mem_hndl);
    nic->mdh[index].generation -= 1; /* gni_mem_publish adds it */
    return GNI_RC_SUCCESS;
}

/* Where the piece belongs; IS_THERE: nothing is to be done; -EINVAL: it overlaps others. */
static int place_of(const struct gni_reserved *r, uint64_t address, uint64_t length)
{
    uint32_t i = 0;

    while (i < r->pieces && r->piece[i].address + r->piece[i].length <= address)
        i++;
    if (i == r->pieces || address + length <= r->piece[i].address)
        return (int)i;
    return address >= r->piece[i].address &&
                   address + length <= r->piece[i].address + r->piece[i].length
               ? IS_THERE
               : -EINVAL;
}

/* All pieces into the run that begins at `first`, and out. */
static void show(struct gni_nic *nic, struct gni_own_mdh *own, uint32_t first)
{
    struct gni_reserved *r = own->reserved;
    uint32_t index = (uint32_t)(own - nic->mdh);

    for (uint32_t i = 0; i < r->pieces; i++)
        nic->view.segment[first + i] = (struct gni_segment){.offset = r->piece[i].address,
                                                            .length = r->piece[i].length,
                                                            .base = r->piece[i].base,
                                                            .key = r->piece[i].key};
    if (own->is_live) { /* no reader takes half of the old and half of the new */
        /* Nothing of the new one is written before; gni_mem_publish begins with a fence. */
        atomic_exchange_explicit(&nic->view.mdh[index].generation, own->generation + 1,
                                 memory_order_acq_rel);
        own->generation += SAME_ENTROPY - 1;
    }
    own->segment_first = first;
    own->segment_count = r->pieces;
    gni_mem_publish(nic, index, own->address);
}

gni_return_t gni_reserve_update(struct gni_nic *nic, uint64_t address, uint64_t length,
                                const gni_mem_handle_t *mem_hndl)
{
    struct gni_own_mdh *own = &nic->mdh[gni_handle_index(mem_hndl)];
    struct gni_reserved *r = own->reserved;
    uint32_t first;
    snic_key_t key;
    uint64_t base;
    int at, error;

    if (r == NULL || (own->is_live && !(own->generation & 1)) || /* which is being ended */
        own->handle.qword1 != mem_hndl->qword1 || own->handle.qword2 != mem_hndl->qword2 ||
        address < own->address || address - own->address > own->length ||
        length > own->length - (address - own->address))
        return GNI_RC_INVALID_PARAM;
    at = place_of(r, address, length);
    if (at < 0 || at == IS_THERE)
        return at < 0 ? GNI_RC_INVALID_PARAM : GNI_RC_SUCCESS;
    if (r->pieces == PIECES_MAX)
        return GNI_RC_ERROR_RESOURCE;
    error = gni_mem_key(nic, address, length, own->flags, &base, &key);
    if (error != 0)
        return gni_mem_code(error);
    if (gni_mem_take_segments(nic, r->pieces + 1, &first) != 0) {
        snic_deregister(nic->snic, &key, GNI_DEREGISTER_MS);
        return GNI_RC_ERROR_RESOURCE;
    }
    memmove(&r->piece[at + 1], &r->piece[at], (r->pieces - (uint32_t)at) * sizeof(r->piece[0]));
    r->piece[at].address = address;
    r->piece[at].length = length;
    r->piece[at].base = address - base;
    r->piece[at].key = key;
    r->run[r->pieces++] = first;
    show(nic, own, first);
    return GNI_RC_SUCCESS;
}

uint32_t gni_reserve_held(const struct gni_own_mdh *own)
{
    return own->reserved->pieces * (own->reserved->pieces + 1) / 2;
}

int gni_reserve_drain(struct gni_nic *nic, const struct gni_own_mdh *own)
{
    const struct gni_reserved *r = own->reserved;
    snic_key_t keys[PIECES_MAX];

    for (uint32_t i = 0; i < r->pieces; i++)
        keys[i] = r->piece[i].key;
    return gni_mem_drain(nic, keys, r->pieces);
}

void gni_reserve_drop(struct gni_nic *nic, struct gni_own_mdh *own)
{
    struct gni_reserved *r = own->reserved;

    for (uint32_t i = 0; i < r->pieces; i++)
        memset(&nic->segment_used[r->run[i]], 0, i + 1);
    free(r);
    own->reserved = NULL;
    own->segment_count = 0;
}

uint32_t gni_reserve_range(const struct gni_own_mdh *own, uint64_t address, uint64_t length,
                           uint8_t **at, uint64_t *piece)
{
    const struct gni_reserved *r = own->reserved;

    if (r->pieces == 0)
        return GNI_STATUS_MDD_INVALID;
    for (uint32_t i = 0; i < r->pieces; i++) {
        uint64_t offset = address - r->piece[i].address;

        if (address < r->piece[i].address || offset >= r->piece[i].length)
            continue;
        *piece = length < r->piece[i].length - offset ? length : r->piece[i].length - offset;
        *at = (uint8_t *)(uintptr_t)address;
        return GNI_STATUS_OK;
    }
    return GNI_STATUS_BOUNDS;
}
