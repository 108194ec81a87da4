/*
 * What the JNI library has beside softnic: the layout that the C compiler saw, so that Java can
 * compare it with the constants it was compiled with, a barrier, mappings, and processors of
 * threads.
 */
#ifndef VERBENA_NATIVE_ACCESS_H
#define VERBENA_NATIVE_ACCESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Rows of the layout table. */
int vna_layout_count(void);
const char *vna_layout_name(int row);
int64_t vna_layout_value(int row);

/* Makes every thread of this process pass a full memory barrier (membarrier, private expedited):
 * the rare side of a protocol whose frequent side has no fence. 0 or -errno; register first. */
int vna_barrier_register(void);
int vna_barrier(void);

/* Mappings for memory that is not the NIC's. 0 or -errno. */
#define VNA_PAGES_DEFAULT 0
#define VNA_PAGES_HUGE 1        /* the pool of huge pages; length is a multiple of their size */
#define VNA_PAGES_TRANSPARENT 2 /* if the kernel likes */
int vna_map(uint64_t length, int pages, void **address);
/* write: the file is made and grown as needed and stores reach it. Otherwise it must have the range
 * (-ERANGE) and stores stay in this process. offset is a multiple of the page size. */
int vna_map_file(const char *path, uint64_t offset, uint64_t length, int write, void **address);
int vna_unmap(void *address, uint64_t length);

/* The processors of the calling thread: one bit each, in words of 64; length in bytes, a multiple
 * of 8. 0 or -errno. The kernel leaves out those that the process may not use; -EINVAL if none is
 * left. */
int vna_affinity_get(void *mask, uint64_t length);
int vna_affinity_set(const void *mask, uint64_t length);

#ifdef __cplusplus
}
#endif
#endif
