/* A full memory barrier in every process that puts, made by the one who revokes. A put then needs
 * none of its own: see struct snic_initiator. */
#define _GNU_SOURCE
#include "softnic_private.h"
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static long membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0);
}

int snic_barrier_works(void)
{
#ifdef SNIC_TSAN /* which cannot know what the kernel orders */
    return 0;
#else
    long known = membarrier(MEMBARRIER_CMD_QUERY);
    if (known < 0 || !(known & MEMBARRIER_CMD_GLOBAL_EXPEDITED) || !(known & MEMBARRIER_CMD_GLOBAL))
        return 0;
    return membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) == 0 &&
           membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) == 0;
#endif
}

void snic_barrier_everywhere(snic_t *nic)
{
    if (!nic->fences)
        return;
    /* The expedited one needs a little memory in the kernel; the slow one needs nothing. */
    if (membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED) != 0)
        membarrier(MEMBARRIER_CMD_GLOBAL);
}
