/*
 * Files that are cut while they are mapped here.
 *
 * An access past the end of a mapped file is a SIGBUS, which ends the process: a JVM cannot turn
 * one in native code into an exception. So the pages that are missing are replaced by zeroed ones
 * of our own, the access goes on, and a word is set for the file's user, who treats the peer as
 * dead. Nothing is done for that on a data path but to look at the word after a copy.
 *
 * Only faults in memory that is watched are handled. Every other SIGBUS is passed on to the handler
 * that was there before, or does what it did without us.
 */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TABLE_ENTRIES 256
#define CLAIMED ((uintptr_t)1) /* no mapping begins there */

/* base is written last and cleared first; release, with the handler's acquire as partner. */
struct entry {
    _Atomic uintptr_t base; /* 0: free */
    uintptr_t end;
    _Atomic uint32_t *damage;
    uint32_t file;
};

/* Grows and is never freed: a handler may be reading it. */
struct table {
    struct entry entries[TABLE_ENTRIES];
    _Atomic(struct table *) next;
};

static struct table watched;
static _Atomic uint32_t readers; /* handlers that look at the table */
static struct sigaction former;
static uintptr_t page_size;
static pthread_once_t installation = PTHREAD_ONCE_INIT;

/* ---- the handler ---- */

/* Replaces what is missing of the watched memory around an address. 0: it is not watched. */
static int replace(uintptr_t address)
{
    uintptr_t end = 0;
    for (struct table *t = &watched; t; t = atomic_load_explicit(&t->next, memory_order_acquire))
        for (int i = 0; i < TABLE_ENTRIES; i++) {
            struct entry *e = &t->entries[i];
            uintptr_t base = atomic_load_explicit(&e->base, memory_order_acquire);
            if (base <= CLAIMED || address < base || address >= e->end)
                continue;
            /* Release; partner: the load in snic_damage_of. */
            atomic_store_explicit(e->damage, e->file, memory_order_release);
            end = e->end;
        }
    if (end == 0)
        return 0;
    /* To the end of the file, which is missing from there on; so faults are few. Not mmap(): it
     * need not be safe in a handler. */
    uintptr_t page = address & ~(page_size - 1);
    long at = syscall(SYS_mmap, page, end - page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0L);
    return at == (long)page;
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
    if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN) {
        if (former.sa_flags & SA_SIGINFO)
            former.sa_sigaction(signal, info, context);
        else
            former.sa_handler(signal);
        return;
    }
    int is_sent = info->si_code <= 0;
    if (is_sent && former.sa_handler == SIG_IGN)
        return;
    /* As without us: the access faults again when we return; one that was sent is sent again. */
    struct sigaction none = {.sa_handler = SIG_DFL};
    sigaction(signal, &none, NULL);
    if (is_sent)
        raise(signal);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    int error = errno, done = 0;
    if (info->si_code == BUS_ADRERR) {
        /* Before the table is read; partner: the load in snic_fault_forget. */
        atomic_fetch_add_explicit(&readers, 1, memory_order_seq_cst);
        done = replace((uintptr_t)info->si_addr);
        atomic_fetch_sub_explicit(&readers, 1, memory_order_seq_cst);
    }
    if (!done)
        pass_on(signal, info, context);
    errno = error;
}

static void install(void)
{
    const char *setting = getenv("VERBENA_SIGBUS");
    if (setting && strcmp(setting, "off") == 0)
        return;
    page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
    if (sigaction(SIGBUS, NULL, &former) != 0)
        return;
    struct sigaction ours = {.sa_sigaction = on_fault};
    ours.sa_mask = former.sa_mask;
    ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigaction(SIGBUS, &ours, NULL);
}

/* ---- the table ---- */

static struct entry *claim(void)
{
    for (struct table *t = &watched;;) {
        for (int i = 0; i < TABLE_ENTRIES; i++) {
            uintptr_t none = 0;
            if (atomic_load_explicit(&t->entries[i].base, memory_order_relaxed) == 0 &&
                atomic_compare_exchange_strong_explicit(&t->entries[i].base, &none, CLAIMED,
                                                        memory_order_acquire, memory_order_relaxed))
                return &t->entries[i];
        }
        struct table *next = atomic_load_explicit(&t->next, memory_order_acquire);
        if (!next) {
            struct table *more = calloc(1, sizeof *more);
            if (!more)
                return NULL;
            if (atomic_compare_exchange_strong_explicit(&t->next, &next, more, memory_order_acq_rel,
                                                        memory_order_acquire))
                next = more;
            else
                free(more);
        }
        t = next;
    }
}

int snic_fault_watch(const void *base, uint64_t bytes, _Atomic uint32_t *damage, uint32_t file)
{
    pthread_once(&installation, install);
    struct entry *e = claim();
    if (!e)
        return -ENOMEM;
    e->end = (uintptr_t)base + bytes;
    e->damage = damage;
    e->file = file;
    atomic_store_explicit(&e->base, (uintptr_t)base, memory_order_release);
    return 0;
}

void snic_fault_forget(const void *base, const _Atomic uint32_t *damage)
{
    for (struct table *t = &watched; t; t = atomic_load_explicit(&t->next, memory_order_acquire))
        for (int i = 0; i < TABLE_ENTRIES; i++) {
            struct entry *e = &t->entries[i];
            if (atomic_load_explicit(&e->base, memory_order_acquire) != (uintptr_t)base ||
                e->damage != damage)
                continue;
            atomic_store_explicit(&e->base, CLAIMED, memory_order_seq_cst);
            /* A handler that saw it replaces memory that must still be ours. */
            while (atomic_load_explicit(&readers, memory_order_seq_cst) != 0)
                snic_pause();
            atomic_store_explicit(&e->base, 0, memory_order_release);
            return;
        }
}
