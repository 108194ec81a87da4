/* What an initiator does with a registration of a peer. */
#include "gni_library.h"
#include <errno.h>

#define AMO_TRIES 10000000

static uint32_t status_of(int error)
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
    default:
        return GNI_STATUS_UNREACHABLE;
    }
}

uint32_t gni_target_open(struct gni_nic *nic, struct gni_peer *peer, const gni_mem_handle_t *handle,
                         struct gni_target *target)
{
    uint32_t status = gni_peer_ready(nic, peer);

    if (status != GNI_STATUS_OK)
        return status;
    target->peer = peer;
    if (!gni_handle_is_valid(handle) || gni_mdh_copy(&peer->view, gni_handle_index(handle),
                                                     gni_handle_entropy(handle), &target->mdh) != 0)
        return GNI_STATUS_MDD_INVALID;
    return GNI_STATUS_OK;
}

uint32_t gni_target_check(const struct gni_target *target, uint64_t address, uint64_t length,
                          int writes)
{
    const struct gni_mdh *mdh = &target->mdh;

    if (writes && (mdh->flags & GNI_MDH_READ_ONLY))
        return GNI_STATUS_READ_ONLY;
    if (address < mdh->address || address - mdh->address > mdh->length ||
        length > mdh->length - (address - mdh->address))
        return snic_planted("gni-bounds-unchecked") ? GNI_STATUS_OK : GNI_STATUS_BOUNDS;
    return GNI_STATUS_OK;
}

/* Where `address` lies: a key, an offset in it, and how many bytes follow there. */
static uint32_t place(const struct gni_target *target, uint64_t address, uint64_t length,
                      snic_key_t *key, uint64_t *offset, uint64_t *piece)
{
    const struct gni_mdh *mdh = &target->mdh;
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

uint32_t gni_target_write(struct gni_target *target, uint64_t address, const void *from,
                          uint64_t length)
{
    const uint8_t *at = from;

    while (length > 0) {
        snic_key_t key;
        uint64_t offset, piece;
        uint32_t status = place(target, address, length, &key, &offset, &piece);

        if (status == GNI_STATUS_OK)
            status = status_of(snic_put(target->peer->snic, &key, offset, at, piece));
        if (status != GNI_STATUS_OK)
            return status;
        address += piece, at += piece, length -= piece;
    }
    return GNI_STATUS_OK;
}

uint32_t gni_target_read(struct gni_target *target, uint64_t address, void *to, uint64_t length)
{
    uint8_t *at = to;

    while (length > 0) {
        snic_key_t key;
        uint64_t offset, piece;
        uint32_t status = place(target, address, length, &key, &offset, &piece);

        if (status == GNI_STATUS_OK)
            status = status_of(snic_get(target->peer->snic, &key, offset, at, piece));
        if (status != GNI_STATUS_OK)
            return status;
        address += piece, at += piece, length -= piece;
    }
    return GNI_STATUS_OK;
}

/* ---- atomics ---- */

/* Mapped memory: compare-and-swap of the 8 bytes around the operand. */
static int amo_mapped(struct gni_target *target, const snic_key_t *key, uint64_t offset,
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
    uint32_t status = place(target, address, length, &key, &offset, &piece);
    int error;

    if (status != GNI_STATUS_OK)
        return status;
    if (piece < length)
        return GNI_STATUS_BOUNDS;
    error = amo_mapped(target, &key, offset, command, a, b, before);
    if (error == -EOPNOTSUPP)
        error = amo_foreign(target, &key, offset, command, a, b, before);
    return status_of(error);
}

/* ---- single words that tell of other bytes ---- */

#define STORE_TRIES 1000

uint32_t gni_target_store(struct gni_target *target, uint64_t address, uint64_t guess,
                          uint64_t value)
{
    uint64_t offset, piece, seen = guess;
    snic_key_t key;
    uint32_t status = place(target, address, 8, &key, &offset, &piece);
    int error = -EOPNOTSUPP;

    if (status != GNI_STATUS_OK || piece < 8)
        return status != GNI_STATUS_OK ? status : gni_target_write(target, address, &value, 8);
    for (int tries = 0; tries < STORE_TRIES; tries++) {
        error = snic_compare_swap(target->peer->snic, &key, offset, guess, value, &seen);
        if (error != 0 || seen == guess)
            break;
        guess = seen;
    }
    return error == -EOPNOTSUPP || error == -EINVAL ? gni_target_write(target, address, &value, 8)
                                                    : status_of(error);
}

uint32_t gni_target_load(struct gni_target *target, uint64_t address, uint64_t *value)
{
    uint64_t offset, piece;
    snic_key_t key;
    uint32_t status = place(target, address, 8, &key, &offset, &piece);
    int error;

    if (status != GNI_STATUS_OK || piece < 8)
        return status != GNI_STATUS_OK ? status : gni_target_read(target, address, value, 8);
    /* An exchange of nothing for nothing is an atomic read. */
    error = snic_compare_swap(target->peer->snic, &key, offset, 0, 0, value);
    return error == 0 ? GNI_STATUS_OK : gni_target_read(target, address, value, 8);
}

/* ---- remote events ---- */

void gni_target_event(struct gni_target *target, uint64_t entry)
{
    const struct gni_mdh *mdh = &target->mdh;
    uint64_t slots = mdh->ring_slots;
    struct gni_ring *ring;

    if (mdh->ring.length == 0 || slots < 4 || (slots & (slots - 1)) != 0 ||
        slots > (mdh->ring.length - GNI_RING_HEADER) / 8 || mdh->ring.length < GNI_RING_HEADER)
        return;
    ring = snic_map(target->peer->snic, &mdh->ring, 0, GNI_RING_HEADER + slots * 8);
    if (ring == NULL || ((uintptr_t)ring & 63) != 0)
        return;
    gni_ring_append(ring, slots, entry);
    snic_ring(target->peer->snic);
}
