#define _GNU_SOURCE
#include "native_access.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

int vna_barrier_register(void)
{
    long result = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0);
    return result < 0 ? -errno : 0;
}

int vna_barrier(void)
{
    long result = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0);
    if (result < 0) /* the kernel may lack memory for it; the slow one needs none */
        result = syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0);
    return result < 0 ? -errno : 0;
}
