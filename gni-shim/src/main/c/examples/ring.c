/*
 * Passes a token round all processes by SMSG, then each puts a block into its neighbour's memory by
 * RDMA and reads it back. As programs for Cray machines do it: everything about the job comes from
 * PMI and its environment, addresses and handles by PMI_Allgather.
 *
 *     cc ring.c -lugni -lpmi -o ring && gni-run -n 4 ./ring
 */
#include <gni_pub.h>
#include <pmi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 65536

struct about {
    int rank;
    uint32_t address;
    gni_mem_handle_t handle;
    uint64_t memory;
    gni_smsg_attr_t mailbox[2]; /* for messages from the process before, and from the one behind */
};

static void check(gni_return_t code, const char *what)
{
    if (code == GNI_RC_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", what, gni_err_str[code]);
    PMI_Abort(1, what);
}

static gni_cq_entry_t wait_for(gni_cq_handle_t cq)
{
    gni_cq_entry_t entry;

    check(GNI_CqWaitEvent(cq, 60000, &entry), "GNI_CqWaitEvent");
    return entry;
}

static void *next_message(gni_ep_handle_t ep, gni_cq_handle_t arrivals)
{
    void *message;
    gni_return_t code;

    while ((code = GNI_SmsgGetNext(ep, &message)) == GNI_RC_NOT_DONE)
        wait_for(arrivals); /* one event for each message; some are for other endpoints */
    check(code, "GNI_SmsgGetNext");
    return message;
}

static gni_ep_handle_t connect_to(gni_nic_handle_t nic, gni_cq_handle_t cq, struct about *all,
                                  int me, int peer, int is_next)
{
    gni_ep_handle_t ep;

    check(GNI_EpCreate(nic, cq, &ep), "GNI_EpCreate");
    check(GNI_EpBind(ep, all[peer].address, (uint32_t)peer), "GNI_EpBind");
    check(GNI_SmsgInit(ep, &all[me].mailbox[is_next], &all[peer].mailbox[!is_next]),
          "GNI_SmsgInit");
    return ep;
}

int main(void)
{
    int spawned, rank, size, token = 0;
    unsigned mailbox;
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    gni_cq_handle_t sent, arrived;
    gni_post_descriptor_t put, *done;
    gni_smsg_attr_t attributes;
    struct about mine, *all;
    char *memory;

    if (PMI_Init(&spawned) != PMI_SUCCESS || getenv("PMI_GNI_PTAG") == NULL) {
        fprintf(stderr, "start it by gni-run\n");
        return 2;
    }
    PMI_Get_rank(&rank);
    PMI_Get_size(&size);
    memset(&mine, 0, sizeof(mine));
    mine.rank = rank;
    check(GNI_CdmCreate((uint32_t)rank, (uint8_t)atoi(getenv("PMI_GNI_PTAG")),
                        (uint32_t)strtoul(getenv("PMI_GNI_COOKIE"), NULL, 10), 0, &cdm),
          "GNI_CdmCreate");
    check(GNI_CdmAttach(cdm, (uint32_t)atoi(getenv("PMI_GNI_DEV_ID")), &mine.address, &nic),
          "GNI_CdmAttach");
    check(GNI_CqCreate(nic, 512, 0, GNI_CQ_BLOCKING, NULL, NULL, &sent), "GNI_CqCreate");
    check(GNI_CqCreate(nic, 512, 0, GNI_CQ_BLOCKING, NULL, NULL, &arrived), "GNI_CqCreate");
    memset(&attributes, 0, sizeof(attributes));
    attributes.msg_type = GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT;
    attributes.mbox_maxcredit = 8;
    attributes.msg_maxsize = 64;
    check(GNI_SmsgBufferSizeNeeded(&attributes, &mailbox), "GNI_SmsgBufferSizeNeeded");
    memory = (char *)calloc(1, 3 * BLOCK + 2 * mailbox);
    check(GNI_MemRegister(nic, (uint64_t)(uintptr_t)memory, 3 * BLOCK + 2 * mailbox, arrived, 0,
                          (uint32_t)-1, &mine.handle),
          "GNI_MemRegister");
    mine.memory = (uint64_t)(uintptr_t)memory;
    for (int i = 0; i < 2; i++) {
        mine.mailbox[i] = attributes;
        mine.mailbox[i].msg_buffer = memory;
        mine.mailbox[i].buff_size = 3 * BLOCK + 2 * mailbox;
        mine.mailbox[i].mem_hndl = mine.handle;
        mine.mailbox[i].mbox_offset = 3 * BLOCK + (uint32_t)i * mailbox;
    }
    all = (struct about *)calloc((size_t)size, sizeof(*all));
    PMI_Allgather(&mine, all, sizeof(mine));
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    gni_ep_handle_t to_next = connect_to(nic, sent, all, rank, next, 1);
    gni_ep_handle_t to_before = connect_to(nic, sent, all, rank, before, 0);

    if (rank == 0)
        check(GNI_SmsgSend(to_next, &token, sizeof(token), NULL, 0, 1), "GNI_SmsgSend");
    memcpy(&token, next_message(to_before, arrived), sizeof(token));
    check(GNI_SmsgRelease(to_before), "GNI_SmsgRelease");
    token++;
    if (rank != 0)
        check(GNI_SmsgSend(to_next, &token, sizeof(token), NULL, 0, 1), "GNI_SmsgSend");
    wait_for(sent); /* of the message */
    if (rank == 0)
        printf("the token came back after %d hops\n", token);

    memset(memory, 'a' + rank % 26, BLOCK);
    memset(&put, 0, sizeof(put));
    put.type = GNI_POST_RDMA_PUT;
    put.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    put.local_addr = mine.memory;
    put.local_mem_hndl = mine.handle;
    put.remote_addr = all[next].memory + BLOCK;
    put.remote_mem_hndl = all[next].handle;
    put.length = BLOCK;
    check(GNI_PostRdma(to_next, &put), "GNI_PostRdma");
    check(GNI_GetCompleted(sent, wait_for(sent), &done), "GNI_GetCompleted");
    PMI_Barrier();
    put.type = GNI_POST_RDMA_GET;
    put.local_addr = mine.memory + 2 * BLOCK;
    check(GNI_PostRdma(to_next, &put), "GNI_PostRdma");
    check(GNI_GetCompleted(sent, wait_for(sent), &done), "GNI_GetCompleted");
    if (memcmp(memory, memory + 2 * BLOCK, BLOCK) != 0 || memory[BLOCK] != 'a' + before % 26 ||
        memory[2 * BLOCK - 1] != 'a' + before % 26)
        PMI_Abort(1, "the block is not what was put");
    PMI_Barrier();
    printf("rank %d of %d: put and got %d bytes\n", rank, size, BLOCK);
    check(GNI_CdmDestroy(cdm), "GNI_CdmDestroy");
    free(all);
    free(memory);
    PMI_Finalize();
    return 0;
}
