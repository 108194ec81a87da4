/* What the lock does when it is not its owner who comes. */
#define _GNU_SOURCE
#include "gni_lock.h"
#include "softnic.h"
#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WANTED_FIRST 8u
#define WANTED_MOST (1u << 20)
#define SPINS 100
#define YIELDS 200

static int barrier_works(void)
{
#ifdef SNIC_TSAN /* does without */
    return 1;
#else
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0) == 0 &&
           syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) == 0;
#endif
}

static void barrier(void)
{
#ifndef SNIC_TSAN
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0) != 0)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0);
#endif
}

void gni_lock_init(struct gni_lock *lock)
{
    pthread_mutex_init(&lock->mutex, NULL);
    lock->wanted = barrier_works() ? WANTED_FIRST : 0;
}

void gni_lock_destroy(struct gni_lock *lock)
{
    pthread_mutex_destroy(&lock->mutex);
}

/* It may be copying something large. */
static void await(struct gni_owner *owner)
{
    struct timespec pause = {0, 50000};

    for (int i = 0; atomic_load_explicit(&owner->is_inside, memory_order_seq_cst); i++) {
        if (i > SPINS + YIELDS)
            nanosleep(&pause, NULL);
        else if (i > SPINS)
            sched_yield();
    }
}

/* The mutex is held. */
static void take_away(struct gni_lock *lock)
{
    struct gni_owner *owner = atomic_load_explicit(&lock->owner, memory_order_relaxed);

    if (owner == NULL)
        return;
    atomic_store_explicit(&lock->owner, NULL, memory_order_seq_cst);
    barrier();
    await(owner);
}

void gni_enter_slowly(struct gni_lock *lock)
{
    pthread_mutex_lock(&lock->mutex);
    take_away(lock);
    lock->inside = NULL;
}

/* The record of a thread; NULL: too many have been owners. */
static struct gni_owner *record_of(struct gni_lock *lock, uintptr_t thread)
{
    for (int i = 0; i < GNI_OWNERS; i++) {
        if (lock->owners[i].thread == 0)
            lock->owners[i].thread = thread;
        if (lock->owners[i].thread == thread)
            return &lock->owners[i];
    }
    return NULL;
}

void gni_leave_slowly(struct gni_lock *lock)
{
    uintptr_t self = gni_self();

    lock->in_a_row = lock->last == self ? lock->in_a_row + 1 : 1;
    lock->last = self;
    if (lock->wanted != 0 && lock->in_a_row >= lock->wanted) {
        /* Twice as many the next time: threads that take turns end with the mutex alone. */
        lock->wanted = lock->wanted < WANTED_MOST ? 2 * lock->wanted : WANTED_MOST;
        lock->in_a_row = 0;
        /* Partner: the acquire load in gni_enter. */
        atomic_store_explicit(&lock->owner, record_of(lock, self), memory_order_release);
    }
    pthread_mutex_unlock(&lock->mutex);
}

void gni_lock_wait(struct gni_lock *lock, pthread_cond_t *condition)
{
    pthread_cond_wait(condition, &lock->mutex);
    take_away(lock);
    lock->inside = NULL;
}
