/* Making and mapping segments; initiator slots. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEGMENT_LIMIT (1ull << 46)
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* ---- files ---- */

int snic_map_shared(int fd, uint64_t offset, uint64_t bytes, uint64_t alignment, uint8_t **base)
{
    uint8_t *hint = NULL;
    if (alignment) {
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        bytes =
            (bytes + page - 1) / page * page; /* what is unmapped behind it begins with a page */
        uint8_t *room =
            mmap(NULL, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (room == MAP_FAILED)
            return -errno;
        hint = (uint8_t *)(((uintptr_t)room + alignment - 1) & ~(uintptr_t)(alignment - 1));
        if (hint > room)
            munmap(room, (size_t)(hint - room));
        if (hint < room + alignment)
            munmap(hint + bytes, (size_t)(room + alignment - hint));
    }
    uint8_t *p = mmap(hint, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (hint ? MAP_FIXED : 0), fd,
                      (off_t)offset);
    if (p == MAP_FAILED) {
        int error = errno;
        if (hint)
            munmap(hint, bytes);
        return -error;
    }
    *base = p;
    return 0;
}

/* A wish, whatever the system's setting for shared memory is: kernels before 6.1 do not know how.
 * An extent must have a page before a huge one is made of it. 256 MiB took 32 ms here, 20 of 4 KiB
 * each; but the first stores to those took 65 ms more. */
static void fill_huge(int fd, uint64_t offset, uint64_t length)
{
    uint64_t begin = (offset + SNIC_HUGE_PAGE - 1) / SNIC_HUGE_PAGE * SNIC_HUGE_PAGE;
    uint64_t end = (offset + length) / SNIC_HUGE_PAGE * SNIC_HUGE_PAGE;
    struct statfs fs;
    uint8_t *p;
    if (begin >= end || fstatfs(fd, &fs) != 0 || fs.f_type != TMPFS_MAGIC ||
        snic_map_shared(fd, begin, end - begin, SNIC_HUGE_PAGE, &p) != 0)
        return;
    for (uint64_t at = begin; at < end; at += SNIC_HUGE_PAGE)
        if (fallocate(fd, 0, (off_t)(at + SNIC_HUGE_PAGE - 1), 1) != 0)
            break;
    madvise(p, end - begin, MADV_HUGEPAGE);
    madvise(p, end - begin, MADV_COLLAPSE);
    munmap(p, end - begin);
}

int snic_file_fill(int fd, uint64_t offset, uint64_t length)
{
    struct stat before;
    int rc;
    if (fstat(fd, &before) != 0)
        return -errno;
    fill_huge(fd, offset, length);
    do
        rc = posix_fallocate(fd, (off_t)offset, (off_t)length);
    while (rc == EINTR);
    /* posix_fallocate leaves a file as long as it was when it fails; so do we. */
    if (rc != 0 && (uint64_t)before.st_size < offset + length && ftruncate(fd, before.st_size) != 0)
        return -errno;
    return -rc;
}

static int file_reserve(int fd, const char *path, const char *file, uint64_t offset, uint64_t bytes,
                        char *why, size_t why_size)
{
    int rc = snic_file_fill(fd, offset, bytes);
    if (rc != 0) {
        struct statvfs vfs = {0};
        fstatvfs(fd, &vfs);
        SNIC_WHY("%s/%s: %s: %llu bytes of shared memory wanted, %llu free of %llu; free some, or "
                 "set VERBENA_SHM_DIR to a larger tmpfs (in a container: --shm-size=1g)",
                 path, file, rc == -ENOSPC ? "ENOSPC" : strerror(-rc), (unsigned long long)bytes,
                 (unsigned long long)vfs.f_bavail * vfs.f_frsize,
                 (unsigned long long)vfs.f_blocks * vfs.f_frsize);
    }
    return rc;
}

int snic_file_create(int job_fd, const char *path, const char *file, uint64_t bytes,
                     uint64_t reserved, int *fd, char *why, size_t why_size)
{
    struct rlimit limit;
    /* Past this limit the kernel would kill the process with SIGXFSZ. */
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        bytes > limit.rlim_cur) {
        SNIC_WHY("%s/%s: EFBIG: %llu bytes are above the file size limit of %llu bytes (ulimit -f)",
                 path, file, (unsigned long long)bytes, (unsigned long long)limit.rlim_cur);
        return -EFBIG;
    }
    int opened = openat(job_fd, file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (opened < 0) {
        int error = errno;
        SNIC_WHY("create %s/%s: %s", path, file, strerror(error));
        return -error;
    }
    SNIC_STEP("file.created");
    int rc = file_reserve(opened, path, file, 0, reserved, why, why_size);
    if (rc == 0 && reserved < bytes && ftruncate(opened, (off_t)bytes) != 0) {
        rc = -errno;
        SNIC_WHY("%s/%s: a length of %llu bytes: %s", path, file, (unsigned long long)bytes,
                 strerror(errno));
    }
    if (rc != 0) {
        unlinkat(job_fd, file, 0);
        close(opened);
        return rc;
    }
    SNIC_STEP("file.reserved");
    *fd = opened;
    return 0;
}

int snic_area_reserve(snic_t *nic, uint64_t offset, uint64_t length, char *why, size_t why_size)
{
    if (snic_is_forked(nic))
        return -ECHILD;
    if (offset > nic->segment.area_bytes || length > nic->segment.area_bytes - offset)
        return -EINVAL;
    if (length == 0)
        return 0;
    int fd = openat(nic->job_fd, nic->name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;
    int rc = fd < 0 || fstat(fd, &st) != 0 ? -errno : 0;
    if (rc == 0 && (st.st_ino != nic->inode || st.st_dev != nic->device))
        rc = -ESTALE;
    if (rc != 0)
        SNIC_WHY("%s/%s: %s", nic->path, nic->name, strerror(-rc));
    else
        rc = file_reserve(fd, nic->path, nic->name,
                          (uint64_t)(nic->segment.area - nic->segment.base) + offset, length, why,
                          why_size);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* ThreadSanitizer knows memory by address: in test builds a process maps each file once, so that it
 * sees two NICs of one process work on the same bytes. */
#ifndef SNIC_TEST
static int snic_map_once(int fd, uint64_t bytes, uint64_t alignment, uint8_t **base)
{
    return snic_map_shared(fd, 0, bytes, alignment, base);
}

static void snic_unmap_once(uint8_t *base, uint64_t bytes)
{
    munmap(base, bytes);
}
#endif

int snic_map_file(int fd, uint64_t bytes, uint64_t alignment, _Atomic uint32_t *damage,
                  uint32_t file, uint8_t **base)
{
    int rc = snic_map_once(fd, bytes, alignment, base);
    if (rc == 0 && (rc = snic_fault_watch(*base, bytes, damage, file)) != 0)
        snic_unmap_once(*base, bytes);
    return rc;
}

void snic_unmap_file(uint8_t *base, uint64_t bytes, const _Atomic uint32_t *damage)
{
    if (!base)
        return;
    snic_fault_forget(base, damage);
    snic_unmap_once(base, bytes);
}

/* ---- geometry ---- */

static int table_fits(uint64_t offset, uint64_t count, uint64_t size, uint64_t bytes)
{
    return offset % 64 == 0 && offset >= SNIC_HEADER_BYTES && offset <= bytes &&
           count <= (bytes - offset) / size;
}

int snic_segment_check(const struct snic_header *h, uint64_t file_bytes, uint64_t pid_namespace,
                       struct snic_segment *s, char *why, size_t why_size)
{
    const char *name = why ? why : ""; /* the caller leaves the segment's path in why */
    char path[SNIC_WHY_MAX];
    snprintf(path, sizeof path, "%s", name);
    if (h->magic != SNIC_MAGIC) {
        SNIC_WHY("%s: magic 0x%016llx is not that of a segment (0x%016llx)", path,
                 (unsigned long long)h->magic, (unsigned long long)SNIC_MAGIC);
        return -EPROTO;
    }
    if (h->endianness != SNIC_ENDIAN) {
        SNIC_WHY("%s: endianness 0x%08x, this program's is 0x%08x", path, h->endianness,
                 SNIC_ENDIAN);
        return -EPROTO;
    }
    if (h->layout_version != SNIC_LAYOUT_VERSION) {
        SNIC_WHY("%s: layout version %u, this program knows %u; use the same release on both sides",
                 path, h->layout_version, SNIC_LAYOUT_VERSION);
        return -EPROTO;
    }
    if (h->page_size != (uint32_t)sysconf(_SC_PAGESIZE)) {
        SNIC_WHY("%s: page size %u, this process has %ld", path, h->page_size,
                 sysconf(_SC_PAGESIZE));
        return -EPROTO;
    }
    if (h->pid_namespace != pid_namespace) {
        SNIC_WHY(
            "%s: its owner is in another pid namespace (a container?): processes must share one "
            "to watch each other",
            path);
        return -EXDEV;
    }
    uint64_t bytes = h->segment_bytes;
    if (bytes != file_bytes || bytes < SNIC_HEADER_BYTES || bytes > SEGMENT_LIMIT ||
        h->initiators_max == 0 || h->initiators_max > SNIC_INITIATORS_LIMIT ||
        h->registrations_max == 0 || h->registrations_max > SNIC_REGISTRATIONS_LIMIT ||
        h->memories_max == 0 || h->memories_max > SNIC_MEMORIES_MAX ||
        !table_fits(h->initiators_offset, h->initiators_max, SNIC_INITIATOR_BYTES, bytes) ||
        !table_fits(h->registrations_offset, h->registrations_max, SNIC_REGISTRATION_BYTES,
                    bytes) ||
        !table_fits(h->memories_offset, h->memories_max, SNIC_MEMORY_BYTES, bytes) ||
        (h->bounce_offset && !table_fits(h->bounce_offset, SNIC_BOUNCE_SLOTS,
                                         sizeof(struct snic_bounce) + SNIC_BOUNCE_BYTES, bytes)) ||
        !table_fits(h->area_offset, h->area_bytes, 1, bytes) ||
        h->area_offset % h->page_size != 0) {
        SNIC_WHY("%s: the segment's geometry is damaged (file of %llu bytes, header says %llu)",
                 path, (unsigned long long)file_bytes, (unsigned long long)bytes);
        return -EPROTO;
    }
    memset(s, 0, sizeof *s);
    s->bytes = bytes;
    s->area_bytes = h->area_bytes;
    s->initiators_max = h->initiators_max;
    s->registrations_max = h->registrations_max;
    s->memories_max = h->memories_max;
    s->foreign = h->foreign;
    s->pid = h->pid;
    s->start_time = h->start_time;
    s->incarnation = h->incarnation;
    return 0;
}

void snic_segment_point(struct snic_segment *s, const struct snic_header *h)
{
    s->header = (struct snic_header *)s->base;
    s->initiators = (struct snic_initiator *)(s->base + h->initiators_offset);
    s->registrations = (struct snic_registration *)(s->base + h->registrations_offset);
    s->memories = (struct snic_memory *)(s->base + h->memories_offset);
    if (h->bounce_offset) {
        s->bounce = (struct snic_bounce *)(s->base + h->bounce_offset);
        s->bounce_payload = (uint8_t *)(s->bounce + SNIC_BOUNCE_SLOTS);
    }
    s->area = s->base + h->area_offset;
}

/* ---- initiator slots ---- */

int snic_slot_liveness(const struct snic_segment *s, uint32_t slot, uint32_t epoch)
{
    if (slot >= s->initiators_max)
        return SNIC_DEAD;
    struct snic_initiator *i = &s->initiators[slot];
    uint64_t word = atomic_load_explicit(&i->state, memory_order_acquire);
    uint32_t state = SNIC_SLOT_STATE(word);
    if (state == SNIC_SLOT_FREE || (epoch && SNIC_SLOT_EPOCH(word) != epoch))
        return SNIC_DEAD;
    /* The start time is written after the claim, before IN_USE. */
    return snic_process_liveness(SNIC_SLOT_PID(word),
                                 state == SNIC_SLOT_IN_USE ? i->start_time : 0);
}

int snic_token_is_dead(const struct snic_segment *s, uint32_t token)
{
    uint32_t slot = SNIC_TOKEN_SLOT(token);
    if (token == SNIC_LOCK_SELF)
        return snic_process_liveness(s->pid, s->start_time) == SNIC_DEAD;
    if (slot >= s->initiators_max)
        return 1;
    uint64_t word = atomic_load_explicit(&s->initiators[slot].state, memory_order_acquire);
    if ((SNIC_SLOT_EPOCH(word) & 0x7fffu) != SNIC_TOKEN_EPOCH(token))
        return 1;
    return snic_slot_liveness(s, slot, 0) == SNIC_DEAD;
}

int snic_token_is_stopped(const struct snic_segment *s, uint32_t token)
{
    if (token == SNIC_LOCK_SELF)
        return snic_process_liveness(s->pid, s->start_time) == SNIC_STOPPED;
    return snic_slot_liveness(s, SNIC_TOKEN_SLOT(token), 0) == SNIC_STOPPED;
}
