/* Moving bytes to and from a place in a peer's process. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#define FIRST_MIN (256u << 10) /* shorter ones are left to faults */
#define SUM_PIECE (256u << 10)

static int foreign_range(const snic_location_t *l, uint64_t offset, uint64_t length, uint64_t *at)
{
    if (l->kind != 2 || offset > l->length || length > l->length - offset ||
        l->offset > UINT64_MAX - offset || length > UINT64_MAX - (l->offset + offset))
        return -EFAULT;
    *at = l->offset + offset;
    return 0;
}

/* The kernel copies: summed up in pieces, each while a cache has it. */
static uint64_t summed_piece(uint64_t left, const uint32_t *sum)
{
    return sum && left > SUM_PIECE ? SUM_PIECE : left;
}

/* How much was written. */
static uint64_t write_pieces(int fd, const uint8_t *from, uint64_t length, uint64_t at,
                             uint32_t *sum)
{
    uint64_t done = 0;
    while (done < length) {
        ssize_t n = pwrite(fd, from + done, summed_piece(length - done, sum), (off_t)(at + done));
        if (n <= 0)
            break;
        if (sum)
            *sum = snic_sum(*sum, from + done, (uint64_t)n);
        done += (uint64_t)n;
    }
    return done;
}

/* What no streamed put of ours has reached yet goes into a file by a system call: that needs no
 * page tables, and pages that the owner has reserved need not be zeroed first. 256 MiB took 78 ms
 * here, 112 with page tables made for them. 1: done; 0: not done, or in part. */
static int write_file(snic_peer_t *peer, const snic_location_t *to, uint64_t offset,
                      const uint8_t *from, uint64_t length, uint32_t *sum)
{
    uint32_t number = to->memory & 0xffffu;
    const struct snic_memory *shared = &peer->segment.memories[number];
    struct snic_peer_memory *m = &peer->memories[number];
    uint64_t at = to->offset + offset, done = 0;
    char file[SNIC_FILE_MAX];
    struct stat st;
    if (!(shared->flags & SNIC_MEMORY_OF_FILE) ||
        at < atomic_load_explicit(&m->written, memory_order_relaxed))
        return 0;
    snic_memory_file(file, sizeof file, peer->name, number);
    int fd = openat(peer->nic->job_fd, file, O_WRONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return 0;
    if (fstat(fd, &st) == 0 && st.st_ino == shared->inode)
        done = write_pieces(fd, from, length, at, sum);
    close(fd);
    if (done == length)
        atomic_store_explicit(&m->written, at + length, memory_order_relaxed);
    return done == length;
}

/* One call for all pages, 1.2 us each here; faults of theirs took 2.3 us. What comes out of order
 * is left to faults; a kernel before 5.14 does not know how. */
static void populate(snic_peer_t *peer, const snic_location_t *to, uint64_t offset, uint8_t *p,
                     uint64_t length)
{
    struct snic_peer_memory *m = &peer->memories[to->memory & 0xffffu];
    uint64_t at = to->offset + offset;
    if (at < atomic_load_explicit(&m->populated, memory_order_relaxed))
        return;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)p / page * page, end = ((uintptr_t)p + length) / page * page;
    madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
    atomic_store_explicit(&m->populated, at + length, memory_order_relaxed);
}

static void copy(void *to, const void *from, uint64_t length, int streaming, uint32_t *sum)
{
    if (sum)
        *sum = snic_copy_summed(0, to, from, length, streaming);
    else
        snic_copy(to, from, length, streaming);
}

static int foreign_copy(snic_peer_t *peer, uint64_t remote, uint8_t *local, uint64_t length,
                        int write, uint32_t *sum)
{
    uint64_t done = 0;
    int rc;
    do {
        uint64_t piece = summed_piece(length - done, sum);
        rc = snic_foreign_copy(peer, remote + done, local + done, piece, write);
        if (sum && rc == 0)
            *sum = snic_sum(*sum, local + done, piece);
        done += piece;
    } while (rc == 0 && done < length);
    return rc;
}

int snic_location_write(snic_peer_t *peer, const snic_location_t *to, uint64_t offset,
                        const void *from, uint64_t length, int streaming, uint32_t *sum)
{
    uint64_t at;
    if (sum)
        *sum = 0;
    if (to->kind == 1) {
        void *p = snic_map(peer, to, offset, length);
        if (!p)
            return -EFAULT;
        if (streaming > 0 && length >= FIRST_MIN) {
            if (write_file(peer, to, offset, from, length, sum))
                return snic_peer_is_damaged(peer) ? -ESRCH : 0;
            populate(peer, to, offset, p, length);
        }
        copy(p, from, length, streaming, sum);
        return snic_peer_is_damaged(peer) ? -ESRCH : 0;
    }
    int rc = foreign_range(to, offset, length, &at);
    if (rc == 0)
        rc = foreign_copy(peer, at, (uint8_t *)(uintptr_t)from, length, 1, sum);
    return rc;
}

int snic_location_read(snic_peer_t *peer, const snic_location_t *from, uint64_t offset, void *to,
                       uint64_t length, uint32_t *sum)
{
    uint64_t at;
    if (sum)
        *sum = 0;
    if (from->kind == 1) {
        void *p = snic_map(peer, from, offset, length);
        if (!p)
            return -EFAULT;
        copy(to, p, length, -1, sum);
        return snic_peer_is_damaged(peer) ? -ESRCH : 0;
    }
    int rc = foreign_range(from, offset, length, &at);
    if (rc == 0)
        rc = foreign_copy(peer, at, to, length, 0, sum);
    return rc;
}

int snic_write(snic_peer_t *peer, const snic_location_t *to, uint64_t offset, const void *from,
               uint64_t length)
{
    snic_location_t copy = *to;
    if (*peer->alive != 1)
        return -ECHILD;
    SNIC_STEP("write.before");
    int rc = snic_location_write(peer, &copy, offset, from, length, -1, NULL);
    SNIC_STEP("write.after");
    return rc;
}

int snic_read(snic_peer_t *peer, const snic_location_t *from, uint64_t offset, void *to,
              uint64_t length)
{
    snic_location_t copy = *from;
    if (*peer->alive != 1)
        return -ECHILD;
    SNIC_STEP("read.before");
    int rc = snic_location_read(peer, &copy, offset, to, length, NULL);
    SNIC_STEP("read.after");
    return rc;
}
