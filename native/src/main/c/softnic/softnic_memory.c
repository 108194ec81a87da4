/* Toolkit memory: allocated here, mapped by peers. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_LIMIT (1ull << 46)
#ifdef SNIC_TEST
#define LOCATED_MAX 2048u /* a test fills the table, and each range is looked for in all of it */
#else
#define LOCATED_MAX 65536u
#endif
#define GENERATION_MAX 0xffffu /* a location has 16 bits for it */

/* ---- owner ---- */

/* A number whose generations are used up is never taken again: peers may still map its first. */
static int free_number(snic_t *nic)
{
    for (uint32_t k = 0; k < SNIC_MEMORIES_MAX; k++)
        if (!nic->memories[k].base && nic->memories[k].generation < GENERATION_MAX)
            return (int)k;
    return -EMFILE;
}

/* Peers map it from now on. nic->control is held. */
static void publish(snic_t *nic, uint32_t number, uint8_t *base, uint64_t length, uint64_t mapped,
                    uint32_t flags, uint64_t inode)
{
    struct snic_own_memory *m = &nic->memories[number];
    struct snic_memory *shared = &nic->segment.memories[number];
    m->base = base;
    m->length = length;
    m->mapped = mapped;
    m->generation++; /* odd: exists */
    m->registered = 0;
    if (number >= nic->memories_high)
        nic->memories_high = number + 1;
    shared->flags = flags;
    shared->length = length;
    shared->mapped = mapped;
    shared->inode = inode;
    SNIC_STEP("memory.filled");
    /* Partner: the acquire load in map_memory. */
    atomic_store_explicit(&shared->generation, m->generation, memory_order_release);
    SNIC_STEP("memory.published");
}

static int alloc_locked(snic_t *nic, uint64_t length, uint32_t flags, void **address, char *why,
                        size_t why_size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    int huge = length >= SNIC_HUGE_PAGE;
    uint64_t unit = huge && (flags & 1) ? SNIC_HUGE_PAGE : page;
    uint64_t mapped = (length + unit - 1) / unit * unit;
    char file[SNIC_FILE_MAX];
    struct stat st;
    int fd, number = free_number(nic);
    if (number < 0) {
        SNIC_WHY("all %u toolkit memories of %s are in use or used up", SNIC_MEMORIES_MAX,
                 nic->name);
        return number;
    }
    snic_memory_file(file, sizeof file, nic->name, (uint32_t)number);
    int rc = snic_file_create(nic->job_fd, nic->path, file, mapped, mapped, &fd, why, why_size);
    if (rc != 0)
        return rc;
    uint8_t *base = NULL;
    if (fstat(fd, &st) != 0)
        rc = -errno;
    else
        rc = snic_map_file(fd, mapped, huge ? SNIC_HUGE_PAGE : 0, &nic->damage,
                           SNIC_DAMAGE_MEMORY((uint32_t)number), &base);
    close(fd);
    if (rc != 0) {
        SNIC_WHY("%s/%s: mmap of %llu bytes: %s", nic->path, file, (unsigned long long)mapped,
                 strerror(-rc));
        unlinkat(nic->job_fd, file, 0);
        return rc;
    }
    publish(nic, (uint32_t)number, base, length, mapped, flags, st.st_ino);
    *address = base;
    return 0;
}

int snic_memory_alloc(snic_t *nic, uint64_t length, uint32_t flags, void **address, char *why,
                      size_t why_size)
{
    if (snic_is_forked(nic))
        return -ECHILD;
    if (length == 0 || length > MEMORY_LIMIT) {
        SNIC_WHY("memory of %llu bytes: 1 to 2^46", (unsigned long long)length);
        return -EINVAL;
    }
    pthread_mutex_lock(&nic->control);
    int rc = alloc_locked(nic, length, flags, address, why, why_size);
    pthread_mutex_unlock(&nic->control);
    return rc;
}

/* A second name for the file behind fd; another file may have taken its name meanwhile. */
static int link_memory(snic_t *nic, const char *path, const char *file, const struct stat *st)
{
    struct stat linked;
    if (linkat(AT_FDCWD, path, nic->job_fd, file, 0) != 0)
        return -errno;
    if (fstatat(nic->job_fd, file, &linked, AT_SYMLINK_NOFOLLOW) == 0 &&
        linked.st_ino == st->st_ino && linked.st_dev == st->st_dev)
        return 0;
    unlinkat(nic->job_fd, file, 0);
    return -ESTALE;
}

static int map_locked(snic_t *nic, int fd, const char *path, uint64_t length, void **address)
{
    char file[SNIC_FILE_MAX];
    struct stat st;
    uint8_t *base = NULL;
    int number = free_number(nic);
    if (number < 0)
        return number;
    if (fstat(fd, &st) != 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < length)
        return -ERANGE;
    snic_memory_file(file, sizeof file, nic->name, (uint32_t)number);
    int rc = link_memory(nic, path, file, &st);
    if (rc != 0)
        return rc;
    rc = snic_map_file(fd, length, length >= SNIC_HUGE_PAGE ? SNIC_HUGE_PAGE : 0, &nic->damage,
                       SNIC_DAMAGE_MEMORY((uint32_t)number), &base);
    if (rc != 0) {
        unlinkat(nic->job_fd, file, 0);
        return rc;
    }
    publish(nic, (uint32_t)number, base, length, length, 0, st.st_ino);
    *address = base;
    return 0;
}

int snic_memory_map(snic_t *nic, const char *file, uint64_t length, void **address, char *why,
                    size_t why_size)
{
    if (snic_is_forked(nic))
        return -ECHILD;
    if (length == 0 || length > MEMORY_LIMIT) {
        SNIC_WHY("memory of %llu bytes: 1 to 2^46", (unsigned long long)length);
        return -EINVAL;
    }
    int fd = open(file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int rc = fd < 0 ? -errno : 0;
    if (rc == 0) {
        pthread_mutex_lock(&nic->control);
        rc = map_locked(nic, fd, file, length, address);
        pthread_mutex_unlock(&nic->control);
        close(fd);
    }
    if (rc != 0)
        SNIC_WHY("%s as memory of %s, %llu bytes: %s", file, nic->name, (unsigned long long)length,
                 strerror(-rc));
    return rc;
}

static void free_memory(snic_t *nic, uint32_t number)
{
    struct snic_own_memory *m = &nic->memories[number];
    char file[SNIC_FILE_MAX];
    m->generation++;
    atomic_store_explicit(&nic->segment.memories[number].generation, m->generation,
                          memory_order_release);
    SNIC_STEP("memory.revoked");
    snic_memory_file(file, sizeof file, nic->name, number);
    unlinkat(nic->job_fd, file, 0);
    snic_unmap_file(m->base, m->mapped, &nic->damage);
    m->base = NULL;
    SNIC_STEP("memory.freed");
}

int snic_memory_free(snic_t *nic, void *address)
{
    int rc = -EINVAL;
    if (snic_is_forked(nic))
        return -ECHILD;
    pthread_mutex_lock(&nic->control);
    for (uint32_t k = 0; k < nic->memories_high; k++) {
        struct snic_own_memory *m = &nic->memories[k];
        if (!m->base || m->base != address)
            continue;
        rc = m->registered ? -EBUSY : 0;
        if (rc == 0)
            free_memory(nic, k);
        break;
    }
    pthread_mutex_unlock(&nic->control);
    return rc;
}

uint64_t snic_memory_mapped(snic_t *nic, const void *address)
{
    uint64_t mapped = 0;
    pthread_mutex_lock(&nic->control);
    for (uint32_t k = 0; k < nic->memories_high; k++)
        if (nic->memories[k].base && nic->memories[k].base == address)
            mapped = nic->memories[k].mapped;
    pthread_mutex_unlock(&nic->control);
    return mapped;
}

void snic_memory_free_all(snic_t *nic)
{
    for (uint32_t k = 0; k < nic->memories_high; k++)
        if (nic->memories[k].base)
            free_memory(nic, k);
}

/* 1: found, 0: foreign, -ERANGE: half in, half out. nic->control is held. */
static int memory_locate(snic_t *nic, uint64_t address, uint64_t length, snic_location_t *location)
{
    for (uint32_t k = 0; k < nic->memories_high; k++) {
        const struct snic_own_memory *m = &nic->memories[k];
        uint64_t base = (uint64_t)(uintptr_t)m->base;
        if (!m->base || address < base || address - base >= m->mapped)
            continue;
        uint64_t offset = address - base;
        if (offset > m->length || length > m->length - offset)
            return -ERANGE;
        location->kind = 1;
        location->memory = (m->generation << 16) | k;
        location->offset = offset;
        location->length = length;
        return 1;
    }
    return 0;
}

/* Bounce mode: the helper copies only to and from ranges that an operation names, until close.
 * nic->control is held. */
static int remember_range(snic_t *nic, uint64_t address, uint64_t length, char *why,
                          size_t why_size)
{
    for (uint32_t i = 0; i < nic->located_count; i++)
        if (snic_range_covers(nic->located[i].address, nic->located[i].length, address, length))
            return 0;
    if (nic->located_count == nic->located_capacity) {
        uint32_t capacity = nic->located_capacity ? 2 * nic->located_capacity : 64;
        if (capacity > LOCATED_MAX) {
            SNIC_WHY("foreignMemory=bounce has room for %u ranges of memory, and all are taken: "
                     "use the same again, or memory of the toolkit",
                     LOCATED_MAX);
            return -ENOSPC;
        }
        struct snic_range *grown = realloc(nic->located, capacity * sizeof *grown);
        if (!grown) {
            SNIC_WHY("no memory to note a range for foreignMemory=bounce");
            return -ENOMEM;
        }
        nic->located = grown;
        nic->located_capacity = capacity;
    }
    nic->located[nic->located_count++] = (struct snic_range){address, length};
    return 0;
}

int snic_locate(snic_t *nic, const void *address, uint64_t length, snic_location_t *location,
                char *why, size_t why_size)
{
    return snic_locate_as(nic, address, length, 1, location, why, why_size);
}

int snic_locate_as(snic_t *nic, const void *address, uint64_t length, int remember,
                   snic_location_t *location, char *why, size_t why_size)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    snic_location_t found = {0};
    if (snic_is_forked(nic))
        return -ECHILD;
    if (length > UINT64_MAX - at) {
        SNIC_WHY("%llu bytes at %p wrap around", (unsigned long long)length, address);
        return -ERANGE;
    }
    pthread_mutex_lock(&nic->control);
    int rc = memory_locate(nic, at, length, &found);
    if (rc == -ERANGE)
        SNIC_WHY("%llu bytes at %p end outside the toolkit memory in which they begin",
                 (unsigned long long)length, address);
    if (rc == 0) {
        found.kind = 2;
        found.offset = at;
        found.length = length;
        if (nic->segment.foreign == SNIC_FOREIGN_BOUNCE)
            rc = remember ? remember_range(nic, at, length, why, why_size) : 0;
        else
            rc = snic_foreign_allowed(nic, why, why_size);
    }
    pthread_mutex_unlock(&nic->control);
    if (rc < 0)
        return rc;
    *location = found;
    return 0;
}

/* ---- initiator ---- */

/* Maps toolkit memory `number` of the peer as it is now. peer->mapping is held. */
static int map_memory(snic_peer_t *peer, uint32_t number, uint32_t generation)
{
    struct snic_memory *shared = &peer->segment.memories[number];
    struct snic_peer_memory *m = &peer->memories[number];
    char file[SNIC_FILE_MAX];
    struct stat st;
    if (atomic_load_explicit(&shared->generation, memory_order_acquire) != generation)
        return -EFAULT;
    uint64_t inode = shared->inode, mapped = shared->mapped;
    if (mapped == 0 || mapped > MEMORY_LIMIT)
        return -EFAULT;
    snic_memory_file(file, sizeof file, peer->name, number);
    int fd = openat(peer->nic->job_fd, file, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -EFAULT;
    uint8_t *base = NULL;
    int rc =
        fstat(fd, &st) == 0 && st.st_ino == inode && (uint64_t)st.st_size >= mapped ? 0 : -EFAULT;
    if (rc == 0)
        rc = snic_map_file(fd, mapped, mapped >= SNIC_HUGE_PAGE ? SNIC_HUGE_PAGE : 0, &peer->damage,
                           SNIC_DAMAGE_MEMORY(number), &base);
    close(fd);
    if (rc != 0)
        return rc;
    uint8_t *former = atomic_load_explicit(&m->base, memory_order_relaxed);
    uint64_t former_bytes = atomic_load_explicit(&m->mapped, memory_order_relaxed);
    /* No generation while the other two change: each of them releases that. Partner: mapped_at. */
    atomic_store_explicit(&m->generation, 0, memory_order_relaxed);
    atomic_store_explicit(&m->base, base, memory_order_release);
    atomic_store_explicit(&m->mapped, mapped, memory_order_release);
    atomic_store_explicit(&m->populated, 0, memory_order_relaxed);
    atomic_store_explicit(&m->generation, generation, memory_order_release);
    snic_unmap_file(former, former_bytes, &peer->damage);
    return 0;
}

/* NULL: not mapped, or just being mapped by another thread. */
static inline uint8_t *mapped_at(const struct snic_peer_memory *m, uint32_t generation,
                                 uint64_t offset, uint64_t length)
{
    if (atomic_load_explicit(&m->generation, memory_order_acquire) != generation)
        return NULL;
    uint8_t *base = atomic_load_explicit(&m->base, memory_order_acquire);
    uint64_t mapped = atomic_load_explicit(&m->mapped, memory_order_acquire);
    /* Of one mapping, or the generation is another now. */
    if (atomic_load_explicit(&m->generation, memory_order_relaxed) != generation || !base ||
        offset > mapped || length > mapped - offset)
        return NULL;
    return base + offset;
}

void *snic_map(snic_peer_t *peer, const snic_location_t *location, uint64_t offset, uint64_t length)
{
    snic_location_t l = *location; /* it may lie in shared memory: one look */
    uint32_t number = l.memory & 0xffffu, generation = l.memory >> 16;
    if (*peer->alive != 1 || l.kind != 1 || number >= peer->segment.memories_max ||
        !(generation & 1) || offset > l.length || length > l.length - offset ||
        l.offset > UINT64_MAX - offset)
        return NULL;
    struct snic_peer_memory *m = &peer->memories[number];
    uint8_t *p = mapped_at(m, generation, l.offset + offset, length);
    if (p)
        return p;
    pthread_mutex_lock(&peer->mapping);
    if (atomic_load_explicit(&m->generation, memory_order_relaxed) != generation)
        map_memory(peer, number, generation);
    p = mapped_at(m, generation, l.offset + offset, length);
    pthread_mutex_unlock(&peer->mapping);
    return p;
}

void snic_peer_unmap_all(snic_peer_t *peer)
{
    for (uint32_t k = 0; k < peer->segment.memories_max; k++)
        if (peer->memories[k].base)
            snic_unmap_file(peer->memories[k].base, peer->memories[k].mapped, &peer->damage);
}
