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
        if (streaming > 0 && length >= FIRST_MIN)
            populate(peer, to, offset, p, length);
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
