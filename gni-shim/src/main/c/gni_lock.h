/*
 * The lock of a NIC handle. A thread that has taken it several times in a row becomes its owner: it
 * then enters and leaves with plain stores, and another thread that wants in takes the ownership
 * away first, with a barrier in every thread of the process between taking it and looking whether
 * the owner is inside (membarrier(2); docs/decisions/0014). Nobody becomes the owner where the
 * kernel has no such barrier.
 */
#ifndef GNI_LOCK_H
#define GNI_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include "softnic_host.h"

/* A thread that is or was the owner. Each has a word of its own to say that it is inside: one that
 * is just finding out that it is the owner no more must not meddle with its successor's. */
#define GNI_OWNERS 8
struct gni_owner {
    uintptr_t thread;           /* set once, with the mutex held */
    _Atomic uint32_t is_inside; /* or is just finding out that it is the owner no more */
};

struct gni_lock {
    _Atomic(struct gni_owner *) owner; /* NULL: none; written with the mutex held */
    struct gni_owner *inside;          /* NULL: who is inside holds the mutex; of who is inside */
    pthread_mutex_t mutex;             /* for what follows */
    uintptr_t last;                    /* who came last, */
    uint32_t in_a_row, wanted;         /* how often, and how often makes an owner; 0: never */
    struct gni_owner owners[GNI_OWNERS];
};

void gni_lock_init(struct gni_lock *lock);
void gni_lock_destroy(struct gni_lock *lock);
void gni_enter_slowly(struct gni_lock *lock);
void gni_leave_slowly(struct gni_lock *lock);
/* As pthread_cond_wait, for who came in by gni_enter_slowly. */
void gni_lock_wait(struct gni_lock *lock, pthread_cond_t *condition);

/* Never 0; may be that of a thread that has ended. */
static inline uintptr_t gni_self(void)
{
#if defined(__x86_64__) && defined(__LP64__)
    uintptr_t self;

    __asm__("mov %%fs:0, %0" : "=r"(self));
    return self;
#else
    return (uintptr_t)pthread_self();
#endif
}

/* The owner's way in: NULL where the caller is not the owner; else for gni_leave_owned. */
static inline struct gni_owner *gni_enter_owned(struct gni_lock *lock)
{
    struct gni_owner *owner = atomic_load_explicit(&lock->owner, memory_order_acquire);

    if (__builtin_expect(owner == NULL || owner->thread != gni_self(), 0))
        return NULL;
        /* Store, then load: either the other side's barrier lies between them, or one of us sees
         * what the other stored. Partner: take_away(). */
#ifdef SNIC_TSAN /* which cannot know what the kernel orders */
    atomic_exchange_explicit(&owner->is_inside, 1, memory_order_seq_cst);
#else
    atomic_store_explicit(&owner->is_inside, 1, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
#endif
    if (__builtin_expect(atomic_load_explicit(&lock->owner, memory_order_seq_cst) == owner, 1))
        return owner;
    atomic_store_explicit(&owner->is_inside, 0, memory_order_release);
    return NULL;
}

static inline void gni_leave_owned(struct gni_owner *owner)
{
    /* Partner: the load in await(). */
    atomic_store_explicit(&owner->is_inside, 0, memory_order_release);
}

static inline void gni_enter(struct gni_lock *lock)
{
    struct gni_owner *owner = gni_enter_owned(lock);

    if (owner != NULL)
        lock->inside = owner;
    else
        gni_enter_slowly(lock);
}

static inline void gni_leave(struct gni_lock *lock)
{
    struct gni_owner *owner = lock->inside;

    if (__builtin_expect(owner == NULL, 0))
        gni_leave_slowly(lock);
    else
        gni_leave_owned(owner);
}

#endif
