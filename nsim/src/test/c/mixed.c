/* A program with all kinds of calls, in rounds; argument: how many. */
#include "mgen.h"

int MGEN_Main(int argc, char **argv)
{
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 1;
    double data[16] = {0}, sum[16];
    MGEN_Request requests[2];
    MGEN_Status status;

    MGEN_Init(&argc, &argv);
    MGEN_Comm_rank(MGEN_COMM_WORLD, &rank);
    MGEN_Comm_size(MGEN_COMM_WORLD, &size);
    for (int round = 0; round < rounds; round++) {
        int right = (rank + 1) % size, left = (rank + size - 1) % size;
        MGEN_acp_handle handle = MGEN_rdma_put(right, 100, 3);
        MGEN_Comp(2e-6);
        MGEN_Irecv(data, 16, MGEN_DOUBLE, left, 7, MGEN_COMM_WORLD, &requests[0]);
        MGEN_Isend(data, 16, MGEN_DOUBLE, right, 7, MGEN_COMM_WORLD, &requests[1]);
        MGEN_Waitall(2, requests, MGEN_STATUSES_IGNORE);
        MGEN_rdma_poll(3);
        MGEN_acp_complete(handle);
        MGEN_acp_complete(MGEN_rdma_get(left, 64));
    }
    MGEN_rdma_put((rank + 1) % size, 8, 9);
    MGEN_rdma_poll(9);
    if (rank == 0)
        MGEN_Send(data, 1, MGEN_INT, 1, 5, MGEN_COMM_WORLD);
    if (rank == 1)
        MGEN_Recv(data, 1, MGEN_INT, MGEN_ANY_SOURCE, MGEN_ANY_TAG, MGEN_COMM_WORLD, &status);
    MGEN_Bcast(data, 16, MGEN_DOUBLE, 0, MGEN_COMM_WORLD);
    MGEN_Reduce(data, sum, 16, MGEN_DOUBLE, MGEN_SUM, 0, MGEN_COMM_WORLD);
    MGEN_Allreduce(data, sum, 16, MGEN_DOUBLE, MGEN_SUM, MGEN_COMM_WORLD);
    MGEN_Alltoall(data, 1, MGEN_DOUBLE, sum, 1, MGEN_DOUBLE, MGEN_COMM_WORLD);
    MGEN_Barrier(MGEN_COMM_WORLD);
    MGEN_Finalize();
    return 0;
}
