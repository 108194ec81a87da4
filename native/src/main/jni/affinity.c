/* Which processors a thread may run on. */
#define _GNU_SOURCE
#include "native_access.h"

#include <errno.h>
#include <sched.h>

int vna_affinity_get(void *mask, uint64_t length)
{
    return sched_getaffinity(0, length, mask) < 0 ? -errno : 0;
}

int vna_affinity_set(const void *mask, uint64_t length)
{
    return sched_setaffinity(0, length, mask) < 0 ? -errno : 0;
}
