/*
 * Neighbours 0 and 1, 2 and 3 and so on tell each other by datagrams where their memory is, and put
 * a line of text there by FMA. The target sleeps until the remote event says that it has come.
 *
 *     cc fma_put.c -lugni -lpmi -o fma_put && gni-run -n 4 ./fma_put
 */
#include "example.h"

struct greeting { /* at most GNI_DATAGRAM_MAXSIZE bytes */
    uint64_t memory;
    gni_mem_handle_t handle;
};

int main(void)
{
    static char memory[2][64];
    struct job job;
    struct greeting mine, theirs;
    gni_cq_handle_t posted, arrived;
    gni_ep_handle_t ep;
    gni_post_state_t state;
    gni_post_descriptor_t put;
    uint32_t pe, inst;

    open_job(&job);
    if (job.size % 2 != 0)
        PMI_Abort(2, "an even number of processes");
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &posted));
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &arrived));
    CHECK(GNI_MemRegister(job.nic, address_of(memory), sizeof(memory), arrived, GNI_MEM_READWRITE,
                          (uint32_t)-1, &mine.handle));
    mine.memory = address_of(memory[1]);
    ep = bind_to(&job, posted, job.address, (uint32_t)(job.rank ^ 1));
    CHECK(GNI_EpPostData(ep, &mine, sizeof(mine), &theirs, sizeof(theirs)));
    CHECK(GNI_EpPostDataWait(ep, (uint32_t)-1, &state, &pe, &inst));
    if (state != GNI_POST_COMPLETED || inst != (uint32_t)(job.rank ^ 1))
        PMI_Abort(1, "the datagram was not exchanged");

    snprintf(memory[0], sizeof(memory[0]), "rank %d was here", job.rank);
    memset(&put, 0, sizeof(put));
    put.type = GNI_POST_FMA_PUT;
    put.cq_mode = GNI_CQMODE_GLOBAL_EVENT | GNI_CQMODE_REMOTE_EVENT;
    put.dlvr_mode = GNI_DLVMODE_PERFORMANCE;
    put.local_addr = address_of(memory[0]);
    put.remote_addr = theirs.memory;
    put.remote_mem_hndl = theirs.handle;
    put.length = sizeof(memory[0]);
    put.post_id = 42;
    CHECK(GNI_PostFma(ep, &put));
    if (wait_post(posted)->post_id != 42)
        PMI_Abort(1, "another post");
    if (GNI_CQ_GET_REM_INST_ID(wait_event(arrived)) != (uint64_t)(job.rank ^ 1))
        PMI_Abort(1, "an event of somebody else");
    printf("rank %d reads: %s\n", job.rank, memory[1]);

    CHECK(GNI_EpUnbind(ep));
    CHECK(GNI_EpDestroy(ep));
    PMI_Barrier();
    CHECK(GNI_MemDeregister(job.nic, &mine.handle));
    CHECK(GNI_CqDestroy(arrived));
    CHECK(GNI_CqDestroy(posted));
    close_job(&job);
    return 0;
}
