/* What an initiator does with a registration of a peer. */
#include "gni_remote.h"
#include <errno.h>

#define AMO_TRIES 10000000

uint32_t gni_status_of(int error)
{
    switch (error) {
    case 0:
        return GNI_STATUS_OK;
    case -EACCES:
        return GNI_STATUS_READ_ONLY;
    case -ERANGE:
    case -EINVAL:
        return GNI_STATUS_BOUNDS;
    case -ESTALE:
        return GNI_STATUS_MDD_INVALID;
    case -EFAULT:
        return GNI_STATUS_TRANSLATION;
    case -EBUSY:
        return GNI_STATUS_BUSY;
    default:
        return GNI_STATUS_UNREACHABLE;
    }
}

/* ---- looking up ---- */

/* Where a ring is mapped, or NULL. */
static struct gni_ring *map_ring(const struct gni_peer *peer, const snic_location_t *location,
                                 uint64_t slots)
{
    snic_location_t at = *location; /* it may lie in shared memory: one look */
    void *ring;

    if (at.length < GNI_RING_HEADER || slots < 4 || (slots & (slots - 1)) != 0 ||
        slots > (at.length - GNI_RING_HEADER) / 8)
        return NULL;
    ring = snic_map(peer->snic, &at, 0, GNI_RING_HEADER + slots * 8);
    return ((uintptr_t)ring & 63) == 0 ? ring : NULL;
}

/* One piece of memory that is mapped here: later transfers need not look anything up. */
static int map(const struct gni_peer *peer, struct gni_reach *reach)
{
    const struct gni_mdh *mdh = &reach->mdh;
    uint64_t before = mdh->address - mdh->base;

    if (mdh->segment_count != 0 || mdh->address < mdh->base ||
        snic_reach(peer->snic, &mdh->key, &reach->snic) != 0 || before > reach->snic.length ||
        mdh->length > reach->snic.length - before)
        return 0;
    reach->ring = map_ring(peer, &mdh->ring, mdh->ring_slots);
    /* A ring that is there and cannot be mapped is looked for each time. */
    if (mdh->ring.length != 0 && reach->ring == NULL)
        return 0;
    reach->at = reach->snic.base + before;
    if (!(mdh->flags & GNI_MDH_READ_ONLY) && (reach->snic.rights & SNIC_WRITE) != 0)
        reach->written = peer->drops;
    return 1;
}

/* A registration that is not there may be that of a successor: then we still look at the dead one.
 */
static uint32_t look_up(struct gni_nic *nic, struct gni_peer *peer, const gni_mem_handle_t *handle,
                        struct gni_mdh *mdh)
{
    for (int is_asked = 0;; is_asked = 1) {
        uint32_t status;

        if (gni_handle_is_of(handle, snic_peer_incarnation(peer->snic)) &&
            gni_mdh_copy(&peer->view, gni_handle_index(handle), gni_handle_entropy(handle), mdh) ==
                0)
            return GNI_STATUS_OK;
        if (is_asked)
            return GNI_STATUS_MDD_INVALID;
        peer->checked_ns = 0;
        status = gni_peer_ready(nic, peer);
        if (status != GNI_STATUS_OK)
            return status;
    }
}

/* The NIC's lock is held. */
uint32_t gni_target_open_slowly(struct gni_ep *ep, struct gni_reach *reach,
                                const gni_mem_handle_t *handle, struct gni_target *target)
{
    int is_same = reach->peer != NULL && reach->handle.qword1 == handle->qword1 &&
                  reach->handle.qword2 == handle->qword2;
    struct gni_peer *peer = reach->peer;
    uint32_t status;

    if (!is_same && !gni_handle_is_valid(handle))
        return GNI_STATUS_MDD_INVALID;
    status = is_same ? gni_peer_ready(ep->nic, peer)
                     : gni_peer_reach(ep->nic, ep->pe, gni_handle_inst(handle), &peer);
    if (status != GNI_STATUS_OK)
        return status;
    target->peer = peer;
    target->reach = reach;
    if (is_same && gni_reach_holds(reach, handle))
        return GNI_STATUS_OK;
    reach->is_mapped = 0;
    reach->written = 0;
    status = look_up(ep->nic, peer, handle, &reach->mdh);
    reach->peer = peer;
    reach->handle = *handle;
    reach->drops = peer->drops;
    if (status != GNI_STATUS_OK)
        return status;
    reach->generation = atomic_load_explicit(&reach->mdh.generation, memory_order_relaxed);
    reach->published = &peer->view.mdh[gni_handle_index(handle)].generation;
    reach->is_mapped = (uint32_t)map(peer, reach);
    return GNI_STATUS_OK;
}

/* ---- any memory ---- */

/* Where `address` lies: a key, an offset in it, and how many bytes follow there. */
static uint32_t place(const struct gni_target *target, uint64_t address, uint64_t length,
                      snic_key_t *key, uint64_t *offset, uint64_t *piece)
{
    const struct gni_mdh *mdh = &target->reach->mdh;
    uint32_t lo = 0, hi = mdh->segment_count;

    *piece = length;
    if (hi == 0) {
        *key = mdh->key;
        *offset = address - mdh->base;
        return GNI_STATUS_OK;
    }
    if (hi > GNI_SEGMENTS || mdh->segment_first > GNI_SEGMENTS - hi)
        return GNI_STATUS_MDD_INVALID;
    while (hi - lo > 1) { /* the last one that begins at or before it */
        uint32_t middle = lo + (hi - lo) / 2;

        if (target->peer->view.segment[mdh->segment_first + middle].offset <= address)
            lo = middle;
        else
            hi = middle;
    }
    struct gni_segment segment = target->peer->view.segment[mdh->segment_first + lo];
    if (address < segment.offset || address - segment.offset >= segment.length)
        return GNI_STATUS_BOUNDS;
    if (*piece > segment.length - (address - segment.offset))
        *piece = segment.length - (address - segment.offset);
    *key = segment.key;
    *offset = segment.base + (address - segment.offset);
    return GNI_STATUS_OK;
}

/* Where it is not mapped here: each piece of it is looked up. */
static uint32_t move_pieces(struct gni_target *target, uint64_t address, uint8_t *at,
                            uint64_t length, int writes)
{
    while (length > 0) {
        snic_key_t key;
        uint64_t offset, piece;
        uint32_t status = place(target, address, length, &key, &offset, &piece);

        if (status == GNI_STATUS_OK)
            status = gni_status_of(writes ? snic_put(target->peer->snic, &key, offset, at, piece)
                                          : snic_get(target->peer->snic, &key, offset, at, piece));
        if (status != GNI_STATUS_OK)
            return status;
        address += piece, at += piece, length -= piece;
    }
    return GNI_STATUS_OK;
}

uint32_t gni_target_write(struct gni_target *target, uint64_t address, const void *from,
                          uint64_t length)
{
    if (target->reach->is_mapped) {
        uint32_t status = gni_target_begin(target, SNIC_WRITE);

        if (status != GNI_STATUS_OK)
            return status;
        snic_reach_copy(gni_target_at(target, address), from, length);
        SNIC_STEP("put.copied");
        return gni_target_end(target);
    }
    return move_pieces(target, address, (uint8_t *)(uintptr_t)from, length, 1);
}

uint32_t gni_target_read(struct gni_target *target, uint64_t address, void *to, uint64_t length)
{
    if (target->reach->is_mapped) {
        uint32_t status = gni_target_begin(target, SNIC_READ);

        if (status != GNI_STATUS_OK)
            return status;
        snic_reach_copy(to, gni_target_at(target, address), length);
        SNIC_STEP("get.copied");
        return gni_target_end(target);
    }
    return move_pieces(target, address, to, length, 0);
}

/* ---- atomics ---- */

/* Mapped memory: compare-and-swap of the 8 bytes around the operand, which are the key's, too. */
static uint32_t amo_mapped(struct gni_target *target, uint64_t address, uint32_t command,
                           uint64_t a, uint64_t b, uint64_t *before)
{
    int is_small = (command & 0x200) != 0;
    uintptr_t at = (uintptr_t)gni_target_at(target, address);
    _Atomic uint64_t *word = (_Atomic uint64_t *)(at & ~(uintptr_t)7);
    unsigned shift = is_small ? (unsigned)(at & 4) * 8 : 0;
    uint64_t mask = is_small ? 0xffffffffull << shift : UINT64_MAX, seen, after;
    uint32_t status = GNI_STATUS_BOUNDS;

    if ((at & (is_small ? 3 : 7)) == 0 && snic_reach_holds(&target->reach->snic, word, 8))
        status = gni_target_begin(target, SNIC_ATOMIC);
    if (status != GNI_STATUS_OK)
        return status;
    seen = atomic_load_explicit(word, memory_order_acquire);
    status = GNI_STATUS_UNREACHABLE;
    for (int tries = 0; tries < AMO_TRIES && status != GNI_STATUS_OK; tries++) {
        *before = (seen & mask) >> shift;
        after = (seen & ~mask) | (gni_amo_apply(command, *before, a, b) << shift & mask);
        if (atomic_compare_exchange_strong_explicit(word, &seen, after, memory_order_acq_rel,
                                                    memory_order_acquire))
            status = GNI_STATUS_OK;
    }
    SNIC_STEP("atomic.done");
    return gni_target_end(target) == GNI_STATUS_OK ? status : GNI_STATUS_UNREACHABLE;
}

/* The same where each try looks the memory up: segments. */
static int amo_piece(struct gni_target *target, const snic_key_t *key, uint64_t offset,
                     uint32_t command, uint64_t a, uint64_t b, uint64_t *before)
{
    int is_small = (command & 0x200) != 0;
    uint64_t word_offset = offset & ~7ull, word, seen;
    unsigned shift = is_small ? (unsigned)(offset & 4) * 8 : 0;
    uint64_t mask = is_small ? 0xffffffffull << shift : UINT64_MAX;
    /* An exchange of nothing for nothing is an atomic read. */
    int error = snic_compare_swap(target->peer->snic, key, word_offset, 0, 0, &word);

    for (int tries = 0; error == 0 && tries < AMO_TRIES; tries++) {
        uint64_t after;

        *before = (word & mask) >> shift;
        after = (word & ~mask) | (gni_amo_apply(command, *before, a, b) << shift & mask);
        error = snic_compare_swap(target->peer->snic, key, word_offset, word, after, &seen);
        if (error == 0 && seen == word)
            return 0;
        word = seen;
    }
    return error ? error : -EBUSY;
}

/* Any other: read and written by system calls, one at a time by a lock of the target. Killed
 * between the two, it has not happened. */
static int amo_foreign(struct gni_target *target, const snic_key_t *key, uint64_t offset,
                       uint32_t command, uint64_t a, uint64_t b, uint64_t *before)
{
    snic_peer_t *peer = target->peer->snic;
    snic_lock_t *lock = &target->peer->view.area->atomics;
    uint64_t length = command & 0x200 ? 4 : 8, after;
    int error = snic_lock_peer(peer, lock, GNI_LOCK_NS, NULL, NULL);

    if (error != 0)
        return error;
    *before = 0;
    error = snic_get(peer, key, offset, before, length);
    if (error == 0) {
        after = gni_amo_apply(command, *before, a, b);
        SNIC_STEP("gni.amo.read");
        error = snic_put(peer, key, offset, &after, length);
    }
    snic_unlock_peer(peer, lock);
    return error;
}

uint32_t gni_target_amo(struct gni_target *target, uint64_t address, uint32_t command, uint64_t a,
                        uint64_t b, uint64_t *before)
{
    snic_key_t key;
    uint64_t offset, piece, length = command & 0x200 ? 4 : 8;
    uint32_t status;
    int error;

    if (target->reach->is_mapped)
        return amo_mapped(target, address, command, a, b, before);
    status = place(target, address, length, &key, &offset, &piece);
    if (status != GNI_STATUS_OK)
        return status;
    if (piece < length)
        return GNI_STATUS_BOUNDS;
    error = amo_piece(target, &key, offset, command, a, b, before);
    if (error == -EOPNOTSUPP)
        error = amo_foreign(target, &key, offset, command, a, b, before);
    return gni_status_of(error);
}

/* ---- single words that tell of other bytes ---- */

#define STORE_TRIES 1000

uint32_t gni_target_store(struct gni_target *target, uint64_t address, uint64_t guess,
                          uint64_t value)
{
    uint64_t offset, piece, seen = guess;
    snic_key_t key;
    uint32_t status;
    int error = -EOPNOTSUPP;

    if (target->reach->is_mapped && ((uintptr_t)gni_target_at(target, address) & 7) == 0) {
        status = gni_target_begin(target, SNIC_WRITE);
        if (status != GNI_STATUS_OK)
            return status;
        /* Release: after the bytes that it reports. */
        atomic_store_explicit((_Atomic uint64_t *)(void *)gni_target_at(target, address), value,
                              memory_order_release);
        return gni_target_end(target);
    }
    status = place(target, address, 8, &key, &offset, &piece);
    if (status != GNI_STATUS_OK || piece < 8)
        return status != GNI_STATUS_OK ? status : gni_target_write(target, address, &value, 8);
    for (int tries = 0; tries < STORE_TRIES; tries++) {
        error = snic_compare_swap(target->peer->snic, &key, offset, guess, value, &seen);
        if (error != 0 || seen == guess)
            break;
        guess = seen;
    }
    return error == -EOPNOTSUPP || error == -EINVAL ? gni_target_write(target, address, &value, 8)
                                                    : gni_status_of(error);
}

uint32_t gni_target_load(struct gni_target *target, uint64_t address, uint64_t *value)
{
    uint64_t offset, piece;
    snic_key_t key;
    uint32_t status;
    int error;

    if (target->reach->is_mapped && ((uintptr_t)gni_target_at(target, address) & 7) == 0) {
        status = gni_target_begin(target, SNIC_READ);
        if (status != GNI_STATUS_OK)
            return status;
        *value = atomic_load_explicit((_Atomic uint64_t *)(void *)gni_target_at(target, address),
                                      memory_order_acquire);
        return gni_target_end(target);
    }
    status = place(target, address, 8, &key, &offset, &piece);
    if (status != GNI_STATUS_OK || piece < 8)
        return status != GNI_STATUS_OK ? status : gni_target_read(target, address, value, 8);
    /* An exchange of nothing for nothing is an atomic read. */
    error = snic_compare_swap(target->peer->snic, &key, offset, 0, 0, value);
    return error == 0 ? GNI_STATUS_OK : gni_target_read(target, address, value, 8);
}

/* ---- remote events ---- */

void gni_peer_event(struct gni_peer *peer, const snic_location_t *location, uint64_t slots,
                    uint64_t entry)
{
    struct gni_ring *ring = map_ring(peer, location, slots);

    if (ring == NULL)
        return;
    gni_ring_append(ring, slots, entry);
    snic_ring(peer->snic);
}

void gni_target_event(struct gni_target *target, uint64_t entry)
{
    struct gni_reach *reach = target->reach;

    if (reach->mdh.ring.length == 0)
        return;
    if (reach->is_mapped && gni_target_begin(target, 0) == GNI_STATUS_OK) {
        /* While the registration lives, its queue does. */
        gni_ring_append(reach->ring, reach->mdh.ring_slots, entry);
        gni_target_end(target);
        snic_ring(target->peer->snic);
    } else {
        /* Also where it ended after the bytes came: its queue may be there for others. */
        gni_peer_event(target->peer, &reach->mdh.ring, reach->mdh.ring_slots, entry);
    }
}
