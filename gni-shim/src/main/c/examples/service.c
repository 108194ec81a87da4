/*
 * A service and its clients, two programs in one protection domain. The service waits for anybody
 * by open datagrams; a client says in his where his mailbox and his numbers are. The service gets
 * the numbers by RDMA, sends their sum as a short message, and goes home when all were served.
 *
 *     cc service.c -lugni -lpmi -o service && cc client.c -lugni -lpmi -o client
 *     gni-run -n 1 ./service : -n 3 ./client
 */
#include "service.h"

static void serve(struct job *job, gni_cq_handle_t posted, struct greeting *client, uint32_t pe,
                  uint32_t inst, gni_smsg_attr_t *mailbox, uint64_t *numbers,
                  gni_mem_handle_t handle)
{
    gni_ep_handle_t ep = bind_to(job, posted, pe, inst);
    gni_post_descriptor_t get;
    uint64_t sum = 0;

    CHECK(GNI_SmsgInit(ep, mailbox, &client->mailbox));
    memset(&get, 0, sizeof(get));
    get.type = GNI_POST_RDMA_GET;
    get.cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    get.local_addr = address_of(numbers);
    get.local_mem_hndl = handle;
    get.remote_addr = client->numbers;
    get.remote_mem_hndl = client->handle;
    get.length = NUMBERS * sizeof(uint64_t);
    CHECK(GNI_PostRdma(ep, &get));
    wait_post(posted);
    for (int i = 0; i < NUMBERS; i++)
        sum += numbers[i];
    CHECK(GNI_SmsgSend(ep, &sum, sizeof(sum), NULL, 0, 1));
    wait_event(posted);
    CHECK(GNI_EpDestroy(ep));
    printf("served instance %u\n", inst);
}

int main(void)
{
    static uint64_t numbers[NUMBERS];
    struct job job;
    struct greeting mine, theirs;
    gni_cq_handle_t posted;
    gni_mem_handle_t handle;
    gni_ep_handle_t open;
    gni_smsg_attr_t mailbox;
    int size, clients;

    open_job(&job);
    PMI_Get_app_size(&size);
    clients = job.size - size;
    if (job.rank != 0 || size != 1)
        PMI_Abort(2, "one service, and it comes first");
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &posted));
    CHECK(GNI_MemRegister(job.nic, address_of(numbers), sizeof(numbers), NULL, GNI_MEM_READWRITE,
                          (uint32_t)-1, &handle));
    CHECK(GNI_EpCreate(job.nic, posted, &open)); /* bound to nobody */
    for (int i = 0; i < clients; i++) {
        gni_post_state_t state;
        uint32_t pe, inst;

        mailbox = make_mailbox(&job, 4, NULL);
        memset(&mine, 0, sizeof(mine));
        mine.mailbox = mailbox;
        CHECK(GNI_EpPostDataWId(open, &mine, sizeof(mine), &theirs, sizeof(theirs), 1));
        CHECK(GNI_EpPostDataWaitById(open, 1, 60000, &state, &pe, &inst));
        if (state != GNI_POST_COMPLETED)
            PMI_Abort(1, "a datagram that did not arrive");
        serve(&job, posted, &theirs, pe, inst, &mailbox, numbers, handle);
        free_mailbox(&job, &mailbox);
    }
    close_job(&job);
    return 0;
}
