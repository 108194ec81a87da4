/*
 * Passes a token round all processes by SMSG, then each puts a block into its neighbour's memory by
 * RDMA and reads it back. As programs for Cray machines do it: everything about the job comes from
 * PMI and its environment, addresses and handles by PMI_Allgather.
 *
 *     cc ring.c -lugni -lpmi -o ring && gni-run -n 4 ./ring
 */
#include "example.h"

#define BLOCK 65536
#define MEMORY (3 * BLOCK) /* ours, our neighbour's, and ours as it was read back */

struct about {
    int rank;
    uint32_t address;
    gni_mem_handle_t handle;
    uint64_t memory;
    gni_smsg_attr_t mailbox[2]; /* for messages from the process before, and from the one behind */
};

static void *next_message(gni_ep_handle_t ep, gni_cq_handle_t arrivals)
{
    void *message;
    gni_return_t code;

    while ((code = GNI_SmsgGetNext(ep, &message)) == GNI_RC_NOT_DONE)
        wait_event(arrivals); /* one event for each message; some are for other endpoints */
    check(code, "GNI_SmsgGetNext");
    return message;
}

static gni_ep_handle_t connect_to(struct job *job, gni_cq_handle_t cq, struct about *all, int peer,
                                  int is_next)
{
    gni_ep_handle_t ep = bind_to(job, cq, all[peer].address, (uint32_t)peer);

    CHECK(GNI_SmsgInit(ep, &all[job->rank].mailbox[is_next], &all[peer].mailbox[!is_next]));
    return ep;
}

int main(void)
{
    int token = 0;
    struct job job;
    gni_cq_handle_t sent, arrived;
    gni_post_descriptor_t put;
    struct about mine, *all;
    char *memory;

    open_job(&job);
    memset(&mine, 0, sizeof(mine));
    mine.rank = job.rank;
    mine.address = job.address;
    CHECK(GNI_CqCreate(job.nic, 512, 0, GNI_CQ_BLOCKING, NULL, NULL, &sent));
    CHECK(GNI_CqCreate(job.nic, 512, 0, GNI_CQ_BLOCKING, NULL, NULL, &arrived));
    memory = (char *)calloc(1, MEMORY);
    mine.memory = address_of(memory);
    CHECK(GNI_MemRegister(job.nic, mine.memory, MEMORY, NULL, GNI_MEM_READWRITE, (uint32_t)-1,
                          &mine.handle));
    for (int i = 0; i < 2; i++)
        mine.mailbox[i] = make_mailbox(&job, 8, arrived);
    all = (struct about *)calloc((size_t)job.size, sizeof(*all));
    PMI_Allgather(&mine, all, sizeof(mine));
    int next = (job.rank + 1) % job.size, before = (job.rank + job.size - 1) % job.size;
    gni_ep_handle_t to_next = connect_to(&job, sent, all, next, 1);
    gni_ep_handle_t to_before = connect_to(&job, sent, all, before, 0);

    if (job.rank == 0)
        CHECK(GNI_SmsgSend(to_next, &token, sizeof(token), NULL, 0, 1));
    memcpy(&token, next_message(to_before, arrived), sizeof(token));
    CHECK(GNI_SmsgRelease(to_before));
    token++;
    if (job.rank != 0)
        CHECK(GNI_SmsgSend(to_next, &token, sizeof(token), NULL, 0, 1));
    wait_event(sent); /* of the message */
    if (job.rank == 0)
        printf("the token came back after %d hops\n", token);

    memset(memory, 'a' + job.rank % 26, BLOCK);
    memset(&put, 0, sizeof(put));
    put.type = GNI_POST_RDMA_PUT;
    put.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    put.local_addr = mine.memory;
    put.local_mem_hndl = mine.handle;
    put.remote_addr = all[next].memory + BLOCK;
    put.remote_mem_hndl = all[next].handle;
    put.length = BLOCK;
    CHECK(GNI_PostRdma(to_next, &put));
    wait_post(sent);
    PMI_Barrier();
    put.type = GNI_POST_RDMA_GET;
    put.local_addr = mine.memory + 2 * BLOCK;
    CHECK(GNI_PostRdma(to_next, &put));
    wait_post(sent);
    if (memcmp(memory, memory + 2 * BLOCK, BLOCK) != 0 || memory[BLOCK] != 'a' + before % 26 ||
        memory[2 * BLOCK - 1] != 'a' + before % 26)
        PMI_Abort(1, "the block is not what was put");
    printf("rank %d of %d: put and got %d bytes\n", job.rank, job.size, BLOCK);
    close_job(&job);
    for (int i = 0; i < 2; i++)
        free(mine.mailbox[i].msg_buffer);
    free(all);
    free(memory);
    return 0;
}
