/*
 * A key that was looked up once and is used many times. What lies behind a key does not change
 * while its registration has the same generation, so the look-up (right, secret, range, place in
 * our address space) is kept, and each use checks what can change: the generation, and whether the
 * target is open. The protocol of pins is that of snic_put, with the same word (pins[0]); so are
 * the threads: one at a time for each peer, snic_put and the like included.
 *
 * A reach must not be used after snic_detach of its peer. C only; not part of what Java reads.
 */
#ifndef SOFTNIC_REACH_H
#define SOFTNIC_REACH_H

#include <errno.h>
#include <string.h>
#include "softnic.h"
#include "softnic_host.h"

typedef struct snic_reach {
    _Atomic uint64_t *pin; /* our word in the target's segment */
    uint64_t word;         /* what it says while we are at it */
    const _Atomic uint32_t *generation;
    const _Atomic uint32_t *state;
    const volatile uint32_t *alive; /* 0 in a forked child */
    const _Atomic uint32_t *damage; /* not 0: a file of the target was cut */
    uint8_t *base;                  /* of the key, in our address space */
    uint64_t length;
    uint32_t rights;
    uint32_t owner_fences;
} snic_reach_t;

/* 0; -EOPNOTSUPP: foreign memory, which is not mapped; else as snic_put. */
int snic_reach(snic_peer_t *peer, const snic_key_t *key, snic_reach_t *reach);

/* Whether [at, at+length) lies behind the key. */
static inline int snic_reach_holds(const snic_reach_t *reach, const void *at, uint64_t length)
{
    uint64_t offset = (uint64_t)((uintptr_t)at - (uintptr_t)reach->base);

    return offset <= reach->length && length <= reach->length - offset;
}

/* Ends what snic_reach_pin began. */
static inline void snic_reach_unpin(const snic_reach_t *reach)
{
    /* Release: everything we did to the target's memory comes before. Partner: snic_pins_drain. */
    atomic_store_explicit(reach->pin, 0, memory_order_release);
    SNIC_STEP("put.unpinned");
}

/* 0, and until snic_reach_unpin the bytes [base, base+length) are the registration's; or -ECHILD,
 * -ESTALE, -ESRCH. Range and rights are the caller's to check. */
static inline int snic_reach_pin(const snic_reach_t *reach)
{
    uint32_t generation = (uint32_t)reach->word;

    if (*reach->alive != 1)
        return -ECHILD;
    /* Seq_cst store, then seq_cst loads, or the owner's barrier: see struct snic_initiator. */
    if (reach->owner_fences) {
        atomic_store_explicit(reach->pin, reach->word, memory_order_relaxed);
        atomic_signal_fence(memory_order_seq_cst); /* for the compiler */
    } else {
        atomic_store_explicit(reach->pin, reach->word, memory_order_seq_cst);
    }
    SNIC_STEP("pin.stored");
    if (atomic_load_explicit(reach->generation, memory_order_seq_cst) != generation) {
        atomic_store_explicit(reach->pin, 0, memory_order_release);
        return -ESTALE;
    }
    if (atomic_load_explicit(reach->state, memory_order_seq_cst) != 1 /* SNIC_STATE_OPEN */) {
        atomic_store_explicit(reach->pin, 0, memory_order_release);
        return -ESRCH;
    }
    SNIC_STEP("pin.checked");
    return 0;
}

/* After a copy: 0, or -ESRCH: the bytes were not there, because a process cut the target's file. */
static inline int snic_reach_whole(const snic_reach_t *reach)
{
    return atomic_load_explicit(reach->damage, memory_order_acquire) == 0 ? 0 : -ESRCH;
}

/* Copies to or from pinned bytes, as snic_put does: small ones without a call. */
static inline void snic_reach_copy(void *to, const void *from, uint64_t length)
{
    if (length != 8) {
        snic_copy(to, from, length, -1);
        return;
    }
#ifndef SNIC_TSAN /* which knows no fences; snic_fence says what each is for */
    atomic_thread_fence(memory_order_acq_rel);
#endif
    memcpy(to, from, 8);
#ifndef SNIC_TSAN
    atomic_thread_fence(memory_order_acq_rel);
#endif
}

#endif
