/*
 * The greatest number of all processes, whose it is, and the sum: by the collective engine, over
 * one channel in rank 0. Needs Aries, which gni-run --aries plays.
 *
 *     cc reduce.c -lugni -lpmi -o reduce && gni-run --aries -n 4 ./reduce
 */
#include "example.h"

static union {
    gni_ce_result_t result;
    char bytes[64];
} place __attribute__((aligned(64)));

static gni_ep_handle_t member(struct job *job, gni_cq_handle_t cq, int peer, uint32_t ce,
                              uint32_t child)
{
    gni_ep_handle_t ep = bind_to(job, cq, job->address, (uint32_t)peer);

    CHECK(GNI_EpSetCeAttr(ep, ce, child, GNI_CE_CHILD_PE));
    return ep;
}

/* Rank 0's channel, and its number to all. */
static uint32_t make_channel(struct job *job, gni_cq_handle_t cq, gni_ce_handle_t *ce)
{
    gni_ep_handle_t children[GNI_CE_MAX_CHILDREN];
    uint32_t id = 0;

    if (job->rank == 0) {
        CHECK(GNI_CeCreate(job->nic, ce));
        CHECK(GNI_CeGetId(*ce, &id));
        for (int i = 0; i < job->size; i++)
            children[i] = member(job, cq, i, 0, (uint32_t)i);
        CHECK(GNI_CeConfigure(*ce, children, (uint32_t)job->size, NULL, NULL,
                              GNI_CE_MODE_ROUND_NEAR | GNI_CE_MODE_CQE_ONERR |
                                  GNI_CE_MODE_RC_NMIN_HASH));
    }
    PMI_Bcast(&id, sizeof(id));
    return id;
}

static void reduce(gni_ep_handle_t leaf, gni_mem_handle_t handle, gni_ce_cmd_type_t command,
                   uint64_t first, uint64_t second)
{
    gni_post_descriptor_t d;
    gni_return_t code;

    memset(&d, 0, sizeof(d));
    d.type = GNI_POST_CE;
    d.cq_mode = GNI_CQMODE_SILENT;
    d.local_addr = address_of(&place);
    d.local_mem_hndl = handle;
    d.ce_cmd = command;
    d.ce_red_id = (uint64_t)command + 1;
    d.first_operand = first;
    d.second_operand = second;
    CHECK(GNI_PostFma(leaf, &d));
    while ((code = GNI_CeCheckResult(&place.result, 1)) == GNI_RC_NOT_DONE)
        ;
    check(code, "GNI_CeCheckResult");
    if (GNI_CE_RES_GET_RED_ID(&place.result) != d.ce_red_id)
        PMI_Abort(1, "another reduction");
}

int main(void)
{
    struct job job;
    gni_ce_handle_t ce = NULL;
    gni_cq_handle_t cq;
    gni_mem_handle_t handle;
    gni_ep_handle_t leaf;
    double value, sum;
    uint64_t bits;
    int expected = 0;

    open_job(&job);
    if (job.size > GNI_CE_MAX_CHILDREN)
        PMI_Abort(2, "at most 32 processes");
    CHECK(GNI_CqCreate(job.nic, 64, 0, GNI_CQ_NOBLOCK, NULL, NULL, &cq));
    CHECK(GNI_MemRegister(job.nic, address_of(&place), sizeof(place), NULL, GNI_MEM_READWRITE,
                          (uint32_t)-1, &handle));
    leaf = member(&job, cq, 0, make_channel(&job, cq, &ce), (uint32_t)job.rank);
    reduce(leaf, handle, GNI_FMA_CE_IMAX_LIDX, (uint64_t)(job.rank * 3 % job.size),
           (uint64_t)job.rank);
    for (int i = 0; i < job.size; i++)
        if (i * 3 % job.size > expected * 3 % job.size)
            expected = i;
    if (place.result.result2 != (uint64_t)expected)
        PMI_Abort(1, "another rank has the greatest number");
    printf("rank %d: the greatest is %llu, of rank %llu\n", job.rank,
           (unsigned long long)place.result.result1, (unsigned long long)place.result.result2);
    value = job.rank + 0.5;
    memcpy(&bits, &value, sizeof(bits));
    reduce(leaf, handle, GNI_FMA_CE_FPADD, bits, 0);
    memcpy(&sum, &place.result.result1, sizeof(sum));
    if (sum != job.size * job.size / 2.0)
        PMI_Abort(1, "another sum");
    printf("rank %d: the sum is %g\n", job.rank, sum);
    PMI_Barrier();
    if (ce != NULL)
        CHECK(GNI_CeDestroy(ce));
    close_job(&job);
    return 0;
}
