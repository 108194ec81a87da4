/*
 * Every process sends a message to every process of the other nodes through its node's shared
 * message queue. One process of each node makes the connections for all of them.
 *
 *     cc msgq_nodes.c -lugni -lpmi -o msgq_nodes && gni-run --nodes 2 -n 4 ./msgq_nodes
 */
#include "example.h"

struct about {
    int rank;
    uint32_t address;
};
static int received;

static int on_message(uint32_t from, uint32_t pe, void *message, uint8_t tag, void *data)
{
    (void)pe, (void)data;
    if (tag != 3 || atoi((const char *)message) != (int)from)
        PMI_Abort(1, "another message");
    received++;
    return 1;
}

/* The first process of each node asks its own queue, tells the others, and connects. */
static void connect_nodes(struct job *job, gni_msgq_handle_t queue, const struct about *all,
                          int is_first)
{
    /* One set of attributes for each pair of nodes, by the ranks that speak for them. */
    gni_msgq_ep_attr_t *mine =
        (gni_msgq_ep_attr_t *)calloc((size_t)job->size, sizeof(gni_msgq_ep_attr_t));
    gni_msgq_ep_attr_t *theirs = (gni_msgq_ep_attr_t *)calloc((size_t)job->size * (size_t)job->size,
                                                              sizeof(gni_msgq_ep_attr_t));
    uint32_t size;

    for (int i = 0; i < job->size && is_first; i++)
        if (all[i].address != job->address)
            CHECK(GNI_MsgqGetConnAttrs(queue, all[i].address, &mine[i], &size));
    PMI_Allgather(mine, theirs, (int)((size_t)job->size * sizeof(*mine)));
    for (int i = 0; i < job->size && is_first; i++) {
        const gni_msgq_ep_attr_t *told = &theirs[(size_t)i * (size_t)job->size + (size_t)job->rank];

        if (told->num_insts != 0)
            CHECK(GNI_MsgqConnect(queue, all[i].address, (gni_msgq_ep_attr_t *)told));
    }
    free(mine);
    free(theirs);
    PMI_Barrier();
}

static void send_to(struct job *job, gni_msgq_handle_t queue, gni_cq_handle_t cq,
                    const struct about *to)
{
    gni_ep_handle_t ep = bind_to(job, cq, to->address, (uint32_t)to->rank);
    gni_return_t code;
    char text[16];

    snprintf(text, sizeof(text), "%d", job->rank);
    while ((code = GNI_MsgqSend(queue, ep, text, (uint32_t)strlen(text) + 1, NULL, 0,
                                (uint32_t)to->rank, 3)) == GNI_RC_NOT_DONE)
        GNI_MsgqProgress(queue, (uint32_t)-1); /* no credit: read, so that others can */
    check(code, "GNI_MsgqSend");
    gni_cq_entry_t entry = wait_event(cq);
    if (GNI_CQ_GET_TYPE(entry) != GNI_CQ_EVENT_TYPE_MSGQ ||
        GNI_CQ_GET_MSG_ID(entry) != (uint64_t)to->rank)
        PMI_Abort(1, "another event");
    CHECK(GNI_EpDestroy(ep));
}

int main(void)
{
    struct job job;
    struct about mine, *all;
    gni_msgq_attr_t attributes;
    gni_msgq_handle_t queue;
    gni_cq_handle_t cq;
    int *here, others = 0, on_node;

    open_job(&job);
    PMI_Get_clique_size(&on_node);
    here = (int *)calloc((size_t)on_node, sizeof(int));
    PMI_Get_clique_ranks(here, on_node);
    memset(&mine, 0, sizeof(mine));
    mine.rank = job.rank;
    mine.address = job.address;
    all = (struct about *)calloc((size_t)job.size, sizeof(*all));
    PMI_Allgather(&mine, all, sizeof(mine));
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_BLOCKING, NULL, NULL, &cq));
    memset(&attributes, 0, sizeof(attributes));
    attributes.max_msg_sz = 64;
    attributes.smsg_q_sz = 8;
    attributes.rcv_pool_sz = 4096;
    attributes.num_msgq_eps = 64;
    attributes.nloc_insts = (uint32_t)on_node;
    attributes.rcv_cq_sz = 512;
    CHECK(GNI_MsgqInit(job.nic, on_message, NULL, cq, &attributes, &queue));
    PMI_Barrier();
    /* Attributes travel under the number of the rank that speaks for the node. */
    connect_nodes(&job, queue, all, job.rank == here[0]);
    for (int i = 0; i < job.size; i++)
        if (all[i].address != job.address) {
            send_to(&job, queue, cq, &all[i]);
            others++;
        }
    while (received < others)
        GNI_MsgqProgress(queue, (uint32_t)-1);
    printf("rank %d on node %x heard from %d others\n", job.rank, job.address, received);
    PMI_Barrier();
    CHECK(GNI_MsgqRelease(queue));
    close_job(&job);
    free(all);
    free(here);
    return 0;
}
