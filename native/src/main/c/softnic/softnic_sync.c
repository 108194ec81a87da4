/* Doorbell and the crash-safe lock. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>

#define LOCK_SPINS 200
#define LOCK_SLICE_NS 1000000
#define LOCK_SLICE_MAX_NS 8000000
/* A live owner that is not stopped was only put off its processor: it is given so many times as
 * long. */
#define LOCK_PATIENCE 25u

/* ---- doorbell ---- */

uint32_t snic_doorbell(snic_t *nic)
{
    return atomic_load_explicit(&nic->segment.header->doorbell, memory_order_acquire);
}

int snic_wait(snic_t *nic, uint32_t seen, int64_t timeout_ns)
{
    struct snic_header *h = nic->segment.header;
    if (snic_is_forked(nic))
        return -ECHILD;
    if (snic_doorbell(nic) != seen)
        return 1;
    uint64_t start = snic_now_ns();
    /* Before the kernel loads the doorbell; partner: ring(). */
    atomic_fetch_add_explicit(&h->waiters, 1, memory_order_seq_cst);
    int64_t left = timeout_ns;
    while (snic_doorbell(nic) == seen && (timeout_ns < 0 || left > 0)) {
        snic_futex_wait(&h->doorbell, seen, timeout_ns < 0 ? -1 : left);
        left = timeout_ns - (int64_t)(snic_now_ns() - start);
    }
    atomic_fetch_sub_explicit(&h->waiters, 1, memory_order_relaxed);
    return snic_doorbell(nic) != seen;
}

static inline void ring(struct snic_header *h)
{
    /* Seq_cst, so that it comes before the load of waiters; partner: snic_wait. It is also what a
     * waiter's acquire load in snic_doorbell pairs with. */
    atomic_fetch_add_explicit(&h->doorbell, 1, memory_order_seq_cst);
    SNIC_STEP("ring.counted");
    if (atomic_load_explicit(&h->waiters, memory_order_seq_cst) != 0)
        snic_futex_wake(&h->doorbell);
    SNIC_STEP("ring.woken");
}

void snic_ring(snic_peer_t *peer)
{
    if (*peer->alive == 1)
        ring(peer->segment.header);
}

void snic_ring_self(snic_t *nic)
{
    if (!snic_is_forked(nic))
        ring(nic->segment.header);
}

/* ---- lock ---- */

/* Takes the lock if it is free or if its owner is dead. 1: have it, 0: a live owner sits on it,
 * -ESRCH: the owner of the segment itself died in it. */
static int try_lock(struct snic_segment *s, snic_lock_t *lock, uint32_t token, int look_for_dead,
                    snic_recover_fn recover, void *context)
{
    uint32_t word = 0;
    /* Acquire; partner: the release exchange in unlock. */
    if (atomic_compare_exchange_strong_explicit(&lock->word, &word, token, memory_order_acquire,
                                                memory_order_relaxed)) {
        SNIC_STEP("lock.acquired");
        return 1;
    }
    if (!look_for_dead || !snic_token_is_dead(s, word))
        return 0;
    if (word == SNIC_LOCK_SELF)
        return -ESRCH;
    /* Of several who see the same dead owner, one wins. Were we to die in recover, the next one
     * finds our token and calls recover again. */
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &word, token, memory_order_acquire,
                                                 memory_order_relaxed))
        return 0;
    SNIC_STEP("lock.taken_over");
    atomic_fetch_add_explicit(&s->header->recoveries, 1, memory_order_relaxed);
    if (recover)
        recover(context, SNIC_TOKEN_SLOT(word));
    /* The owner may sleep, and the dead one did not ring after what it had changed here. */
    ring(s->header);
    SNIC_STEP("lock.recovered");
    return 1;
}

static int is_too_long(const struct snic_segment *s, uint32_t token, uint64_t waited,
                       int64_t timeout_ns)
{
    return timeout_ns >= 0 && waited >= (uint64_t)timeout_ns &&
           (waited / LOCK_PATIENCE >= (uint64_t)timeout_ns || snic_token_is_stopped(s, token));
}

static int lock_segment(struct snic_segment *s, snic_lock_t *lock, uint32_t token,
                        int64_t timeout_ns, snic_recover_fn recover, void *context)
{
    int rc = try_lock(s, lock, token, 0, recover, context);
    if (rc != 0)
        return rc > 0 ? 0 : rc;
    uint64_t start = 0;
    int64_t slice = LOCK_SLICE_NS;
    for (uint32_t spins = 1;; spins++) {
        SNIC_STEP("lock.spin");
        if (spins % LOCK_SPINS != 0) {
            snic_pause();
            rc = try_lock(s, lock, token, 0, recover, context);
        } else {
            /* Asking whether the owner lives costs system calls: once per slice. */
            rc = try_lock(s, lock, token, 1, recover, context);
            uint64_t now = snic_now_ns();
            start = start ? start : now;
            if (rc == 0 &&
                atomic_load_explicit(&s->header->state, memory_order_acquire) >= SNIC_STATE_CLOSING)
                return -ESRCH;
            uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
            if (rc == 0 && word != 0 && is_too_long(s, word, now - start, timeout_ns))
                return -EBUSY;
            if (rc == 0 && word != 0) {
                /* A flag, not a count, and a bounded sleep: a sleeper that is killed leaves
                 * nothing. */
                atomic_store_explicit(&lock->waiters, 1, memory_order_seq_cst);
                snic_futex_wait(&lock->word, word, slice);
                slice = slice < LOCK_SLICE_MAX_NS ? slice * 2 : slice;
            }
        }
        if (rc != 0)
            return rc > 0 ? 0 : rc;
    }
}

static void unlock(snic_lock_t *lock, uint32_t token)
{
    SNIC_STEP("unlock.before");
    uint32_t mine = token;
    /* Release; partner: the acquire in try_lock. Not ours any more: a corrupted segment, leave it.
     */
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &mine, 0, memory_order_seq_cst,
                                                 memory_order_relaxed))
        return;
    SNIC_STEP("unlock.after");
    if (atomic_load_explicit(&lock->waiters, memory_order_seq_cst) != 0) {
        atomic_store_explicit(&lock->waiters, 0, memory_order_relaxed);
        snic_futex_wake(&lock->word);
    }
}

int snic_lock_peer(snic_peer_t *peer, snic_lock_t *lock, int64_t timeout_ns,
                   snic_recover_fn recover, void *context)
{
    if (*peer->alive != 1)
        return -ECHILD;
    return lock_segment(&peer->segment, lock, peer->token, timeout_ns, recover, context);
}

void snic_unlock_peer(snic_peer_t *peer, snic_lock_t *lock)
{
    unlock(lock, peer->token);
}

int snic_lock_own(snic_t *nic, snic_lock_t *lock, int64_t timeout_ns, snic_recover_fn recover,
                  void *context)
{
    if (snic_is_forked(nic))
        return -ECHILD;
    return lock_segment(&nic->segment, lock, SNIC_LOCK_SELF, timeout_ns, recover, context);
}

void snic_unlock_own(snic_t *nic, snic_lock_t *lock)
{
    (void)nic;
    unlock(lock, SNIC_LOCK_SELF);
}
