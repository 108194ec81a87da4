/*
 * Handles are index and generation, never an address: one that was destroyed, copied from elsewhere
 * or made up is recognised without touching memory. uGNI passes nothing but handles, so that this
 * table is the library's one global. A forked child starts with none.
 */
#include "gni_library.h"
#include <stdlib.h>

#define GENERATION_BITS 36

static struct {
    pthread_mutex_t mutex;
    uint32_t used;       /* entries ever given */
    uint32_t free, last; /* first in, first out: index + 1 */
} table = {.mutex = PTHREAD_MUTEX_INITIALIZER};
_Atomic(struct gni_handle_entry *) gni_handle_chunk[GNI_HANDLE_CHUNKS];
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static void before_fork(void)
{
    pthread_mutex_lock(&table.mutex);
}

static void after_fork_parent(void)
{
    pthread_mutex_unlock(&table.mutex);
}

static void after_fork_child(void)
{
    for (uint32_t i = 0; i < table.used; i++)
        atomic_store(&gni_handle_entry_at(i)->word, 0);
    pthread_mutex_unlock(&table.mutex);
}

static void install(void)
{
    pthread_atfork(before_fork, after_fork_parent, after_fork_child);
}

static struct gni_handle_entry *take_entry(uint32_t *index)
{
    if (table.free) {
        struct gni_handle_entry *entry = gni_handle_entry_at(table.free - 1);

        *index = table.free - 1;
        table.free = entry->next;
        return entry;
    }
    if (table.used == GNI_HANDLE_CHUNK * GNI_HANDLE_CHUNKS)
        return NULL;
    if (table.used % GNI_HANDLE_CHUNK == 0) {
        struct gni_handle_entry *chunk = calloc(GNI_HANDLE_CHUNK, sizeof(*chunk));

        if (chunk == NULL)
            return NULL;
        atomic_store_explicit(&gni_handle_chunk[table.used / GNI_HANDLE_CHUNK], chunk,
                              memory_order_release);
    }
    *index = table.used++;
    return gni_handle_entry_at(*index);
}

void *gni_handle_give(enum gni_kind kind, void *object)
{
    uint64_t value = 0;
    uint32_t index;

    pthread_once(&fork_once, install);
    pthread_mutex_lock(&table.mutex);
    struct gni_handle_entry *entry = take_entry(&index);
    if (entry != NULL) {
        entry->generation = (entry->generation + 1) & ((1ull << GENERATION_BITS) - 1);
        entry->generation += entry->generation == 0;
        entry->object = object;
        /* Partner: the acquire load in gni_handle_find. */
        atomic_store_explicit(&entry->word, entry->generation << 4 | (uint64_t)kind,
                              memory_order_release);
        value = entry->generation << 24 | (uint64_t)index << 4 | (uint64_t)kind;
    }
    pthread_mutex_unlock(&table.mutex);
    return (void *)(uintptr_t)value;
}

void gni_handle_take(void *handle)
{
    uint32_t index = (uint32_t)((uint64_t)(uintptr_t)handle >> 4) & 0xfffffu;
    struct gni_handle_entry *entry = gni_handle_entry_at(index);

    pthread_mutex_lock(&table.mutex);
    atomic_store_explicit(&entry->word, 0, memory_order_release);
    entry->object = NULL;
    entry->next = 0;
    if (table.free == 0)
        table.free = index + 1;
    else
        gni_handle_entry_at(table.last - 1)->next = index + 1;
    table.last = index + 1;
    pthread_mutex_unlock(&table.mutex);
}
