/*
 * Everybody gets a megabyte from everybody else by RDMA, all gets in flight at once, and sleeps in
 * the completion queue. Addresses and handles come by PMI_Allgather, whose order does not matter.
 *
 *     cc rdma_get.c -lugni -lpmi -o rdma_get && gni-run -n 4 ./rdma_get
 */
#include "example.h"

#define WORDS 131072

struct about {
    int rank;
    uint32_t address;
    uint64_t memory;
    gni_mem_handle_t handle;
};

static uint64_t word_of(int rank, int i)
{
    return (uint64_t)rank << 32 | (uint64_t)(i * 7 + 1);
}

static void post_get(struct job *job, gni_cq_handle_t cq, const struct about *from, uint64_t *to,
                     gni_mem_handle_t handle, gni_post_descriptor_t *get)
{
    gni_ep_handle_t ep = bind_to(job, cq, from->address, (uint32_t)from->rank);

    memset(get, 0, sizeof(*get));
    get->type = GNI_POST_RDMA_GET;
    get->cq_mode = GNI_CQMODE_GLOBAL_EVENT;
    get->local_addr = address_of(to);
    get->local_mem_hndl = handle;
    get->remote_addr = from->memory;
    get->remote_mem_hndl = from->handle;
    get->length = WORDS * sizeof(uint64_t);
    get->post_id = (uint64_t)from->rank;
    CHECK(GNI_PostRdma(ep, get));
}

int main(void)
{
    struct job job;
    struct about mine, *all;
    gni_cq_handle_t cq;
    gni_mem_handle_t landing;
    gni_post_descriptor_t *gets;
    uint64_t *source, *target;

    open_job(&job);
    CHECK(GNI_CqCreate(job.nic, 1024, 0, GNI_CQ_BLOCKING, NULL, NULL, &cq));
    source = (uint64_t *)malloc(WORDS * sizeof(uint64_t));
    target = (uint64_t *)malloc((size_t)job.size * WORDS * sizeof(uint64_t));
    gets = (gni_post_descriptor_t *)calloc((size_t)job.size, sizeof(*gets));
    all = (struct about *)calloc((size_t)job.size, sizeof(*all));
    for (int i = 0; i < WORDS; i++)
        source[i] = word_of(job.rank, i);
    memset(&mine, 0, sizeof(mine));
    mine.rank = job.rank;
    mine.address = job.address;
    mine.memory = address_of(source);
    CHECK(GNI_MemRegister(job.nic, mine.memory, WORDS * sizeof(uint64_t), NULL, GNI_MEM_READ_ONLY,
                          (uint32_t)-1, &mine.handle));
    CHECK(GNI_MemRegister(job.nic, address_of(target),
                          (uint64_t)job.size * WORDS * sizeof(uint64_t), NULL, GNI_MEM_READWRITE,
                          (uint32_t)-1, &landing));
    PMI_Allgather(&mine, all, sizeof(mine));
    for (int i = 0; i < job.size; i++)
        post_get(&job, cq, &all[i], target + (size_t)all[i].rank * WORDS, landing, &gets[i]);
    for (int i = 0; i < job.size; i++) {
        int from = (int)wait_post(cq)->post_id;

        for (int w = 0; w < WORDS; w++)
            if (target[(size_t)from * WORDS + (size_t)w] != word_of(from, w))
                PMI_Abort(1, "not what was there");
    }
    printf("rank %d got %d times %d words\n", job.rank, job.size, WORDS);
    close_job(&job);
    free(source);
    free(target);
    free(gets);
    free(all);
    return 0;
}
