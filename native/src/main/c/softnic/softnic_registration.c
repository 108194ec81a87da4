/* Registrations, pins, and what an initiator does with a key. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include "softnic_reach.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* ---- owner ---- */

int snic_register(snic_t *nic, const void *address, uint64_t length, uint32_t rights,
                  snic_key_t *key, char *why, size_t why_size)
{
    snic_location_t location;
    if (rights & ~(uint32_t)(SNIC_READ | SNIC_WRITE | SNIC_ATOMIC)) {
        SNIC_WHY("rights 0x%x: only READ 1, WRITE 2 and ATOMIC 4 exist", rights);
        return -EINVAL;
    }
    int rc = snic_locate_as(nic, address, length, 0, &location, why, why_size);
    if (rc != 0)
        return rc;
    pthread_mutex_lock(&nic->control);
    if (nic->free_count == 0) {
        pthread_mutex_unlock(&nic->control);
        SNIC_WHY("all %u registrations of %s are in use", nic->segment.registrations_max,
                 nic->name);
        return -ENOSPC;
    }
    uint32_t slot = nic->free_slots[--nic->free_count];
    struct snic_own_registration *own = &nic->registrations[slot];
    struct snic_registration *r = &nic->segment.registrations[slot];
    if (slot >= nic->registrations_high)
        nic->registrations_high = slot + 1;
    own->phase = SNIC_REG_LIVE;
    own->generation++; /* odd now */
    own->secret = snic_random64();
    own->location = location;
    if (location.kind == 1)
        nic->memories[location.memory & 0xffffu].registered++;
    r->rights = rights;
    r->secret = own->secret;
    r->location = location;
    r->address = (uint64_t)(uintptr_t)address;
    SNIC_STEP("register.filled");
    /* Partner: the seq_cst load in pin(). */
    atomic_store_explicit(&r->generation, own->generation, memory_order_seq_cst);
    SNIC_STEP("register.published");
    key->slot = slot;
    key->generation = own->generation;
    key->secret = own->secret;
    pthread_mutex_unlock(&nic->control);
    return 0;
}

/* Waits until no process holds `pin`; pins of the dead are removed. */
int snic_pins_drain(snic_t *nic, uint64_t pin, uint64_t deadline_ns)
{
    struct snic_segment *s = &nic->segment;
    uint32_t high = atomic_load_explicit(&s->header->initiators_high, memory_order_seq_cst);
    if (high > s->initiators_max)
        high = s->initiators_max;
    for (uint32_t slot = 0; slot < high; slot++) {
        for (int p = 0; p < SNIC_PINS; p++) {
            _Atomic uint64_t *word = &s->initiators[slot].pins[p];
            for (uint32_t spins = 0;; spins++) {
                /* Partner: the seq_cst store in pin(); the acquire half orders what follows after
                 * the release store that ends a pin. */
                uint64_t seen = atomic_load_explicit(word, memory_order_seq_cst);
                if (pin ? seen != pin : seen == 0)
                    break;
                SNIC_STEP("deregister.wait");
                if (spins < 100) {
                    snic_pause();
                    continue;
                }
                if (snic_slot_liveness(s, slot, 0) == SNIC_DEAD) {
                    if (atomic_compare_exchange_strong_explicit(
                            word, &seen, 0, memory_order_acq_rel, memory_order_relaxed))
                        atomic_fetch_add_explicit(&s->header->pins_reclaimed, 1,
                                                  memory_order_relaxed);
                    continue;
                }
                if (snic_now_ns() > deadline_ns)
                    return -ETIMEDOUT;
                snic_sleep_us(50);
            }
        }
    }
    return 0;
}

int snic_deregister(snic_t *nic, const snic_key_t *key, uint32_t timeout_ms)
{
    if (snic_is_forked(nic))
        return -ECHILD;
    if (key->slot >= nic->segment.registrations_max)
        return -EINVAL;
    struct snic_own_registration *own = &nic->registrations[key->slot];
    struct snic_registration *r = &nic->segment.registrations[key->slot];
    pthread_mutex_lock(&nic->control);
    if (own->phase == SNIC_REG_FREE || own->secret != key->secret ||
        key->generation != own->generation - (own->phase == SNIC_REG_DRAINING)) {
        pthread_mutex_unlock(&nic->control);
        return -ESTALE;
    }
    if (own->phase == SNIC_REG_LIVE) {
        own->phase = SNIC_REG_DRAINING; /* a second call after -ETIMEDOUT goes on waiting */
        own->generation++;
        SNIC_STEP("deregister.before");
        /* Seq_cst before the loads of pins in snic_pins_drain; partner: pin(). */
        atomic_store_explicit(&r->generation, own->generation, memory_order_seq_cst);
        snic_barrier_everywhere(nic);
        SNIC_STEP("deregister.revoked");
    }
    pthread_mutex_unlock(&nic->control);
    uint64_t pin = ((uint64_t)key->slot + 1) << 32 | key->generation;
    int rc = snic_pins_drain(nic, pin, snic_now_ns() + (uint64_t)timeout_ms * 1000000u);
    if (rc != 0)
        return rc;
    SNIC_STEP("deregister.drained");
    /* The helper of bounce mode copies under this mutex, and no more once the phase is not LIVE. */
    pthread_mutex_lock(&nic->control);
    if (own->phase == SNIC_REG_DRAINING) {
        if (own->location.kind == 1)
            nic->memories[own->location.memory & 0xffffu].registered--;
        own->phase = SNIC_REG_FREE;
        own->secret = 0;
        nic->free_slots[nic->free_count++] = key->slot;
    }
    pthread_mutex_unlock(&nic->control);
    SNIC_STEP("deregister.freed");
    return 0;
}

/* ---- initiator ---- */

static inline void unpin(snic_peer_t *peer)
{
    /* Release: everything we did to the target's memory comes before. Partner: snic_pins_drain. */
    atomic_store_explicit(&peer->mine->pins[0], 0, memory_order_release);
}

/* Pins the registration, then checks everything. On success the caller must unpin. */
static inline int pin(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, uint64_t length,
                      uint32_t right, snic_location_t *location)
{
    int rc = -ESTALE;
    if (*peer->alive != 1)
        return -ECHILD;
    if (key->slot >= peer->segment.registrations_max || !(key->generation & 1))
        return -ESTALE;
    const struct snic_registration *r = &peer->segment.registrations[key->slot];
    /* Seq_cst store, then seq_cst loads, or the owner's barrier: see struct snic_initiator. */
    uint64_t word = ((uint64_t)key->slot + 1) << 32 | key->generation;
    if (peer->owner_fences) {
        atomic_store_explicit(&peer->mine->pins[0], word, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* for the compiler */
    } else {
        atomic_store_explicit(&peer->mine->pins[0], word, memory_order_seq_cst);
    }
    SNIC_STEP("pin.stored");
    if (atomic_load_explicit(&r->generation, memory_order_seq_cst) != key->generation)
        goto refuse;
    if (atomic_load_explicit(&peer->segment.header->state, memory_order_seq_cst) !=
        SNIC_STATE_OPEN) {
        rc = -ESRCH;
        goto refuse;
    }
    if (r->secret != key->secret)
        goto refuse;
    if ((r->rights & right) != right) {
        rc = -EACCES;
        goto refuse;
    }
    *location = r->location; /* one look: peers may corrupt it at any time */
    if (offset > location->length || length > location->length - offset) {
        rc = -ERANGE;
        goto refuse;
    }
    SNIC_STEP("pin.checked");
    return 0;
refuse:
    unpin(peer);
    return rc;
}

static int put(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, const void *from,
               uint64_t length, int streaming, uint32_t *sum)
{
    snic_location_t location;
    int rc = pin(peer, key, offset, length, SNIC_WRITE, &location);
    if (rc != 0)
        return rc;
    rc = snic_location_write(peer, &location, offset, from, length, streaming, sum);
    SNIC_STEP("put.copied");
    unpin(peer);
    SNIC_STEP("put.unpinned");
    return rc;
}

int snic_put(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, const void *from,
             uint64_t length)
{
    return put(peer, key, offset, from, length, -1, NULL);
}

int snic_put_streamed(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, const void *from,
                      uint64_t length)
{
    return put(peer, key, offset, from, length, 1, NULL);
}

int snic_put_summed(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, const void *from,
                    uint64_t length, int streamed, uint32_t *sum)
{
    return put(peer, key, offset, from, length, streamed ? 1 : -1, sum);
}

static int get(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, void *to, uint64_t length,
               uint32_t *sum)
{
    snic_location_t location;
    int rc = pin(peer, key, offset, length, SNIC_READ, &location);
    if (rc != 0)
        return rc;
    rc = snic_location_read(peer, &location, offset, to, length, sum);
    SNIC_STEP("get.copied");
    unpin(peer);
    SNIC_STEP("get.unpinned");
    return rc;
}

int snic_get(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, void *to, uint64_t length)
{
    return get(peer, key, offset, to, length, NULL);
}

int snic_get_summed(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, void *to,
                    uint64_t length, uint32_t *sum)
{
    return get(peer, key, offset, to, length, sum);
}

/* Pins and maps 8 aligned bytes for an atomic. */
static int pin_word(snic_peer_t *peer, const snic_key_t *key, uint64_t offset,
                    _Atomic uint64_t **word)
{
    snic_location_t location;
    int rc = pin(peer, key, offset, 8, SNIC_ATOMIC, &location);
    if (rc != 0)
        return rc;
    *word = snic_map(peer, &location, offset, 8);
    if (*word && ((uintptr_t)*word & 7) == 0)
        return 0;
    unpin(peer);
    return location.kind == 2 ? -EOPNOTSUPP : *word ? -EINVAL : -EFAULT;
}

int snic_fetch_add(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, uint64_t delta,
                   uint64_t *before)
{
    _Atomic uint64_t *word;
    int rc = pin_word(peer, key, offset, &word);
    if (rc != 0)
        return rc;
    *before = atomic_fetch_add_explicit(word, delta, memory_order_acq_rel);
    SNIC_STEP("atomic.done");
    unpin(peer);
    return snic_peer_is_damaged(peer) ? -ESRCH : 0;
}

int snic_compare_swap(snic_peer_t *peer, const snic_key_t *key, uint64_t offset, uint64_t expected,
                      uint64_t update, uint64_t *before)
{
    _Atomic uint64_t *word;
    int rc = pin_word(peer, key, offset, &word);
    if (rc != 0)
        return rc;
    *before = expected;
    atomic_compare_exchange_strong_explicit(word, before, update, memory_order_acq_rel,
                                            memory_order_acquire);
    SNIC_STEP("atomic.done");
    unpin(peer);
    return snic_peer_is_damaged(peer) ? -ESRCH : 0;
}

int snic_reach(snic_peer_t *peer, const snic_key_t *key, snic_reach_t *reach)
{
    snic_location_t location;
    int rc = pin(peer, key, 0, 0, 0, &location);
    if (rc != 0)
        return rc;
    reach->pin = &peer->mine->pins[0];
    reach->word = ((uint64_t)key->slot + 1) << 32 | key->generation;
    reach->generation = &peer->segment.registrations[key->slot].generation;
    reach->state = &peer->segment.header->state;
    reach->alive = peer->alive;
    reach->damage = &peer->damage;
    reach->owner_fences = peer->owner_fences;
    reach->rights = peer->segment.registrations[key->slot].rights;
    reach->length = location.length;
    reach->base = location.kind == 1 ? snic_map(peer, &location, 0, location.length) : NULL;
    unpin(peer);
    return reach->base ? 0 : location.kind == 2 ? -EOPNOTSUPP : -EFAULT;
}
