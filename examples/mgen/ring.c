/* The sample of the NSIM-ACE paper: each rank puts four bytes to its right neighbour. */
#include "mgen.h"

int MGEN_Main(int argc, char **argv)
{
    int rank, size;
    MGEN_acp_handle handle;

    (void)argc;
    (void)argv;
    MGEN_Comm_rank(MGEN_COMM_WORLD, &rank);
    MGEN_Comm_size(MGEN_COMM_WORLD, &size);
    handle = MGEN_rdma_put((rank + 1) % size, 4, 0);
    MGEN_rdma_poll(0);
    MGEN_acp_complete(handle);
    return 0;
}
